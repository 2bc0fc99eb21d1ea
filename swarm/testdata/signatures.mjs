// Checks signatures.json against ethers and viem. See README.md.
import fs from 'node:fs';
import { TypedDataEncoder, Wallet } from 'ethers';
import { hashTypedData } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const here = (name) => fs.readFileSync(new URL(name, import.meta.url), 'utf8');
const schema = here('../typeddata_test.go').split('const schema = `')[1].split('`')[0];
const types = {};
for (const [, name, members] of schema.matchAll(/^(\w+)\((.*)\)$/gm)) {
  types[name] = members.split(',').map((m) => {
    const [type, member] = m.split(' ');
    return { name: member, type };
  });
}

for (const v of JSON.parse(here('signatures.json'))) {
  const domain = { name: 'Swarmseal', version: '1', chainId: v.chainId };
  const used = { [v.type]: types[v.type] };
  if (types[v.type].some((m) => m.type === 'Attachment[]')) used.Attachment = types.Attachment;
  const typed = { domain, types: { EIP712Domain: types.EIP712Domain, ...used }, primaryType: v.type, message: v.message };
  const equal = {
    'ethers digest': TypedDataEncoder.hash(domain, used, v.message) === v.digest,
    'ethers signature': (await new Wallet(v.key).signTypedData(domain, used, v.message)) === v.signature,
    'viem digest': hashTypedData(typed) === v.digest,
    'viem signature': (await privateKeyToAccount(v.key).signTypedData(typed)) === v.signature,
  };
  const differ = Object.keys(equal).filter((k) => !equal[k]);
  console.log(v.type, v.chainId, differ.length ? `differs: ${differ.join(', ')}` : 'equal');
  if (differ.length) process.exitCode = 1;
}

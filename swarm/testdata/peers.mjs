// Signs and checks messages with ethers and viem. See README.md.
//
//   node peers.mjs check <FILE      a line a message; exit status 1 where one differs
//   node peers.mjs make COUNT SEED  COUNT random messages of each type, signed
import fs from 'node:fs';
import * as ethers from 'ethers';
import * as viem from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const types = JSON.parse(fs.readFileSync(new URL('types.json', import.meta.url), 'utf8'));
const { EIP712Domain, ...structs } = types;

// What each library is given to sign a message of a type: ethers wants no type
// that the message does not use, viem the domain's, too.
function typed(type, chainId, message) {
  const domain = { name: 'Swarmseal', version: '1', chainId };
  const used = { [type]: structs[type] };
  if (structs[type].some((m) => m.type === 'Attachment[]')) used.Attachment = structs.Attachment;
  return { domain, used, full: { domain, types: { EIP712Domain, ...used }, primaryType: type, message } };
}

// The libraries, each with the members of a vector as it makes them.
const libraries = {
  ethers: async ({ type, chainId, message, key }) => {
    const { domain, used } = typed(type, chainId, message);
    const structHash = ethers.TypedDataEncoder.hashStruct(type, used, message);
    if (!key) return { structHash };
    const wallet = new ethers.Wallet(key);
    const signature = await wallet.signTypedData(domain, used, message);
    return {
      signer: ethers.verifyTypedData(domain, used, message, signature),
      structHash, digest: ethers.TypedDataEncoder.hash(domain, used, message), signature,
    };
  },
  viem: async ({ type, chainId, message, key }) => {
    const { full } = typed(type, chainId, message);
    const structHash = viem.hashStruct({ data: message, primaryType: type, types: full.types });
    if (!key) return { structHash };
    const signature = await privateKeyToAccount(key).signTypedData(full);
    return {
      signer: await viem.recoverTypedDataAddress({ ...full, signature }),
      structHash, digest: viem.hashTypedData(full), signature,
    };
  },
};

async function check(vectors) {
  for (const v of vectors) {
    const differ = [];
    for (const [library, make] of Object.entries(libraries)) {
      const made = await make(v);
      for (const name of ['signer', 'structHash', 'digest', 'signature']) {
        if (made[name] !== v[name]) differ.push(`${library}'s ${name} is ${made[name]}, not ${v[name]}`);
      }
    }
    console.log(v.type, v.chainId, differ.length ? `differs: ${differ.join('; ')}` : 'equal');
    if (differ.length) process.exitCode = 1;
  }
}

// random gives a source of numbers that a seed decides.
function random(seed) {
  let state = ethers.id(seed);
  const bytes = (n) => { // n at most 32
    state = ethers.keccak256(state);
    return ethers.dataSlice(state, 0, n);
  };
  const below = (n) => Number(BigInt(bytes(8)) % BigInt(n));
  const oneOf = (list) => list[below(list.length)];
  return { bytes, below, oneOf };
}

// Code points that encoders get wrong: controls, quotes, what HTML escapes,
// line separators, marks that combine, and pairs of surrogates.
const points = [0, 9, 10, 0x1f, 0x22, 0x26, 0x3c, 0x41, 0x5c, 0x7f, 0xe9, 0x301, 0x2028, 0x2029, 0x5929, 0xfeff, 0xffff, 0x1f600, 0x10ffff];

// value makes a value of an EIP-712 type, as JSON has it. No integer is over
// 2^53-1 but a uint256, which is a text.
function value(r, type) {
  if (type.endsWith('[]')) return Array.from({ length: r.below(4) }, () => value(r, type.slice(0, -2)));
  if (structs[type]) return Object.fromEntries(structs[type].map((m) => [m.name, value(r, m.type)]));
  switch (type) {
    case 'string': return Array.from({ length: r.below(40) }, () => String.fromCodePoint(r.oneOf(points))).join('');
    case 'bytes32': return r.bytes(32);
    case 'address': return ethers.getAddress(r.bytes(20));
    case 'bool': return r.below(2) === 1;
    case 'uint256': return r.oneOf([0n, 1n, BigInt(r.bytes(8)), BigInt(r.bytes(32)), 2n ** 256n - 1n]).toString();
  }
  const largest = { uint8: 2 ** 8 - 1, uint32: 2 ** 32 - 1, uint64: Number.MAX_SAFE_INTEGER }[type];
  if (!largest) throw new Error(`no values for the type ${type}`);
  return r.oneOf([0, 1, largest, r.below(largest)]);
}

async function make(count, seed) {
  const r = random(seed);
  const vectors = [];
  for (const type of Object.keys(structs).filter((t) => t !== 'Attachment')) {
    for (let i = 0; i < count; i++) {
      const v = { type, chainId: r.oneOf([0, 1, 84532, Number.MAX_SAFE_INTEGER]), message: value(r, type), key: r.bytes(32) };
      vectors.push({ ...v, ...(await libraries[i % 2 ? 'viem' : 'ethers'](v)) });
    }
  }
  process.stdout.write(JSON.stringify(vectors));
}

const [mode, count, seed] = process.argv.slice(2);
if (mode === 'check') await check(JSON.parse(fs.readFileSync(0, 'utf8')));
else if (mode === 'make' && Number(count) > 0 && seed) await make(Number(count), seed);
else {
  console.error('usage: node peers.mjs check <FILE | make COUNT SEED');
  process.exitCode = 2;
}

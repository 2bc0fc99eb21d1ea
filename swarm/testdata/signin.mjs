// Signs in, and checks who did, with viem's SIWE and ERC-8128's own library.
// See README.md.
//
//   node signin.mjs sign <FILE    has each request and message signed
//   node signin.mjs verify <FILE  says of each who signed it, or why not
import fs from 'node:fs';
import { signRequest, verifyRequest } from '@slicekit/erc8128';
import { recoverMessageAddress, verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage, parseSiweMessage, validateSiweMessage } from 'viem/siwe';

const { requests = [], messages = [] } = JSON.parse(fs.readFileSync(0, 'utf8'));
const dates = ['issuedAt', 'expirationTime', 'notBefore'];

// A request is {method, url, headers, body}, its body in base64.
function toFetch({ method, url, headers, body }) {
  return [url, { method, headers, body: body ? Buffer.from(body, 'base64') : undefined }];
}

async function sign() {
  for (const r of requests) {
    const account = privateKeyToAccount(r.key);
    const signer = { chainId: r.chainId, address: account.address, signMessage: (raw) => account.signMessage({ message: { raw } }) };
    const signed = await signRequest(...toFetch(r), signer, r.options);
    r.headers = Object.fromEntries(signed.headers);
  }
  for (const m of messages) {
    const fields = { ...m.fields, version: '1' };
    for (const name of dates) if (fields[name]) fields[name] = new Date(fields[name]);
    m.text = createSiweMessage(fields);
    m.signature = await privateKeyToAccount(m.key).signMessage({ message: m.text });
  }
  console.log(JSON.stringify({ requests, messages }));
}

async function verify() {
  for (const r of requests) {
    const got = await verifyRequest({
      request: new Request(...toFetch(r)), verifyMessage, nonceStore: { consume: async () => true }, policy: { now: () => r.now },
    });
    r.signer = got.ok ? got.address : `${got.reason} ${got.detail ?? ''}`;
  }
  for (const m of messages) {
    m.signer = await recoverMessageAddress({ message: m.text, signature: m.signature });
    m.fields = parseSiweMessage(m.text);
    m.valid = validateSiweMessage({ address: m.signer, message: m.fields, domain: m.domain, nonce: m.nonce, time: new Date(m.now * 1000) });
  }
  console.log(JSON.stringify({ requests, messages }));
}

await { sign, verify }[process.argv[2]]();

// Checks who signed what in a bundle, with viem alone, in a browser or in Node.js.
import { hashTypedData, keccak256, recoverTypedDataAddress, stringToBytes } from 'viem';

// types is types.json. Gives true where every signature and hash holds and every
// hop hangs on one before it; `swarm verify` has the other rules, and sessions.
export async function check(bundle, { EIP712Domain, ...types }) {
  const domain = { name: 'Swarmseal', version: '1', chainId: bundle.chainId }, above = new Set([`0x${'0'.repeat(64)}`]);
  const by = (primaryType, message, signature) => recoverTypedDataAddress({ domain, types, primaryType, message, signature });
  const hash = (primaryType, message) => hashTypedData({ domain, types, primaryType, message });
  for (const { delegation: { delegation: d, input, ...asked }, result, arrival } of bundle.hops) {
    const { result: r, output } = result ?? {}, a = arrival?.arrival;
    if (await by('Delegation', d, asked.signature) !== d.from || keccak256(stringToBytes(input)) !== d.inputHash || !above.has(d.parent)) return false;
    if (r && (await by('Result', r, result.signature) !== d.to || keccak256(stringToBytes(output)) !== r.outputHash || r.delegation !== hash('Delegation', d))) return false;
    if (r && (await by('Arrival', a, arrival.signature) !== d.server || a.result !== hash('Result', r))) return false;
    above.add(hash('Delegation', d));
  }
  return true;
}

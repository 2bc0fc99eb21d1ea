// Package wallet says who someone is: an address, the key behind it, and
// what that key signed.
//
// Agents are secp256k1 accounts, the same that Ethereum uses, so that any
// wallet (a browser's, a hardware device, a keystore file) can own an agent:
//
//	key, err := wallet.NewKey()
//	sig, err := key.SignDigest(ctx, digest)
//	err = wallet.Verify(key.Address(), digest, sig)
//
// What is signed is the digest of EIP-712 typed data. The types are compiled
// into the packages that own them; this package only has the words they are
// made of: [Domain], [Encoder] and [Digest].
//
// Everything here is strict where a peer could gain by our leniency: an
// address with a wrong checksum, a signature that is not 65 bytes, has a v
// other than 27 or 28 or an s in the upper half of the curve's order is
// refused before anything is recovered from it. Private keys print as
// REDACTED whichever way they are printed.
package wallet

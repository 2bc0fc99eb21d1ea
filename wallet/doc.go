// Package wallet says who someone is: an address, the key behind it, and
// what that key signed.
//
// Agents are secp256k1 accounts, the same that Ethereum uses, so that any
// wallet (a browser's, a hardware device, a keystore file) can own an agent:
//
//	key, err := wallet.NewKey()
//	sig, err := key.Sign(ctx, wallet.PersonalMessage("this wallet is mine"))
//	err = wallet.Verify(key.Address(), wallet.PersonalMessage("this wallet is mine").Digest(), sig)
//
// What is signed is a [Message]: typed data of EIP-712, or a personal text of
// EIP-191. The types of typed data are compiled into the packages that own them;
// this package only has the words they are made of: [Domain], [Encoder] and
// [TypedMessage].
//
// # Strictness
//
// Everything here is strict where a peer could gain by our leniency. An address
// has 0x and 40 digits, all in lower case or with the checksum of EIP-55. A
// signature has 65 bytes, a v of 27 or 28 and an s in the lower half of the curve's
// order; all else is refused before anything is recovered from it: the 64-byte form
// of EIP-2098 everywhere, since it is a second text of the same signature. Nothing
// is keyed by a signature. Addresses, digests, signatures and amounts are JSON
// strings, and null is none.
//
// # Where keys are
//
// A [Signer] is a [Key] in memory, or one of package external whose key never
// comes here. A key comes from
//
//   - a keystore file of version 3, as all Ethereum wallets have it ([ReadKeyFile],
//     [WriteKeyFile]): scrypt, standard or light, and PBKDF2 for reading;
//   - a mnemonic of BIP-39, with any number of keys ([Seed]), in a seed file
//     ([ReadSeedFile], [WriteSeedFile]);
//   - its 64 hex digits ([ParseKey]).
//
// Files are written with mode 0600, whole or not at all, and never over another. A
// file without a passphrase is opened only while its mode keeps others out. One
// derivation of a passphrase runs at a time in a process: the standard one takes
// 256 MiB.
//
// A seed file is a JSON object of
//
//	swarmsealSeed  1, the version
//	address        of the first key, m/44'/60'/0'/0/0, in EIP-55's form
//	crypto         as in a keystore file of version 3, by the same rules
//	id             a UUID
//
// What crypto holds is UTF-8 text: the mnemonic's English words in lower case with
// one space between them and, only where the mnemonic has a passphrase of its own,
// a line feed and it. (The passphrase of the file is another thing.)
//
// # What is secret
//
// Keys and seeds print as REDACTED whichever way they are printed, logged or
// marshalled, and dumpers that look into unexported fields find nothing. The one way
// out in the open is Reveal. No error has a secret in it. [Seed.Close] and what is
// derived on the way to a key clear their memory, as far as it goes: neither the
// runtime nor the libraries promise that there is no copy, and a Key stays in memory
// for as long as it is used. Whoever can read the process's memory has its keys;
// package external is for those to whom that matters.
package wallet

package wallet

// Derivations is the turn that derivations of passphrases wait for.
var Derivations = derivations

// EnglishWords is BIP-39's list.
var EnglishWords = englishWords

// Stretch gives BIP-39's seed of a mnemonic that parseMnemonic lets pass.
func Stretch(mnemonic, passphrase string) ([]byte, error) {
	words, err := parseMnemonic(mnemonic)
	if err != nil {
		return nil, err
	}
	return stretch(words, passphrase)
}

// MnemonicOf gives the words of an entropy.
var MnemonicOf = mnemonicOf

// Descend gives the key and the chain code at a path of BIP-32 below a seed.
func Descend(seed []byte, path ...uint32) (key, chain []byte, err error) {
	master, err := masterNode(seed)
	if err != nil {
		return nil, nil, err
	}
	n, err := master.descend(path...)
	if err != nil {
		return nil, nil, err
	}
	return n.key, n.chain, nil
}

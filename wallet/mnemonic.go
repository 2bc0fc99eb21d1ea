package wallet

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Errors of ParseSeed and NewSeed. None has a word in it.
var (
	ErrMnemonicLength   = errors.New("mnemonic: want 12, 15, 18, 21 or 24 words")
	ErrMnemonicWord     = errors.New("mnemonic: not of BIP-39's English list")
	ErrMnemonicChecksum = errors.New("mnemonic: the checksum does not hold: a word is another, or two are swapped")
	ErrMnemonicSecret   = errors.New("mnemonic: its passphrase must be one line of UTF-8 text")
)

// english is BIP-39's list of 2,048 English words, in alphabetical order, one a
// line. Other languages' lists are not read: wallets give English words, and
// some words stand in several lists for different numbers.
//
//go:embed english.txt
var english string

// englishWords splits the list anew each time: a variable that holds it would
// bring the list into programs that have no mnemonics.
func englishWords() []string { return strings.Fields(english) }

// wordBits is how many bits of entropy and checksum a word stands for.
const wordBits = 11

// checkWords reports whether n words can be a mnemonic.
func checkWords(n int) error {
	if n < 12 || n > 24 || n%3 != 0 {
		return fmt.Errorf("%w, not %d", ErrMnemonicLength, n)
	}
	return nil
}

// mnemonicOf gives the words of 16 to 32 bytes of entropy, a bit of its SHA-256
// behind each 32 of it.
func mnemonicOf(entropy []byte) string {
	sum := sha256.Sum256(entropy)
	bits := append(slices.Clone(entropy), sum[0])
	defer clear(bits)
	list, words := englishWords(), make([]string, len(entropy)*8*33/32/wordBits)
	for i := range words {
		n := 0
		for bit := i * wordBits; bit < (i+1)*wordBits; bit++ {
			n = n<<1 | int(bits[bit/8]>>(7-bit%8)&1)
		}
		words[i] = list[n]
	}
	return strings.Join(words, " ")
}

// parseMnemonic checks words and gives them in the form that is hashed: in lower
// case, with one space between them.
func parseMnemonic(text string) (string, error) {
	words := strings.Fields(strings.ToLower(text))
	if err := checkWords(len(words)); err != nil {
		return "", err
	}
	list, bits := englishWords(), make([]byte, 33)
	defer clear(bits)
	for i, word := range words {
		n, ok := slices.BinarySearch(list, word)
		if !ok {
			return "", fmt.Errorf("word %d: %w", i+1, ErrMnemonicWord)
		}
		for j := range wordBits {
			bit := i*wordBits + j
			bits[bit/8] |= byte(n>>(wordBits-1-j)&1) << (7 - bit%8)
		}
	}
	size := len(words) * 4 / 3 // of the entropy, in bytes
	sum := sha256.Sum256(bits[:size])
	if shift := 8 - size/4; bits[size]>>shift != sum[0]>>shift {
		return "", ErrMnemonicChecksum
	}
	return strings.Join(words, " "), nil
}

// stretch gives BIP-39's 64-byte seed of a mnemonic and its passphrase, "" for
// none.
func stretch(mnemonic, passphrase string) ([]byte, error) {
	if !utf8.ValidString(passphrase) || strings.ContainsAny(passphrase, "\r\n") {
		return nil, ErrMnemonicSecret
	}
	return pbkdf2.Key(sha512.New, mnemonic, []byte("mnemonic"+norm.NFKD.String(passphrase)), 2048, 64)
}

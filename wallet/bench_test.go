package wallet_test

import (
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
)

func BenchmarkSign(b *testing.B) {
	key, digest := mustKey(b, knownKey), wallet.Keccak256([]byte("hello"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := key.SignDigest(b.Context(), digest); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecover(b *testing.B) {
	key, digest := mustKey(b, knownKey), wallet.Keccak256([]byte("hello"))
	sig, err := key.SignDigest(b.Context(), digest)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wallet.Recover(digest, sig); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddressString(b *testing.B) {
	a := wallet.MustParseAddress(knownAddress)
	b.ReportAllocs()
	for b.Loop() {
		_ = a.String()
	}
}

func BenchmarkParseSeed(b *testing.B) {
	for b.Loop() {
		if _, err := wallet.ParseSeed(junk, ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeedKey(b *testing.B) {
	seed := mustSeed(b, junk, "")
	for b.Loop() {
		if _, err := seed.Key(7); err != nil {
			b.Fatal(err)
		}
	}
}

// One decryption of a person's key: 256 MiB.
func BenchmarkDecryptKeyStandard(b *testing.B) { benchDecrypt(b, wallet.ScryptStandard) }

func BenchmarkDecryptKeyLight(b *testing.B) { benchDecrypt(b, wallet.ScryptLight) }

func benchDecrypt(b *testing.B, work wallet.Scrypt) {
	data, err := wallet.EncryptKey(b.Context(), mustKey(b, knownKey), "pass", work)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := wallet.DecryptKey(b.Context(), data, "pass"); err != nil {
			b.Fatal(err)
		}
	}
}

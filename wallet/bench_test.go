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

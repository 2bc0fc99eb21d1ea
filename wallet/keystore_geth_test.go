package wallet_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/accounts/keystore"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"

	"github.com/swarmseal/swarmseal/wallet"
)

// go-ethereum's own package opens our files, and we open its.
func TestKeystoreOfGeth(t *testing.T) {
	key := mustKey(t, knownKey)
	ours, err := wallet.EncryptKey(t.Context(), key, "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := keystore.DecryptKey(ours, "pass")
	if err != nil || wallet.Address(opened.Address) != key.Address() {
		t.Fatalf("go-ethereum opens our file as %v, %v", opened, err)
	}
	secret, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := keystore.EncryptKey(&keystore.Key{
		Id: uuid.New(), Address: crypto.PubkeyToAddress(secret.PublicKey), PrivateKey: secret,
	}, "pass", keystore.LightScryptN, keystore.LightScryptP)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := wallet.DecryptKey(t.Context(), theirs, "pass"); err != nil || got.Address() != wallet.Address(crypto.PubkeyToAddress(secret.PublicKey)) {
		t.Fatalf("we open go-ethereum's file as %v, %v", got, err)
	}
}

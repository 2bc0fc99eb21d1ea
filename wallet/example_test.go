package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmseal/swarmseal/wallet"
)

func ExampleVerify() {
	key, err := wallet.ParseKey("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		fmt.Println(err)
		return
	}
	digest := wallet.Keccak256([]byte("what is to be signed"))
	sig, err := key.SignDigest(context.Background(), digest)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wallet.Verify(key.Address(), digest, sig))

	changed := wallet.Keccak256([]byte("something else"))
	_, forged := errors.AsType[*wallet.SignerError](wallet.Verify(key.Address(), changed, sig))
	fmt.Println("forged:", forged)
	fmt.Println(key)
	// Output:
	// <nil>
	// forged: true
	// Key(REDACTED, 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266)
}

func ExampleParseAddress() {
	a, err := wallet.ParseAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
	fmt.Println(a, err)
	_, err = wallet.ParseAddress("0x5AAeb6053f3e94c9b9a09f33669435e7ef1beaed")
	fmt.Println(err)
	// Output:
	// 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed <nil>
	// address "0x5AAeb6053f3e94c9b9a09f33669435e7ef1beaed": wrong EIP-55 checksum (all lower case is accepted too)
}

// A mnemonic gives the accounts that other wallets show for it.
func ExampleParseSeed() {
	seed, err := wallet.ParseSeed("test test test test test test test test test test test junk", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seed.Close()
	for i := range uint32(2) {
		key, err := seed.Key(i)
		fmt.Println(key, err)
	}
	_, err = wallet.ParseSeed("test test test test test test test test test test test test", "")
	fmt.Println(err)
	// Output:
	// Key(REDACTED, 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266) <nil>
	// Key(REDACTED, 0x70997970C51812dc3A010C7d01b50e0d17dc79C8) <nil>
	// mnemonic: the checksum does not hold: a word is another, or two are swapped
}

// A message is signed as wallets sign texts for people, and checked.
func ExamplePersonalMessage() {
	key, err := wallet.ParseKey("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := wallet.PersonalMessage("this wallet is mine")
	sig, err := key.Sign(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wallet.Verify(key.Address(), m.Digest(), sig))
	// Output: <nil>
}

// A key file is opened once, as a program starts.
func ExampleWriteKeyFile() {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "agent.json")
	key, err := wallet.NewKey()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := wallet.WriteKeyFile(ctx, path, key, "correct horse", wallet.ScryptLight); err != nil {
		fmt.Println(err)
		return
	}
	same, err := wallet.ReadKeyFile(ctx, path, "correct horse")
	fmt.Println(same.Address() == key.Address(), err)
	_, err = wallet.ReadKeyFile(ctx, path, "battery staple")
	fmt.Println(errors.Is(err, wallet.ErrPassphrase))
	// Output:
	// true <nil>
	// true
}

// A program of its own can sign typed data of its own types.
func ExampleEncoder() {
	domain := wallet.NewDomain("Example", "1", 1)
	greeting := wallet.Keccak256([]byte("Greeting(address to,string text)"))
	to := wallet.MustParseAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	digest := wallet.TypedDigest(domain.Separator(), wallet.NewEncoder(greeting, 2).Address(to).String("hello").Sum())
	fmt.Println(digest)
	// Output: 0x9ce287af8761f2a51b3ac99803be7ad6e6b72799100601fd51bf38c98f91e3ed
}

package external_test

import (
	"fmt"

	"github.com/swarmseal/swarmseal/wallet/external"
)

// The signer is used wherever a wallet.Signer is: as a client's, a worker's or a
// server's key.
func ExampleOpen() {
	signer, err := external.Open("web3signer:https://signer.example.org:9000#0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(signer.Address())
	_, err = external.Open("web3signer:http://signer.example.org:9000#0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
	fmt.Println(err)
	// Output:
	// 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed
	// web3signer http://signer.example.org:9000: plain HTTP to another machine: want https, or an address of this machine, such as a tunnel's
}

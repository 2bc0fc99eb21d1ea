package outgoing_test

import (
	"fmt"

	"github.com/swarmseal/swarmseal/swarm/internal/outgoing"
)

// A webhook is checked as it is taken in, and again as it is called.
func Example() {
	policy := outgoing.Policy{}
	fmt.Println(policy.CheckURL("https://hooks.example.com/done"))
	fmt.Println(policy.CheckURL("http://169.254.169.254/latest/meta-data"))
	fmt.Println(policy.CheckURL("https://[::ffff:10.0.0.1]/"))
	// Output:
	// <nil>
	// "http://169.254.169.254/latest/meta-data" is refused: want https
	// "https://[::ffff:10.0.0.1]/" is refused: its address is not public
}

// Marketplace decides whether an agent is paid: only for a receipt whose every
// signature holds, and that is about the order it is shown for.
//
//	go run ./examples/marketplace -from 0xBUYER -to 0xSELLER receipt.json
//	go run ./examples/marketplace -from 0xBUYER -to 0xSELLER REQUEST_ID
//
// A receipt is a file, such as examples/delegate writes, or is fetched by the
// delegation's id from SWARM_SERVER, http://127.0.0.1:8420 by default. It makes
// no difference who hands it over: nothing in it is believed that is not
// signed. Exit status 0 is "pay", 1 is "don't pay", 2 that there is nothing to
// judge.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func main() {
	var order swarm.Expect
	flag.Func("from", "`WALLET` that ordered", address(&order.From))
	flag.Func("to", "`WALLET` that is to be paid", address(&order.To))
	flag.Func("server", "`WALLET` of the server whose clock counts (default: whichever the buyer chose)", address(&order.Server))
	flag.Parse()
	if flag.NArg() != 1 || order.From == nil || order.To == nil {
		// A receipt proves what was signed by whom. Whether that is this order
		// only the marketplace knows: without it, anybody's receipt would do.
		fmt.Fprintln(os.Stderr, "usage: marketplace -from WALLET -to WALLET [-server WALLET] FILE|ID")
		os.Exit(2)
	}
	receipt, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !judge(receipt, order) {
		os.Exit(1)
	}
}

func address(to **wallet.Address) func(string) error {
	return func(text string) error {
		a, err := wallet.ParseAddress(text)
		*to = &a
		return err
	}
}

// judge prints the decision and its reasons. It needs no network and no clock.
func judge(receipt []byte, order swarm.Expect) (pay bool) {
	report := swarm.VerifyJSON(receipt, order)
	if !report.Verified {
		fmt.Println("don't pay")
		for _, check := range report.Broken() {
			fmt.Printf("  hops[%d] %s: %s\n", check.Index, check.Rule, display.Clean(check.Detail))
		}
		return false
	}
	// A marketplace has rules of its own besides. Here: nobody is paid for
	// what came after the deadline, nor for what no buyer has signed.
	if order := report.Hops[0]; order.State != "completed" || order.Custody == swarm.CustodyServer {
		fmt.Printf("don't pay\n  hops[0] is %s; its key is the %s's\n", order.State, order.Custody)
		return false
	}
	fmt.Println("pay", report.Hops[0].To)
	for _, hop := range report.Hops {
		fmt.Printf("  hop %d: %s asked %s: %s\n", hop.Hop, hop.From, hop.To, hop.State)
	}
	// Root is what is paid for once: keep it, and refuse it the next time.
	fmt.Println("  for", report.Hops[0].Delegation)
	return true
}

// read gives a receipt's bytes, as they are.
func read(where string) ([]byte, error) {
	data, err := os.ReadFile(where)
	if !errors.Is(err, os.ErrNotExist) {
		return data, err
	}
	server := cmp.Or(os.Getenv("SWARM_SERVER"), "http://127.0.0.1:8420")
	resp, err := http.Get(server + "/delegations/" + url.PathEscape(where) + "/receipt")
	if err != nil {
		return nil, fmt.Errorf("%s is no file, and no receipt was fetched: %w", where, err)
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, swarm.MaxBundleBytes+1))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is no file, and the server says %s: %.200q", where, resp.Status, data)
	}
	return data, err
}

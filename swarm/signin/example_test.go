package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/swarmseal/swarmseal/swarm/signin"
	"github.com/swarmseal/swarmseal/wallet"
)

// A program signs a request, and the server knows whose it is.
func Example() {
	who, err := wallet.ParseKey(strings.Repeat("0", 63) + "1")
	if err != nil {
		fmt.Println(err)
		return
	}
	var requests signin.Requests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := requests.Verify(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println("from", caller)
	}))
	defer server.Close()
	requests = signin.Requests{Authorities: []string{strings.TrimPrefix(server.URL, "http://")}, Nonces: new(memory)}

	r, err := http.NewRequest(http.MethodPost, server.URL+"/delegations", strings.NewReader(`{}`))
	if err == nil {
		err = signin.SignRequest(context.Background(), who, 84532, r)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output:
	// from 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf
	// 200 OK
}

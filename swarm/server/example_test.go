package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/wallet"
)

// A server is a data folder, a key and a handler. It is drained before it is
// closed: what is in flight gets its outcome, or goes on after the restart.
func Example() {
	dir, err := os.MkdirTemp("", "swarm")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	key, err := wallet.NewKey() // keep it with the folder: delegations are made out to it
	if err != nil {
		panic(err)
	}
	s, err := server.New(context.Background(), server.Config{Dir: dir, Key: key, Version: "1.0"})
	if err != nil {
		panic(err)
	}
	front := httptest.NewServer(s.Handler()) // else http.Server{Handler: s.Handler()}
	defer front.Close()

	resp, err := http.Get(front.URL + "/.well-known/swarmseal")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var info struct {
		Server  wallet.Address
		Version string
	}
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		panic(err)
	}
	fmt.Println(info.Version, info.Server == key.Address())

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		fmt.Println(err)
	}
	s.Close()
	// Output: 1.0 true
}

// Contracttest is the test service by which the public contract suite for
// clients of event streams, github.com/launchdarkly/sse-contract-tests, drives
// package stream. It claims every capability that the suite knows.
//
//	go run ./stream/contracttest --addr 127.0.0.1:8000
//
// and beside it, in a clone of the suite:
//
//	go run . --url http://localhost:8000 --stop-service-at-end
//
// The suite asks it to open streams at the suite's own server, and is told by
// callbacks what came of them; its docs/service_spec.md is the contract. All of
// it is done by what package stream offers to anyone.
//
// It opens whatever URL it is told to, so it listens on a loopback address
// unless told otherwise, and refuses what a browser sends for another site.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:8000", "the `HOST:PORT` to listen on; port 0 takes a free one")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("contracttest: %q: it takes no arguments, only --addr", flag.Args())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, os.Stdout); err != nil {
		log.Fatal("contracttest: ", err)
	}
}

// run serves until ctx ends or the suite says to stop, and says on out where.
func run(ctx context.Context, addr string, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newService(stop)
	defer s.close()
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(out, "listening on http://%s\n", listener.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	// The answer to the request that stops the service still goes out.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return server.Shutdown(late)
}

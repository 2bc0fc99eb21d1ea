package main

import (
	"context"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

// defaultServer is the server that clients talk to where none is named.
const defaultServer = "http://127.0.0.1:8420"

// remote is the server that a command talks to.
type remote struct{ server string }

func (r *remote) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.server, "server", "", "the server's `URL` (default: SWARM_SERVER, else "+defaultServer+")")
}

// url gives the server's URL.
func (r *remote) url() (string, error) {
	text, from := r.server, "--server"
	if text == "" {
		text, from = os.Getenv("SWARM_SERVER"), "SWARM_SERVER"
	}
	if text == "" {
		return defaultServer, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", usagef("%s is %q; want http:// or https://, a host and at most a path", from, text)
	}
	return strings.TrimSuffix(text, "/"), nil
}

// client gives a client of the server, for nobody where signer is nil. It has
// reached the server once: what waits for a server that is restarted would
// otherwise wait for one that never was.
func (r *remote) client(ctx context.Context, signer wallet.Signer) (*client.Client, error) {
	base, err := r.url()
	if err != nil {
		return nil, err
	}
	c := &client.Client{BaseURL: base, Signer: signer}
	_, err = c.Info(ctx)
	return c, err
}

// clientOf is client for whoever id says.
func (r *remote) clientOf(cmd *cobra.Command, id *identity) (*client.Client, error) {
	key, err := id.key(cmd)
	if err != nil {
		return nil, err
	}
	return r.client(cmd.Context(), key)
}

// timeoutFlag is how long the agent may take.
func timeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 0,
		"how long the agent may take, whole seconds up to "+swarm.MaxTimeout.String()+" (default: by the length of the task, 1m to 2m)")
}

func checkTimeout(cmd *cobra.Command, timeout time.Duration) error {
	if cmd.Flags().Changed("timeout") && (timeout < time.Second || timeout > swarm.MaxTimeout || timeout%time.Second != 0) {
		return usagef("--timeout is %v; allowed are whole seconds from 1s to %v", timeout, swarm.MaxTimeout)
	}
	return nil
}

// runID checks a run's id.
func runID(text string) (string, error) {
	if err := swarm.CheckID(text); err != nil {
		return "", usagef("%s", err.(*swarm.Error).Message)
	}
	return text, nil
}

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Find searches the agents that are available: those left out are the caller,
// whoever it has something open with, and whoever timed out on it lately.
func (c *Client) Find(ctx context.Context, q swarm.Query) (*swarm.Found, error) {
	q, err := q.Normalize()
	if err != nil {
		return nil, err
	}
	params := url.Values{
		"query": {q.Text}, "top_k": {strconv.Itoa(q.TopK)}, "output_detail": {string(q.Detail)},
		"strictness": {strconv.FormatFloat(*q.Strictness, 'g', -1, 64)},
	}
	if len(q.Tags) > 0 {
		params["include_tags"] = q.Tags
	}
	var found swarm.Found
	ask := request{method: http.MethodGet, path: "/agents/search?" + params.Encode(), into: &found}
	if c.Signer == nil {
		err = c.do(ctx, ask)
	} else {
		err = c.doSignedIn(ctx, ask)
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// Agents gives a page of the list of agents, those whose wallets come after
// the given one; the zero address is before the first.
func (c *Client) Agents(ctx context.Context, after wallet.Address) (*swarm.AgentsPage, error) {
	path := "/agents"
	if !after.IsZero() {
		path += "?after=" + after.String()
	}
	var page swarm.AgentsPage
	if err := c.do(ctx, request{method: http.MethodGet, path: path, into: &page}); err != nil {
		return nil, err
	}
	return &page, nil
}

// Agent gives an agent's card with the registration that vouches for it.
func (c *Client) Agent(ctx context.Context, agent wallet.Address) (*swarm.RegisteredAgent, error) {
	var found swarm.RegisteredAgent
	if err := c.do(ctx, request{method: http.MethodGet, path: "/agents/" + agent.String(), into: &found}); err != nil {
		return nil, err
	}
	return &found, nil
}

// Register puts the card on the server under the signer's wallet, which it is
// set to. When Register returns, the agent is found.
func (c *Client) Register(ctx context.Context, card swarm.Card) error {
	return c.register(ctx, card, true)
}

// Revoke takes the signer's agent off the server.
func (c *Client) Revoke(ctx context.Context) error {
	if c.Signer == nil {
		return errNoSigner
	}
	agent, err := c.Agent(ctx, c.Signer.Address())
	if err != nil {
		return err
	}
	return c.register(ctx, agent.Card, false)
}

func (c *Client) register(ctx context.Context, card swarm.Card, active bool) error {
	if c.Signer == nil {
		return errNoSigner
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	card.Wallet = c.Signer.Address()
	if err := card.Check(); err != nil {
		return err
	}
	text, err := json2.Marshal(card)
	if err != nil {
		return err
	}
	var kept uint64 // the seq of the registration that stood in the way
	for tries := 1; ; tries++ {
		now := time.Now()
		signed, err := swarm.SignRegistration(ctx, c.Signer, swarm.Domain(info.ChainID), swarm.Registration{
			Seq: max(uint64(now.UnixMilli()), kept+1), Active: active, Endpoint: card.URL,
			IssuedAt: uint64(now.Unix()), ExpiresAt: uint64(now.Add(registrationAge).Unix()), Nonce: newNonce(),
		}, string(text))
		if err != nil {
			return err
		}
		err = c.do(ctx, request{method: http.MethodPut, path: "/agents/" + card.Wallet.String(), body: signed})
		if swarm.CodeOf(err) != swarm.CodeConflict || tries == registrationTries {
			return err
		}
		// Many workers of one wallet register in the same moment when their
		// server is back, or another one's clock is ahead.
		there, getErr := c.Agent(ctx, card.Wallet)
		if getErr != nil {
			return err
		}
		if active && there.Registration.Card == string(text) {
			return nil
		}
		kept = there.Registration.Registration.Seq
	}
}

// registrationTries bounds how often a registration is made anew because
// another one of the same wallet was faster.
const registrationTries = 10

// registrationAge is how long a registration may take to arrive.
const registrationAge = 5 * time.Minute

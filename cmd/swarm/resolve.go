package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

// agentArg is an agent as the command line names it.
type agentArg struct {
	wallet wallet.Address // zero where it is named
	name   string
}

// parseAgent reads a wallet or a name. What starts like a wallet is one: a
// digit lost in copying must not become a search.
func parseAgent(text string) (agentArg, error) {
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		address, err := wallet.ParseAddress(text)
		if err != nil {
			return agentArg{}, usagef("agent: %w", err)
		}
		return agentArg{wallet: address}, nil
	}
	if strings.TrimSpace(text) == "" {
		return agentArg{}, usagef("the agent is empty: want a wallet or a name")
	}
	return agentArg{name: strings.TrimSpace(text)}, nil
}

// resolve gives the wallet of an agent. A name is searched for; it must be one
// agent's whole name, case aside, or lead to one agent alone.
//
// The search is nobody's: a signed one leaves out agents with whom the caller
// has something open, and a second question to an agent would not find it.
func (a agentArg) resolve(ctx context.Context, cmd *cobra.Command, base string) (wallet.Address, error) {
	if !a.wallet.IsZero() {
		return a.wallet, nil
	}
	nobody := &client.Client{BaseURL: base}
	strictness := 0.0
	found, err := nobody.Find(ctx, swarm.Query{Text: a.name, TopK: swarm.MaxTopK, Strictness: &strictness, Detail: swarm.DetailMinimal})
	if err != nil {
		return wallet.Address{}, err
	}
	candidates := found.Results
	var exact []swarm.Match
	for _, m := range candidates {
		if strings.EqualFold(m.Name, a.name) {
			exact = append(exact, m)
		}
	}
	if len(exact) > 0 {
		candidates = exact
	}
	switch len(candidates) {
	case 1:
		if len(exact) == 0 { // say who is meant before it is asked
			cmd.PrintErrf("%q is taken for %s\n", a.name, clean(candidates[0].Name))
		}
		return candidates[0].AgentID, nil
	case 0:
		return wallet.Address{}, swarm.Errorf(swarm.CodeAgentNotFound, "no agent that takes tasks is found by %q; swarm agents list shows all", a.name)
	}
	const shown = 5
	var list []string
	for _, m := range candidates[:min(len(candidates), shown)] {
		list = append(list, fmt.Sprintf("%s %v", m.Name, m.AgentID))
	}
	more := ""
	if n := len(candidates) - shown; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return wallet.Address{}, usagef("%q may be one of %d agents; give a whole name or a wallet: %s%s",
		a.name, len(candidates), strings.Join(list, ", "), more)
}

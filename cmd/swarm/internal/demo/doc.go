// Package demo runs a whole swarm in one process on real work: a server on
// its own data folder, nine agents with a new wallet each, and one request,
// "Report on DIR", to the agent that coordinates.
//
//	result, err := demo.Run(ctx, demo.Options{Dir: ".", Data: data, Event: show})
//
// The agents' work is package survey's, which looks at the folder and is true
// of it. The coordinator has no language model: it plans by search, asking
// agent_find one question for each part of the report and delegating the part
// to the first agent found. Some of those delegate on, so that the chain has
// two hops; a part that can't be done fails, and the report says so.
package demo

//go:build !unix

package main

import (
	"context"
	"os/exec"
)

// shell gives a command line for cmd.exe. There are no process groups here:
// when ctx ends, what the program has started itself may go on.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line)
}

func endGroup(*exec.Cmd) {}

//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Bounds: of all scripts, and of one wait in them.
const (
	scriptsTimeout = 4 * time.Minute
	waitTimeout    = 60 * time.Second
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"swarm": main})
}

// TestScripts runs the scripts of testdata/script, each with folders of its
// own. Beside testscript's commands they have
//
//	start NAME ARGS...            swarm ARGS in the background, its output in NAME.out and NAME.err
//	await FILE REGEXP [VAR...]    until FILE matches; the groups of the match go to the VARs
//	signal NAME SIGNAL            signal it
//	stop NAME SIGNAL STATUS       signal it (- for none), wait, and compare the exit status
//	status STATUS PROGRAM ARGS... run it, and compare the exit status
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(scriptsTimeout),
		Setup: func(env *testscript.Env) error {
			for name, folder := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"} {
				env.Setenv(name, filepath.Join(env.WorkDir, folder))
			}
			env.Values[processesKey{}] = processes{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"start": startCmd, "await": awaitCmd, "signal": signalCmd, "end": endCmd, "status": statusCmd,
		},
	})
}

// processes are what a script has started, by name.
type processes map[string]*process

type processesKey struct{}

type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func (p *process) wait() bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(waitTimeout):
		return false
	}
}

func startCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME ARGS...")
	}
	program, err := exec.LookPath("swarm")
	ts.Check(err)
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "SWARM_SERVER", "SWARM_KEY", "SWARM_PASSPHRASE"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	p := &process{cmd, make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its state says more
		close(p.ended)
	}()
	ts.Value(processesKey{}).(processes)[args[0]] = p
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-p.ended
	})
}

func awaitCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await FILE REGEXP [VAR...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for end := time.Now().Add(waitTimeout); ; time.Sleep(10 * time.Millisecond) {
		data, _ := os.ReadFile(ts.MkAbs(args[0])) // it may come later
		if match := pattern.FindSubmatch(data); match != nil {
			for i, name := range args[2:] {
				ts.Setenv(name, string(match[i+1]))
			}
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s does not match %s within %v:\n%s", args[0], args[1], waitTimeout, data)
		}
	}
}

func (p *process) signal(ts *testscript.TestScript, name string) {
	signal, ok := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[name]
	if !ok {
		ts.Fatalf("unknown signal %s", name)
	}
	ts.Check(p.cmd.Process.Signal(signal))
}

func started(ts *testscript.TestScript, name string) *process {
	p := ts.Value(processesKey{}).(processes)[name]
	if p == nil {
		ts.Fatalf("no process %s was started", name)
	}
	return p
}

func signalCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal NAME SIGNAL")
	}
	started(ts, args[0]).signal(ts, args[1])
}

func endCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: end NAME SIGNAL STATUS")
	}
	p := started(ts, args[0])
	if args[1] != "-" {
		p.signal(ts, args[1])
	}
	if !p.wait() {
		ts.Fatalf("%s goes on %v after %s", args[0], waitTimeout, args[1])
	}
	for _, kind := range []string{".out", ".err"} {
		ts.Logf("[%s%s]\n%s", args[0], kind, ts.ReadFile(args[0]+kind))
	}
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != args[2] { // -1 for a signal
		ts.Fatalf("%s has exit status %s, want %s", args[0], got, args[2])
	}
}

func statusCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status STATUS PROGRAM ARGS...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

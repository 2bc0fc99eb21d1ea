package swarm_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestCodeOf(t *testing.T) {
	refusal := swarm.Errorf(swarm.CodeLoop, "%d", 7)
	for _, c := range []struct {
		name string
		err  error
		want swarm.Code
	}{
		{"none", nil, ""},
		{"itself", refusal, swarm.CodeLoop},
		{"wrapped", fmt.Errorf("while asking: %w", refusal), swarm.CodeLoop},
		{"joined", errors.Join(errors.New("x"), refusal), swarm.CodeLoop},
		{"another kind", errors.New("disk full"), swarm.CodeInternal},
	} {
		if got := swarm.CodeOf(c.err); got != c.want {
			t.Errorf("%s: CodeOf = %q, want %q", c.name, got, c.want)
		}
	}
	if refusal.Error() != "collaboration_loop_detected: 7" {
		t.Errorf("Error = %q", refusal)
	}
	if !errors.Is(fmt.Errorf("x: %w", refusal), &swarm.Error{Code: swarm.CodeLoop}) || errors.Is(refusal, &swarm.Error{Code: swarm.CodeHuman}) {
		t.Error("errors.Is does not go by the code")
	}
}

// Codes has every constant of type Code, each once.
func TestCodesAreAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
				constants += len(spec.Names)
			}
		}
		return true
	})
	if constants == 0 || len(swarm.Codes) != constants {
		t.Errorf("%d codes listed, %d constants", len(swarm.Codes), constants)
	}
	if sorted := slices.Sorted(slices.Values(swarm.Codes)); len(slices.Compact(sorted)) != constants {
		t.Error("a code is listed twice")
	}
}

func TestStates(t *testing.T) {
	for state, want := range map[swarm.State]bool{
		swarm.StatePending: false, swarm.StateRunning: false, swarm.StateCompleted: true, swarm.StateFailed: true,
		swarm.StateTimeout: true, swarm.StateCancelled: true, "": false,
	} {
		if state.Terminal() != want {
			t.Errorf("%q is terminal: %v", state, !want)
		}
	}
	late := swarm.Outcome{Arrival: &swarm.SignedArrival{Arrival: swarm.Arrival{Late: true}}}
	if (&swarm.Outcome{}).Late() || !late.Late() {
		t.Error("Late does not follow the arrival")
	}
}

func TestCheckID(t *testing.T) {
	d := swarm.Delegation{Nonce: wallet.Digest{1}}
	if err := swarm.CheckID(d.ID()); err != nil {
		t.Errorf("an id as it is made: %v", err)
	}
	for _, id := range []string{"", "17", d.ID() + "0", d.ID()[1:] + "A", d.ID()[1:] + "/", d.ID()[1:] + "g"} {
		if got := swarm.CodeOf(swarm.CheckID(id)); got != swarm.CodeInvalid {
			t.Errorf("%q: code %q", id, got)
		}
	}
}

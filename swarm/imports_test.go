package swarm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/swarmseal/swarmseal/"

// imports is what each package of ours may have of ours, directly or through
// another, and why not more; the first row that fits counts. A name that ends
// with a slash stands for all below it, and a space stands between names.
var imports = []struct {
	name    string
	allowed string
	why     string
}{
	{"wallet", "", "who someone is depends on nothing: signatures are checked by programs that have nothing else of ours"},
	{"wallet/external", "wallet", "keys kept elsewhere are for whoever has a wallet, with or without a swarm"},
	{"events", "wallet", "what a stream says is pure: bytes in, values out, whoever brings the bytes"},
	{"stream", "wallet events", "streams are read by programs that know nothing of delegation, such as clients of Compose"},
	{"stream/contracttest", "wallet events stream", "a suite for clients of streams drives the client alone"},
	{"display", "wallet events", "what is shown is made of events, wherever they come from: no network, no swarm"},
	{"swarm", "wallet events", "the words and rules are shared by all sides: each would bring its own along"},
	{"swarm/discovery", "wallet events swarm", "a search ranks cards, and knows nothing of servers"},
	{"swarm/signin", "wallet events swarm", "who may sign in is for any server to check, and for any client to sign: it has neither along"},
	{"swarm/client", "wallet events stream swarm", "a back end that delegates takes no server along, and no worker"},
	{"swarm/agent", "wallet events stream swarm swarm/client", "a worker takes no server along"},
	{"swarm/internal/engine", "", "the engine keeps bytes under names; what they mean is the server's to know"},
	{"swarm/internal/outgoing", "", "it knows addresses, not what is asked of them"},
	{"swarm/server", "wallet events stream swarm swarm/signin swarm/discovery swarm/internal/engine",
		"the server imports no face and no client: faces call it, so that each is tested without it, and it without them"},
	{"swarm/swarmtest", "wallet events stream swarm swarm/signin swarm/client swarm/agent swarm/discovery swarm/internal/engine swarm/server",
		"it wires all sides for tests, and no program imports it"},
	{"examples/compose", "", "it shows that Compose's documented frames are enough: with our packages it would show nothing"},
	{"examples examples/", "wallet events stream display swarm swarm/client swarm/agent", "examples show the SDK; what they need beyond it, a user would lack"},
}

// bans is what packages of ours, the tests aside, do not import from anywhere,
// not even through another.
var bans = []struct {
	who  string // names as above, a space between them
	what string // import paths; one that ends with a slash stands for all below it
	why  string
}{
	{"wallet wallet/external events stream display swarm swarm/signin swarm/client swarm/agent swarm/discovery examples/",
		"github.com/nats-io/ " + module + "swarm/internal/engine " + module + "swarm/server",
		"the engine adds 11 MB to a program: the SDK must not"},
	{"wallet events display swarm swarm/discovery", "net/http crypto/tls",
		"they do no HTTP: whoever verifies a receipt or parses a recorded stream links no client and no server"},
	{"wallet wallet/external events stream display swarm swarm/signin swarm/client swarm/agent swarm/discovery swarm/server swarm/internal/engine examples/",
		module + "swarm/swarmtest testing", "test helpers do not belong in programs"},
	{"wallet events swarm", "net", "whoever verifies a bundle needs no network, and links none"},
	{"wallet wallet/external events swarm swarm/signin swarm/discovery", "os/exec", "rules start no processes"},
}

// direct bans what only one package may import itself.
var direct = []struct {
	what string
	by   string
	why  string
}{
	{"github.com/nats-io/", "swarm/internal/engine", "it alone knows subjects, streams and revisions; all others know runs and records"},
	{module + "swarm/internal/engine", "swarm/server", "it alone keeps the journal; all others ask it"},
	{"github.com/ethereum/go-ethereum/", "wallet", "keys, signatures and addresses have one form here, which its own types have not (checksums, v, low s)"},
	{"github.com/spf13/cobra", "cmd/", "libraries have no command line"},
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// list gives every package that ours need to build, by its path. Test files
// are not among what is looked at.
func list(t *testing.T) map[string]*listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,Standard", module+"...")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*listed)
	for dec := json.NewDecoder(out); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = &p
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list: %v\n%s", err, &errs)
	}
	return all
}

// isOne reports whether a path is one of names.
func isOne(path, names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool {
		return path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path, name)
	})
}

// deps gives what a package needs, each with the way to it.
func deps(all map[string]*listed, path string) map[string]string {
	way := make(map[string]string)
	var visit func(path, so string)
	visit = func(path, so string) {
		for _, imp := range all[path].Imports {
			if _, known := way[imp]; known || all[imp] == nil { // "C" and "unsafe" are not listed
				continue
			}
			way[imp] = so + " → " + imp
			visit(imp, way[imp])
		}
	}
	visit(path, path)
	return way
}

// broken gives every import that a table forbids.
func broken(all map[string]*listed) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for path, p := range all {
		name, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		for _, rule := range direct {
			for _, imp := range p.Imports {
				if isOne(imp, rule.what) && !isOne(name, rule.by) {
					say("%s imports %s: only %s may, since %s", name, imp, rule.by, rule.why)
				}
			}
		}
		way := deps(all, path)
		for _, rule := range bans {
			for imp, so := range way {
				if isOne(name, rule.who) && isOne(imp, rule.what) {
					say("%s imports %s (%s): %s", name, imp, so, rule.why)
				}
			}
		}
		i := slices.IndexFunc(imports, func(row struct{ name, allowed, why string }) bool { return isOne(name, row.name) })
		switch {
		case isOne(name, "cmd/"):
			// It wires everything.
		case i < 0:
			say("%s is in no row of the table imports: say there what it may import, and why not more", name)
		default:
			for imp, so := range way {
				if dep, ours := strings.CutPrefix(imp, module); ours && !isOne(dep, imports[i].allowed) {
					say("%s imports %s (%s): %s", name, dep, so, imports[i].why)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// Imports run one way.
func TestImports(t *testing.T) {
	all := list(t)
	for _, row := range imports {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(path string) bool {
			name, ours := strings.CutPrefix(path, module)
			return ours && isOne(name, row.name)
		}) {
			t.Errorf("there is no package %s any more: its row guards nothing", row.name)
		}
	}
	for _, b := range broken(all) {
		t.Error(b)
	}
}

// The tables see what they are for, also through a package in between.
func TestImportsAreSeen(t *testing.T) {
	for _, tt := range []struct{ who, what, says string }{
		{"wallet", module + "events", "depends on nothing"},
		{"events", module + "stream", "pure"},
		{"swarm", "net/http", "no HTTP"},
		{"wallet", "crypto/tls", "no HTTP"},
		{"swarm", "net", "no network"},
		{"swarm/agent", module + "swarm/server", "11 MB"},
		{"swarm/client", "github.com/nats-io/nats.go", "only swarm/internal/engine may"},
		{"swarm/server", module + "swarm/client", "no face"},
		{"swarm/internal/engine", module + "swarm", "bytes under names"},
		{"examples/compose", module + "wallet", "would show nothing"},
		{"examples/watch", module + "swarm/server", "a user would lack"},
		{"display", "github.com/ethereum/go-ethereum/common", "one form here"},
		{"swarm/other", "", "in no row"},
	} {
		all := map[string]*listed{
			module + tt.who:  {ImportPath: module + tt.who, Imports: []string{"between", tt.what}},
			"between":        {ImportPath: "between", Imports: []string{tt.what}},
			tt.what:          {ImportPath: tt.what},
			module + "cmd/x": {ImportPath: module + "cmd/x", Imports: []string{module + tt.who}},
		}
		if found := strings.Join(broken(all), "\n"); !strings.Contains(found, tt.says) || !strings.Contains(found, tt.who+" im") && tt.what != "" {
			t.Errorf("%s importing %q: said %q, want %q", tt.who, tt.what, found, tt.says)
		}
	}
}

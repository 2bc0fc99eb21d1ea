package survey

import (
	"errors"
	"strings"
	"testing"
)

func TestModules(t *testing.T) {
	dir := folder(t, map[string]string{
		"go.mod": `module example.com/a

go 1.24

toolchain go1.24.3

require (
	example.com/b v1.2.3
	example.com/c v0.0.0-20240101000000-abcdefabcdef // indirect
)

require example.com/d v1.0.0

replace example.com/b => ../b

replace example.com/d v1.0.0 => example.com/e v1.1.0

retract v1.0.1 // broken

retract [v1.1.0, v1.1.5]
`,
		"sub/go.mod":    "module example.com/a/sub\n",
		"broken/go.mod": "module example.com/x\nrequire y\n",
		"package.json": `{"name":"web","version":"1.0.0","dependencies":{"b":"^2","a":"1.0.0"},
			"devDependencies":{"t":"latest"},"scripts":{"x":1}}`,
		"odd/package.json":                "{\"name\":5,\"dependencies\":[\"a\"],\"peerDependencies\":{\"p\":\"*\"}}",
		"bad/package.json":                "{,",
		"null/package.json":               "null",
		"requirements.txt":                "# pins\nFlask==2.0.1\nrequests[socks] >=2.8, <3 ; python_version > '3'\nnumpy\n-r more.txt\ngit+https://x/y\nb==1 \\\n    --hash=sha256:00\n",
		"node_modules/a/package.json":     "{}",
		"requirements/README.md":          "no manifest",
		"requirements-dev.txt":            "pytest~=8.0  # tests\r\n",
		"testdata/requirements/go.mod.in": "module no\n",
	})
	r, err := Modules(t.Context(), dir)
	must(t, err)
	equal(t, "go modules", r.GoModules, []GoModule{
		{File: "broken/go.mod", Requires: []Require{}, Replaces: []Replace{}, Retracts: []Retract{},
			Problem: "go.mod:2: usage: require module/path v1.2.3"},
		{File: "go.mod", Module: "example.com/a", Go: "1.24", Toolchain: "go1.24.3", Direct: 2, Indirect: 1,
			Requires: []Require{{"example.com/b", "v1.2.3", false}, {"example.com/c", "v0.0.0-20240101000000-abcdefabcdef", true}, {"example.com/d", "v1.0.0", false}},
			Replaces: []Replace{{Old: "example.com/b", New: "../b"}, {"example.com/d", "v1.0.0", "example.com/e", "v1.1.0"}},
			Retracts: []Retract{{"v1.0.1", "v1.0.1", "broken"}, {"v1.1.0", "v1.1.5", ""}}},
		{File: "sub/go.mod", Module: "example.com/a/sub", Requires: []Require{}, Replaces: []Replace{}, Retracts: []Retract{}},
	})
	equal(t, "node packages", r.Packages, []NodePackage{
		{File: "bad/package.json", Dependencies: []Dependency{}, Problem: "the file is not JSON: invalid character ',' looking for beginning of object key string at byte 2"},
		{File: "null/package.json", Dependencies: []Dependency{}, Problem: "the file is not a JSON object"},
		{File: "odd/package.json", Count: 1, Dependencies: []Dependency{{"p", "*", "peerDependencies"}}, Problem: "dependencies is not a JSON object of texts"},
		{File: "package.json", Name: "web", Version: "1.0.0", Count: 3,
			Dependencies: []Dependency{{"a", "1.0.0", "dependencies"}, {"b", "^2", "dependencies"}, {"t", "latest", "devDependencies"}}},
	})
	equal(t, "requirements", r.Requirements, []RequirementsFile{
		{File: "requirements-dev.txt", Count: 1, Packages: []Pinned{{"pytest", "~=8.0"}}},
		{File: "requirements.txt", Count: 4, Packages: []Pinned{{"Flask", "==2.0.1"}, {"requests", ">=2.8, <3"}, {"numpy", ""}, {"b", "==1"}}, Other: 2},
	})
	want := `broken/go.mod does not parse: go.mod:2: usage: require module/path v1.2.3
go.mod: Go module example.com/a, go 1.24, requires 2 direct and 1 indirect.
  direct: example.com/b v1.2.3, example.com/d v1.0.0
  indirect: example.com/c v0.0.0-20240101000000-abcdefabcdef
  replaces: example.com/b by ../b, example.com/d v1.0.0 by example.com/e v1.1.0
  retracts: v1.0.1 (broken), v1.1.0 to v1.1.5
sub/go.mod: Go module example.com/a/sub, no go version, requires 0 direct and 0 indirect.
`
	if text := r.Text(); !strings.HasPrefix(text, want) || !strings.Contains(text, "\npackage.json: Node package web 1.0.0, 3 dependencies.\n  needs: a 1.0.0, b ^2, t latest (dev)\n") {
		t.Errorf("text:\n%s", text)
	}
	checkText(t, r)
}

func TestNoModules(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": "package a\n"})
	_, err := Modules(t.Context(), dir)
	if want := "no go.mod, package.json or requirements.txt in " + dir; !errors.Is(err, ErrNothing) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// A manifest that can't be read is not no manifest.
	lim := stated
	lim.file = 4
	r, err := findModules(t.Context(), folder(t, map[string]string{"go.mod": "module m\n"}), lim)
	if err != nil || !strings.HasPrefix(r.Text(), "None of the manifests could be read.\n") {
		t.Errorf("%v %s", err, r.Text())
	}
}

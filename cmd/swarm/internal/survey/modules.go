package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A ModuleReport lists what the folder's manifests declare. Each list holds
// at most MaxListed files, the counts beside them count all.
type ModuleReport struct {
	GoModules    []GoModule         `json:"goModules"`
	Packages     []NodePackage      `json:"nodePackages"`
	Requirements []RequirementsFile `json:"requirementsFiles"`
	Count        struct {
		GoModules    int `json:"goModules"`
		Packages     int `json:"nodePackages"`
		Requirements int `json:"requirementsFiles"`
	} `json:"count"`
	Scope Scope `json:"scope"`
}

// A GoModule is one go.mod. With a Problem the other members but File are
// empty: the file does not parse, and half a list would look like a whole one.
type GoModule struct {
	File      string    `json:"file"`
	Module    string    `json:"module"`
	Go        string    `json:"go"` // "" when not declared
	Toolchain string    `json:"toolchain,omitempty"`
	Direct    int       `json:"direct"`
	Indirect  int       `json:"indirect"`
	Requires  []Require `json:"requires"` // in the file's order, at most MaxListed
	Replaces  []Replace `json:"replaces"`
	Retracts  []Retract `json:"retracts"`
	Problem   string    `json:"problem,omitempty"`
}

// A Require is a line of a go.mod's require.
type Require struct {
	Path     string `json:"path"`
	Version  string `json:"version"`
	Indirect bool   `json:"indirect"`
}

// A Replace is a line of a go.mod's replace. An empty OldVersion is every
// version, an empty NewVersion says that New is a folder.
type Replace struct {
	Old        string `json:"old"`
	OldVersion string `json:"oldVersion,omitempty"`
	New        string `json:"new"`
	NewVersion string `json:"newVersion,omitempty"`
}

// A Retract withdraws the versions from Low to High, both included.
type Retract struct {
	Low       string `json:"low"`
	High      string `json:"high"`
	Rationale string `json:"rationale,omitempty"`
}

// A NodePackage is one package.json.
type NodePackage struct {
	File         string       `json:"file"`
	Name         string       `json:"name,omitempty"`
	Version      string       `json:"version,omitempty"`
	Count        int          `json:"count"`        // dependencies of every kind
	Dependencies []Dependency `json:"dependencies"` // by kind, then name; at most MaxListed
	Problem      string       `json:"problem,omitempty"`
}

// A Dependency is an entry of one of package.json's lists.
type Dependency struct {
	Name    string `json:"name"`
	Version string `json:"version"` // a range, a tag or an address, as written
	Kind    string `json:"kind"`    // the list's name: dependencies, devDependencies, …
}

// A RequirementsFile is one requirements*.txt of pip.
type RequirementsFile struct {
	File     string   `json:"file"`
	Count    int      `json:"count"`
	Packages []Pinned `json:"packages"` // in the file's order, at most MaxListed
	// Other counts lines that name no package by name and version: options,
	// other files, addresses, paths.
	Other int `json:"other"`
}

// Pinned is a package with the versions asked for, "" for any.
type Pinned struct {
	Name string `json:"name"`
	Spec string `json:"spec"`
}

// Modules reads every go.mod, package.json and requirements*.txt below dir.
// Where there is none, the error matches [ErrNothing].
//
// Only what the files say is told: nothing is resolved or fetched.
func Modules(ctx context.Context, dir string) (ModuleReport, error) {
	return findModules(ctx, dir, stated)
}

func findModules(ctx context.Context, dir string, lim limits) (ModuleReport, error) {
	r := ModuleReport{GoModules: []GoModule{}, Packages: []NodePackage{}, Requirements: []RequirementsFile{}, Scope: newScope(lim)}
	met := false // also when it could not be read: then "no go.mod" would be false
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		requirements, _ := path.Match("requirements*.txt", e.name)
		if e.name != "go.mod" && e.name != "package.json" && !requirements {
			return nil
		}
		met = true
		src, ok := e.text()
		if !ok {
			return nil
		}
		switch {
		case e.name == "go.mod":
			if r.Count.GoModules++; r.Count.GoModules <= lim.listed {
				r.GoModules = append(r.GoModules, goModule(e.path, src, lim.listed))
			}
		case e.name == "package.json":
			if r.Count.Packages++; r.Count.Packages <= lim.listed {
				r.Packages = append(r.Packages, nodePackage(e.path, src, lim.listed))
			}
		default:
			if r.Count.Requirements++; r.Count.Requirements <= lim.listed {
				r.Requirements = append(r.Requirements, requirementsFile(e.path, src, lim.listed))
			}
		}
		return nil
	})
	if err == nil && !met {
		err = &nothingError{"go.mod, package.json or requirements.txt", dir, r.Scope}
	}
	if err != nil {
		return ModuleReport{}, err
	}
	return r, nil
}

func goModule(file string, src []byte, most int) GoModule {
	m := GoModule{File: Quote(file), Requires: []Require{}, Replaces: []Replace{}, Retracts: []Retract{}}
	f, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		m.Problem = clip(err.Error(), 200)
		return m
	}
	if f.Module != nil {
		m.Module = clip(f.Module.Mod.Path, 200)
	}
	if f.Go != nil {
		m.Go = f.Go.Version
	}
	if f.Toolchain != nil {
		m.Toolchain = f.Toolchain.Name
	}
	for _, q := range f.Require {
		if q.Indirect {
			m.Indirect++
		} else {
			m.Direct++
		}
		if len(m.Requires) < most {
			m.Requires = append(m.Requires, Require{clip(q.Mod.Path, 200), clip(q.Mod.Version, 100), q.Indirect})
		}
	}
	for _, p := range f.Replace[:min(len(f.Replace), most)] {
		m.Replaces = append(m.Replaces, Replace{clip(p.Old.Path, 200), clip(p.Old.Version, 100), clip(p.New.Path, 200), clip(p.New.Version, 100)})
	}
	for _, t := range f.Retract[:min(len(f.Retract), most)] {
		m.Retracts = append(m.Retracts, Retract{clip(t.Low, 100), clip(t.High, 100), clip(t.Rationale, 200)})
	}
	return m
}

var dependencyLists = []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}

func nodePackage(file string, src []byte, most int) NodePackage {
	p := NodePackage{File: Quote(file), Dependencies: []Dependency{}}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil || members == nil {
		p.Problem = problem("the file", "object", err)
		return p
	}
	text := func(name string) (s string) {
		if m, ok := members[name]; ok && json.Unmarshal(m, &s) != nil {
			p.Problem = problem(name, "text", nil)
		}
		return clip(s, 200)
	}
	p.Name, p.Version = text("name"), text("version")
	for _, list := range dependencyLists {
		m, ok := members[list]
		if !ok {
			continue
		}
		var deps map[string]string
		if err := json.Unmarshal(m, &deps); err != nil {
			p.Problem = problem(list, "object of texts", nil)
			continue
		}
		p.Count += len(deps)
		for _, name := range slices.Sorted(maps.Keys(deps)) {
			if len(p.Dependencies) < most {
				p.Dependencies = append(p.Dependencies, Dependency{clip(name, 200), clip(deps[name], 100), list})
			}
		}
	}
	return p
}

func problem(what, want string, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return clip(fmt.Sprintf("%s is not JSON: %v at byte %d", what, syntax, syntax.Offset), 200)
	}
	return fmt.Sprintf("%s is not a JSON %s", what, want)
}

// name, extras, version clauses, environment marker; as PEP 508 has them,
// without its addresses.
var requirement = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*\(?((?:(?:[<>=!~]=?|===)\s*[^\s,;()]+\s*,?\s*)*)\)?\s*(?:;.*)?$`)

func requirementsFile(file string, src []byte, most int) RequirementsFile {
	r := RequirementsFile{File: Quote(file), Packages: []Pinned{}}
	text := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if i := strings.Index(line, " #"); i >= 0 {
			line = strings.TrimSpace(line[:i])
		}
		line, _, _ = strings.Cut(line, " --hash") // options of the line
		if line == "" || line[0] == '#' {
			continue
		}
		m := requirement.FindStringSubmatch(line)
		if m == nil {
			r.Other++
			continue
		}
		if r.Count++; r.Count <= most {
			r.Packages = append(r.Packages, Pinned{clip(m[1], 200), clip(m[2], 100)})
		}
	}
	return r
}

// Text names the first manifests of each kind with their counts, and the
// first of what each asks for.
func (r ModuleReport) Text() string {
	const most = 10
	var b strings.Builder
	mods := r.GoModules[:min(len(r.GoModules), most)]
	packages := r.Packages[:min(len(r.Packages), most)]
	requirements := r.Requirements[:min(len(r.Requirements), most)]
	for _, m := range mods {
		m.text(&b)
	}
	for _, p := range packages {
		p.text(&b)
	}
	for _, f := range requirements {
		f.text(&b)
	}
	all, told := r.Count.GoModules+r.Count.Packages+r.Count.Requirements, len(mods)+len(packages)+len(requirements)
	switch {
	case all == 0:
		b.WriteString("None of the manifests could be read.\n")
	case all > told:
		fmt.Fprintf(&b, "And %s of these kinds.\n", plural(all-told, "more file"))
	}
	r.Scope.text(&b)
	return b.String()
}

func (m GoModule) text(b *strings.Builder) {
	if m.Problem != "" {
		fmt.Fprintf(b, "%s does not parse: %s\n", m.File, m.Problem)
		return
	}
	name, version := m.Module, ", go "+m.Go
	if name == "" {
		name = "without a module path"
	}
	if m.Go == "" {
		version = ", no go version"
	}
	fmt.Fprintf(b, "%s: Go module %s%s, requires %s direct and %s indirect.\n", m.File, name, version, group(m.Direct), group(m.Indirect))
	var direct, indirect, replaces, retracts []string
	for _, q := range m.Requires {
		if q.Indirect {
			indirect = append(indirect, q.Path+" "+q.Version)
		} else {
			direct = append(direct, q.Path+" "+q.Version)
		}
	}
	for _, p := range m.Replaces {
		replaces = append(replaces, strings.TrimSpace(p.Old+" "+p.OldVersion)+" by "+strings.TrimSpace(p.New+" "+p.NewVersion))
	}
	for _, t := range m.Retracts {
		versions := t.Low
		if t.High != t.Low {
			versions += " to " + t.High
		}
		if t.Rationale != "" {
			versions += " (" + t.Rationale + ")"
		}
		retracts = append(retracts, versions)
	}
	writeSome(b, "direct", direct, m.Direct)
	writeSome(b, "indirect", indirect, m.Indirect)
	writeSome(b, "replaces", replaces, len(replaces))
	writeSome(b, "retracts", retracts, len(retracts))
}

func (p NodePackage) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s: Node package", p.File)
	if p.Name != "" {
		fmt.Fprintf(b, " %s %s", p.Name, p.Version)
	}
	fmt.Fprintf(b, ", %s.\n", plural(p.Count, "dependency"))
	var deps []string
	for _, d := range p.Dependencies {
		dep := d.Name + " " + d.Version
		if d.Kind != dependencyLists[0] {
			dep += " (" + strings.TrimSuffix(d.Kind, "Dependencies") + ")"
		}
		deps = append(deps, dep)
	}
	writeSome(b, "needs", deps, p.Count)
	if p.Problem != "" {
		fmt.Fprintf(b, "  problem: %s\n", p.Problem)
	}
}

func (f RequirementsFile) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s for pip", f.File, plural(f.Count, "package"))
	if f.Other > 0 {
		fmt.Fprintf(b, ", and %s of another form", plural(f.Other, "line"))
	}
	b.WriteString(".\n")
	var pins []string
	for _, p := range f.Packages {
		pins = append(pins, strings.TrimSpace(p.Name+" "+p.Spec))
	}
	writeSome(b, "needs", pins, f.Count)
}

// writeSome writes an indented line with the first of a list.
func writeSome(b *strings.Builder, title string, list []string, count int) {
	const most = MaxListed
	if len(list) == 0 {
		return
	}
	n := min(len(list), most)
	fmt.Fprintf(b, "  %s: %s", title, strings.Join(list[:n], ", "))
	if count > n {
		fmt.Fprintf(b, " and %s more", group(count-n))
	}
	b.WriteByte('\n')
}

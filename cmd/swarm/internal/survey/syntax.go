package survey

// A syntax says where comments begin and end in a language, and what they
// can't begin in. It is a reader's knowledge of a language, not a compiler's:
// regular expression literals, here-documents, string interpolation and
// languages within languages are not seen.
type syntax struct {
	line   []opener
	block  []block
	quotes []quote

	starts *[256]bool // first bytes of all of the above
}

type opener struct {
	text string
	// where the text opens a comment: anywhere, after a blank (as in shell,
	// where $# is no comment), or first on its line.
	where place
}

type place uint8

const (
	anywhere place = iota
	afterBlank
	firstOnLine
)

type block struct {
	open, close string
	nests       bool
	column0     bool // open and close count only at the very start of a line
}

type quote struct {
	open, close string
	escape      bool // a backslash takes the next byte with it
	lines       bool // may run over several lines
	char        bool // one character: 'x' or '\n'; a lone ' is something else
}

func lines(texts ...string) (l []opener) {
	for _, t := range texts {
		l = append(l, opener{text: t})
	}
	return l
}

var (
	double  = quote{open: `"`, close: `"`, escape: true}
	single  = quote{open: `'`, close: `'`, escape: true}
	char    = quote{open: `'`, close: `'`, escape: true, char: true}
	raw     = quote{open: "`", close: "`", lines: true}
	tmpl    = quote{open: "`", close: "`", lines: true, escape: true}
	triple  = quote{open: `"""`, close: `"""`, escape: true, lines: true}
	triple1 = quote{open: `'''`, close: `'''`, escape: true, lines: true}
	dlines  = quote{open: `"`, close: `"`, escape: true, lines: true}
	slines  = quote{open: `'`, close: `'`, lines: true}

	starSlash = block{open: "/*", close: "*/"}
	nested    = block{open: "/*", close: "*/", nests: true}
	angle     = block{open: "<!--", close: "-->"}
	hashBlank = []opener{{"#", afterBlank}}

	// Longer openers stand before the shorter ones they begin with.
	cLike    = &syntax{line: lines("//"), block: []block{starSlash}, quotes: []quote{double, char}}
	goLike   = &syntax{line: lines("//"), block: []block{starSlash}, quotes: []quote{double, char, raw}}
	jsLike   = &syntax{line: lines("//"), block: []block{starSlash}, quotes: []quote{double, single, tmpl}}
	jvmLike  = &syntax{line: lines("//"), block: []block{starSlash}, quotes: []quote{triple, double, char}}
	nestLike = &syntax{line: lines("//"), block: []block{nested}, quotes: []quote{triple, double, char}}
	rust     = &syntax{line: lines("//"), block: []block{nested}, quotes: []quote{dlines, char}}
	slashes  = &syntax{line: lines("//"), quotes: []quote{double, char}}
	php      = &syntax{line: lines("//", "#"), block: []block{starSlash}, quotes: []quote{double, single}}
	scss     = &syntax{line: []opener{{"//", afterBlank}}, block: []block{starSlash}, quotes: []quote{double, single}}
	css      = &syntax{block: []block{starSlash}, quotes: []quote{double, single}}
	python   = &syntax{line: lines("#"), quotes: []quote{triple, triple1, double, single}}
	ruby     = &syntax{line: hashBlank, block: []block{{open: "=begin", close: "=end", column0: true}}, quotes: []quote{double, single}}
	perl     = &syntax{line: hashBlank, block: []block{{open: "=", close: "=cut", column0: true}}, quotes: []quote{double, single}}
	julia    = &syntax{line: lines("#"), block: []block{{open: "#=", close: "=#", nests: true}}, quotes: []quote{triple, double, char}}
	hashes   = &syntax{line: lines("#"), quotes: []quote{double, single}}
	shell    = &syntax{line: hashBlank, quotes: []quote{dlines, slines}}
	yaml     = &syntax{line: hashBlank, quotes: []quote{double, single}}
	hashOnly = &syntax{line: hashBlank}
	hcl      = &syntax{line: lines("//", "#"), block: []block{starSlash}, quotes: []quote{double}}
	ini      = &syntax{line: []opener{{"#", firstOnLine}, {";", firstOnLine}}}
	sql      = &syntax{line: lines("--"), block: []block{starSlash}, quotes: []quote{slines, {open: `"`, close: `"`, lines: true}}}
	lua      = &syntax{line: lines("--"), block: []block{{open: "--[[", close: "]]"}}, quotes: []quote{{open: "[[", close: "]]", lines: true}, double, single}}
	haskell  = &syntax{line: lines("--"), block: []block{{open: "{-", close: "-}", nests: true}}, quotes: []quote{double, char}}
	ml       = &syntax{block: []block{{open: "(*", close: "*)", nests: true}}, quotes: []quote{double, char}}
	fsharp   = &syntax{line: lines("//"), block: []block{{open: "(*", close: "*)", nests: true}}, quotes: []quote{triple, double, char}}
	pascal   = &syntax{line: lines("//"), block: []block{{open: "(*", close: "*)"}, {open: "{", close: "}"}}, quotes: []quote{{open: "'", close: "'"}}}
	percent  = &syntax{line: lines("%")}
	erlang   = &syntax{line: lines("%"), quotes: []quote{double, single}}
	prolog   = &syntax{line: lines("%"), block: []block{starSlash}, quotes: []quote{double, single}}
	lisp     = &syntax{line: lines(";"), block: []block{{open: "#|", close: "|#", nests: true}}, quotes: []quote{dlines}}
	wat      = &syntax{line: lines(";;"), block: []block{{open: "(;", close: ";)", nests: true}}, quotes: []quote{double}}
	asm      = &syntax{line: lines("//", ";", "# "), block: []block{starSlash}, quotes: []quote{double}}
	markup   = &syntax{block: []block{angle}}
	mixed    = &syntax{block: []block{angle, starSlash}}
	vim      = &syntax{line: []opener{{`"`, firstOnLine}}}
	posh     = &syntax{line: hashBlank, block: []block{{open: "<#", close: "#>"}}, quotes: []quote{double, single}}
	batch    = &syntax{line: []opener{{"REM ", firstOnLine}, {"rem ", firstOnLine}, {"@rem ", firstOnLine}, {"::", firstOnLine}}}
	fortran  = &syntax{line: lines("!"), quotes: []quote{double, single}}
	dashes   = &syntax{line: lines("--"), quotes: []quote{double}}
	nix      = &syntax{line: lines("#"), block: []block{starSlash}, quotes: []quote{{open: "''", close: "''", lines: true}, double}}
	nim      = &syntax{line: lines("#"), block: []block{{open: "#[", close: "]#", nests: true}}, quotes: []quote{triple, double, char}}
	coffee   = &syntax{line: lines("#"), block: []block{{open: "###", close: "###"}}, quotes: []quote{triple, triple1, double, single}}
	cmake    = &syntax{line: lines("#"), block: []block{{open: "#[[", close: "]]"}}, quotes: []quote{dlines}}
	matlab   = &syntax{line: lines("%"), block: []block{{open: "%{", close: "%}"}}}
	thrift   = &syntax{line: lines("//", "#"), block: []block{starSlash}, quotes: []quote{double, single}}
	basic    = &syntax{line: lines("'"), quotes: []quote{{open: `"`, close: `"`}}}
	tcl      = &syntax{line: []opener{{"#", firstOnLine}}}
)

// syntaxes is the table of the languages whose comments are counted, by
// linguist's names. A language that is not here has no comments that we know:
// its lines are code or blank.
var syntaxes = func() map[string]*syntax {
	m := map[string]*syntax{}
	for s, names := range map[*syntax][]string{
		cLike:    {"C", "C++", "Objective-C", "Objective-C++", "C#", "Cuda", "OpenCL", "GLSL", "HLSL", "Metal", "Protocol Buffer", "Solidity", "AIDL", "Vala", "SystemVerilog", "Verilog", "Yacc", "Lex", "Linker Script"},
		goLike:   {"Go"},
		jsLike:   {"JavaScript", "TypeScript", "TSX", "JSON5", "JSON with Comments", "Jsonnet", "CUE", "ActionScript"},
		jvmLike:  {"Java", "Groovy", "Gradle", "Apex"},
		nestLike: {"Kotlin", "Scala", "Swift", "Dart", "D"},
		rust:     {"Rust"},
		slashes:  {"Zig", "Go Module", "Go Workspace"},
		php:      {"PHP", "Hack"},
		scss:     {"SCSS", "Less", "Sass", "Stylus"},
		css:      {"CSS"},
		python:   {"Python", "Starlark", "Cython", "GDScript", "Snakemake", "Mojo"},
		ruby:     {"Ruby", "Crystal"},
		perl:     {"Perl", "Raku"},
		julia:    {"Julia"},
		hashes:   {"R", "Elixir", "TOML", "GraphQL", "Awk", "Just", "Meson", "GDB", "Puppet", "Smithy", "Nginx"},
		shell:    {"Shell", "fish", "Nushell"},
		yaml:     {"YAML"},
		hashOnly: {"Makefile", "Dockerfile", "Ignore List", "Git Attributes", "CODEOWNERS", "ApacheConf", "Dotenv", "Gnuplot", "Ninja", "Pip Requirements"},
		hcl:      {"HCL", "Terraform Template"},
		ini:      {"INI", "EditorConfig", "Git Config", "Java Properties"},
		sql:      {"SQL", "PLpgSQL", "PLSQL", "TSQL", "SQLPL"},
		lua:      {"Lua", "Luau", "MoonScript"},
		haskell:  {"Haskell", "Elm", "PureScript", "Idris", "Agda", "Dhall"},
		ml:       {"OCaml", "Standard ML", "Rocq Prover"},
		fsharp:   {"F#"},
		pascal:   {"Pascal"},
		percent:  {"TeX", "BibTeX", "BibTeX Style"},
		erlang:   {"Erlang"},
		prolog:   {"Prolog"},
		lisp:     {"Common Lisp", "Scheme", "Racket", "Emacs Lisp", "Clojure", "edn", "Hy", "Janet", "Fennel"},
		wat:      {"WebAssembly"},
		asm:      {"Assembly", "Unix Assembly", "Motorola 68K Assembly"},
		markup:   {"HTML", "XML", "SVG", "XSLT", "XML Property List", "Maven POM", "Markdown"},
		mixed:    {"Vue", "Svelte", "Astro"},
		vim:      {"Vim Script"},
		posh:     {"PowerShell"},
		batch:    {"Batchfile"},
		fortran:  {"Fortran", "Fortran Free Form"},
		dashes:   {"Ada", "VHDL", "AppleScript"},
		nix:      {"Nix"},
		nim:      {"Nim"},
		coffee:   {"CoffeeScript"},
		cmake:    {"CMake"},
		matlab:   {"MATLAB"},
		thrift:   {"Thrift"},
		basic:    {"Visual Basic .NET", "VBScript", "VBA"},
		tcl:      {"Tcl"},
	} {
		s.starts = new([256]bool)
		for _, o := range s.line {
			s.starts[o.text[0]] = true
		}
		for _, o := range s.block {
			s.starts[o.open[0]] = true
		}
		for _, o := range s.quotes {
			s.starts[o.open[0]] = true
		}
		for _, name := range names {
			m[name] = s
		}
	}
	return m
}()

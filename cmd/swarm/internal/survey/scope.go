package survey

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of every survey. They bound time and memory on hostile or huge
// folders; a [Scope] says which of them bit.
const (
	MaxEntries    = 200_000 // files and folders looked at in one walk
	MaxDepth      = 100     // folders below the one asked for
	MaxFileBytes  = 8 << 20 // bytes of one file read as text
	MaxReadBytes  = 1 << 30 // bytes read in one survey
	MaxTableBytes = 64 << 20
	MaxListed     = 100 // entries of one list in a report
)

// limits are the constants above, in a struct so that tests can meet them
// with small folders.
type limits struct {
	entries, depth, listed int
	file, read, table      int64
}

var stated = limits{
	entries: MaxEntries, depth: MaxDepth, listed: MaxListed,
	file: MaxFileBytes, read: MaxReadBytes, table: MaxTableBytes,
}

// SkippedFolders are the names of folders that no survey enters, beside every
// folder whose name starts with a dot (.git, .hg, .svn, .venv and so on).
// They hold copies of other people's work or what a tool left there.
func SkippedFolders() []string {
	return []string{"CVS", "Godeps", "__pycache__", "_darcs", "bower_components", "node_modules", "vendor"}
}

var skippedFolders = SkippedFolders()

func skipFolder(name string) bool {
	return name[0] == '.' || slices.Contains(skippedFolders, name)
}

// ErrNothing is matched by the error of a survey that found nothing to work
// on; the error itself says what was missing and where, as in "no CSV file in
// /srv/data". Where nothing found is an answer (no marks, no licence), there
// is a report instead.
var ErrNothing = errors.New("nothing to survey")

type nothingError struct {
	what, dir string
	scope     Scope
}

func (e *nothingError) Is(target error) bool { return target == ErrNothing }

func (e *nothingError) Error() string {
	s := fmt.Sprintf("no %s in %s", e.what, Quote(e.dir))
	// The walk may have missed some; without this the error would claim more
	// than we know.
	if gaps := e.scope.gaps(); gaps != "" {
		s += " (" + gaps + ")"
	}
	return s
}

// A List is the beginning of a list of paths in the order they were met.
type List struct {
	Count int      `json:"count"` // of all
	First []string `json:"first"` // at most MaxListed of them, never nil
}

func (l *List) add(path string, max int) {
	l.Count++
	if len(l.First) < max {
		l.First = append(l.First, Quote(path))
	}
}

// String names the first few: "a, b, c and 4 more".
func (l List) String() string {
	const few = 5
	n := min(few, len(l.First))
	s := strings.Join(l.First[:n], ", ")
	if l.Count > n {
		s += fmt.Sprintf(" and %s more", group(l.Count-n))
	}
	return s
}

// A Scope says what a report rests on: what was met on the walk and what was
// left out, and why.
type Scope struct {
	Folders    int   `json:"folders"`    // entered, the one asked for included
	Files      int   `json:"files"`      // regular files met
	Bytes      int64 `json:"bytes"`      // their sizes added up
	Read       int   `json:"read"`       // text files read, or as much of them as the survey asks for
	Binary     int   `json:"binary"`     // files opened and found not to be text
	Symlinks   int   `json:"symlinks"`   // met, not followed
	Special    int   `json:"special"`    // pipes, sockets, devices: not opened
	Skipped    List  `json:"skipped"`    // folders not entered by their names
	TooLarge   List  `json:"tooLarge"`   // files over the limit, not read
	Unreadable List  `json:"unreadable"` // files and folders that gave an error
	TooDeep    List  `json:"tooDeep"`    // folders below MaxDepth, not entered
	// Stopped is true when the walk ended at MaxEntries: there is more in the
	// folder than the report knows of, and which part it knows depends on
	// the order in which the system lists a folder.
	Stopped bool `json:"stopped"`
	// Unread counts files left unread because MaxReadBytes had been read.
	Unread int `json:"unread"`

	bytesRead int64
	lim       limits
}

func newScope(lim limits) Scope {
	s := Scope{lim: lim}
	for _, l := range []*List{&s.Skipped, &s.TooLarge, &s.Unreadable, &s.TooDeep} {
		l.First = []string{}
	}
	return s
}

// Partial is true when a limit or an error kept something of the folder from
// the survey. Folders skipped by name, links and binary files are left out by
// rule, and do not count.
func (s *Scope) Partial() bool {
	return s.Stopped || s.Unread > 0 || s.TooLarge.Count > 0 || s.Unreadable.Count > 0 || s.TooDeep.Count > 0
}

// gaps tells in half a sentence what was not looked at, "" when all was.
func (s *Scope) gaps() string {
	var g []string
	if s.Stopped {
		g = append(g, fmt.Sprintf("stopped after %s files and folders, there are more", group(s.lim.entries)))
	}
	if s.TooDeep.Count > 0 {
		g = append(g, fmt.Sprintf("not entered, deeper than %d folders: %s", s.lim.depth, s.TooDeep))
	}
	if s.Unreadable.Count > 0 {
		g = append(g, "not readable: "+s.Unreadable.String())
	}
	if s.TooLarge.Count > 0 {
		g = append(g, "too large, counted but not read: "+s.TooLarge.String())
	}
	if s.Unread > 0 {
		g = append(g, fmt.Sprintf("%s not read after the first %s", plural(s.Unread, "file"), size(s.lim.read)))
	}
	if s.Skipped.Count > 0 {
		g = append(g, "not entered: "+s.Skipped.String())
	}
	return strings.Join(g, "; ")
}

// text is the tail of every report's Text.
func (s *Scope) text(b *strings.Builder) {
	fmt.Fprintf(b, "Looked at %s (%s) in %s, read %s.", plural(s.Files, "file"), size(s.Bytes), plural(s.Folders, "folder"), group(s.Read))
	var out []string
	if s.Binary > 0 {
		out = append(out, plural(s.Binary, "binary file"))
	}
	if s.Symlinks > 0 {
		out = append(out, plural(s.Symlinks, "symbolic link"))
	}
	if s.Special > 0 {
		out = append(out, plural(s.Special, "pipe, socket or device"))
	}
	if len(out) > 0 {
		fmt.Fprintf(b, " Left out: %s.", strings.Join(out, ", "))
	}
	b.WriteByte('\n')
	if gaps := s.gaps(); gaps != "" {
		b.WriteString(strings.ToUpper(gaps[:1]) + gaps[1:] + ".\n")
	}
}

// Quote gives s as it stands where that is safe and clear, else as a Go
// string literal. The two can't be confused: s that begins with a quote is
// quoted.
func Quote(s string) string {
	odd := s == "" || !utf8.ValidString(s) || s[0] == '"' || s != strings.TrimSpace(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
	if odd {
		return strconv.Quote(s)
	}
	return s
}

// clip cuts s after max characters, with "…" to show it, and quotes it. Runs
// of white space become one blank.
func clip(s string, max int) string {
	// No need to fold the white space of a megabyte to show a line of it.
	if len(s) > 16*max {
		s = s[:16*max]
	}
	s = strings.Join(strings.Fields(s), " ")
	n := 0
	for i := range s {
		if n == max {
			return Quote(s[:i] + "…")
		}
		n++
	}
	if s == "" {
		return ""
	}
	return Quote(s)
}

// group writes 1234567 as 1,234,567.
func group[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes "1 file", "1,200 files", "3 entries".
func plural[T int | int64](n T, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = noun[:len(noun)-1] + "ies"
	case strings.HasPrefix(noun, "pipe,"):
		noun = "pipes, sockets or devices"
	default:
		noun += "s"
	}
	return group(n) + " " + noun
}

// size writes bytes in binary units with at most one decimal.
func size(n int64) string {
	const k = 1024
	switch {
	case n < k:
		return plural(n, "byte")
	case n < k*k:
		return fmt.Sprintf("%.4g KiB", float64(n*10/k)/10)
	case n < k*k*k:
		return fmt.Sprintf("%.5g MiB", float64(n*10/(k*k))/10)
	}
	return group(n*10/(k*k*k)/10) + " GiB"
}

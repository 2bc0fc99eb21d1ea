package survey

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// folder makes a folder of files: paths to contents, a path that ends in a
// slash being an empty folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(at, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte(text), 0o644))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

type report interface{ Text() string }

// surveys are all of them, for what holds of every one.
var surveys = map[string]func(context.Context, string, limits) (report, Scope, error){
	"Lines": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := countLines(ctx, dir, lim)
		return r, r.Scope, err
	},
	"Modules": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := findModules(ctx, dir, lim)
		return r, r.Scope, err
	},
	"Licences": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := findLicences(ctx, dir, lim)
		return r, r.Scope, err
	},
	"Marks": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := findMarks(ctx, dir, lim)
		return r, r.Scope, err
	},
	"Prose": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := readProse(ctx, dir, lim)
		return r, r.Scope, err
	},
	"Tables": func(ctx context.Context, dir string, lim limits) (report, Scope, error) {
		r, err := readTables(ctx, dir, lim)
		return r, r.Scope, err
	},
}

// checkText holds of every report's text: lines that a terminal can show.
func checkText(t *testing.T, r report) {
	t.Helper()
	text := r.Text()
	if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") {
		t.Errorf("text is not lines of UTF-8: %q", text)
	}
	for _, c := range text {
		if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0) {
			t.Errorf("control character %q in %q", c, text)
		}
	}
}

func TestEverySurveyOfEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	for name, survey := range surveys {
		r, _, err := survey(t.Context(), dir, stated)
		switch name {
		case "Modules", "Prose", "Tables":
			if !errors.Is(err, ErrNothing) {
				t.Errorf("%s: %v, want ErrNothing", name, err)
			}
		default:
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if text := r.Text(); !strings.Contains(text, "Looked at 0 files (0 bytes) in 1 folder, read 0.") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

func TestEverySurveyRefuses(t *testing.T) {
	dir := folder(t, map[string]string{"file": "x"})
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user went away")
	cancel(cause)
	for name, survey := range surveys {
		if _, _, err := survey(t.Context(), filepath.Join(dir, "none"), stated); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
			t.Errorf("%s of no folder: %v", name, err)
		}
		if _, _, err := survey(t.Context(), filepath.Join(dir, "file"), stated); err == nil || !strings.HasSuffix(err.Error(), "file is not a folder") {
			t.Errorf("%s of a file: %v", name, err)
		}
		if _, _, err := survey(ended, dir, stated); !errors.Is(err, cause) {
			t.Errorf("%s when the context has ended: %v", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	files := map[string]string{"z/z/z.csv": "a,b\n1,2\n"}
	for i := range 9 {
		files[fmt.Sprintf("f%d.csv", i)] = "a,b\n1,2\n" // 8 bytes each
	}
	files["large.csv"] = strings.Repeat("1,2\n", 100)
	dir := folder(t, files)
	tests := []struct {
		name  string
		limit func(*limits)
		want  string // in the report's text
		check func(Scope) bool
	}{
		{"entries", func(l *limits) { l.entries = 4 }, "Stopped after 4 files and folders, there are more",
			func(s Scope) bool { return s.Stopped && s.Files <= 4 }},
		{"just enough entries", func(l *limits) { l.entries = 13 }, "Looked at 11 files",
			func(s Scope) bool { return !s.Stopped && !s.Partial() && s.Files == 11 }},
		{"depth", func(l *limits) { l.depth = 1 }, "Not entered, deeper than 1 folders: z/z/",
			func(s Scope) bool { return s.TooDeep.Count == 1 && s.Files == 10 }},
		{"file", func(l *limits) { l.file, l.table = 399, 399 }, "Too large, counted but not read: large.csv",
			func(s Scope) bool { return s.TooLarge.Count == 1 && s.Files == 11 && s.Read == 10 }},
		{"read", func(l *limits) { l.read = 24 }, "8 files not read after the first 24 bytes",
			func(s Scope) bool { return s.Unread == 8 && s.Read == 3 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			lim := stated
			test.limit(&lim)
			for _, name := range []string{"Lines", "Tables"} {
				r, s, err := surveys[name](t.Context(), dir, lim)
				must(t, err)
				if !test.check(s) || !strings.Contains(r.Text(), test.want) {
					t.Errorf("%s: %+v\n%s", name, s, r.Text())
				}
			}
		})
	}
}

func TestListsAreCutAndCountsAreNot(t *testing.T) {
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("%d/go.mod", i)] = "module m\n"
		files[fmt.Sprintf("%d/LICENSE", i)] = "Mine.\n"
		files[fmt.Sprintf("%d/a.go", i)] = "// TODO one\n// TODO two\n"
	}
	dir := folder(t, files)
	lim := stated
	lim.listed = 3
	m, err := findModules(t.Context(), dir, lim)
	must(t, err)
	l, err := findLicences(t.Context(), dir, lim)
	must(t, err)
	k, err := findMarks(t.Context(), dir, lim)
	must(t, err)
	equal(t, "listed", []int{len(m.GoModules), len(l.Files), len(k.Marks)}, []int{3, 3, 3})
	equal(t, "counted", []int{m.Count.GoModules, l.Count, k.Counts[0].Count}, []int{5, 5, 10})
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := folder(t, map[string]string{"a.csv": "x\n1\n", "b.csv": "x\n1\n", "shut/c.csv": "x\n1\n"})
	must(t, os.Chmod(filepath.Join(dir, "b.csv"), 0))
	must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "shut"), 0o700) })
	for _, name := range []string{"Lines", "Tables"} {
		r, s, err := surveys[name](t.Context(), dir, stated)
		must(t, err)
		equal(t, "unreadable", s.Unreadable, List{2, []string{"b.csv", "shut/"}})
		if s.Files != 2 || s.Read != 1 || !strings.Contains(r.Text(), "Not readable: b.csv, shut/.") {
			t.Errorf("%s: %+v\n%s", name, s, r.Text())
		}
	}
	if _, _, err := surveys["Tables"](t.Context(), filepath.Join(dir, "shut"), stated); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder that can't be read: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "a.csv")))
	must(t, os.Remove(filepath.Join(dir, "b.csv")))
	_, err := Tables(t.Context(), dir)
	if !errors.Is(err, ErrNothing) || !strings.HasSuffix(err.Error(), "(not readable: shut/)") {
		t.Errorf("nothing found, but not everything seen: %v", err)
	}
}

func TestFolderNamedByLink(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": "package a\n"})
	link := filepath.Join(t.TempDir(), "link to it")
	must(t, os.Symlink(dir, link))
	r, err := Lines(t.Context(), link)
	must(t, err)
	equal(t, "total", r.Total, Tally{Lines: 1, Code: 1})
}

func TestQuote(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain name.go", "plain name.go"},
		{"größe/日本.md", "größe/日本.md"},
		{"", `""`},
		{" a", `" a"`},
		{`"a"`, `"\"a\""`},
		{`a\n`, `a\n`},
		{"a\nb", `"a\nb"`},
		{"a\x1b[2Jb", `"a\x1b[2Jb"`},
		{"a\xff", `"a\xff"`},
		{"a\u202eb", `"a\u202eb"`},
	}
	for _, test := range tests {
		if got := Quote(test.in); got != test.want {
			t.Errorf("Quote(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}

func TestNumbersInWords(t *testing.T) {
	got := []string{group(0), group(999), group(1000), group(-1234567), plural(1, "entry"), plural(2, "entry"),
		plural(1, "file"), plural(1200, "file"), size(0), size(1023), size(1536), size(8 << 20), size(3 << 30)}
	want := []string{"0", "999", "1,000", "-1,234,567", "1 entry", "2 entries", "1 file", "1,200 files",
		"0 bytes", "1,023 bytes", "1.5 KiB", "8 MiB", "3 GiB"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

//go:build unix

package survey

// Pipes, and names that other systems refuse.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// everything is a folder with something for every survey, and every oddity
// that a test can make.
func everything(t *testing.T) string {
	outside := folder(t, map[string]string{"secret.go": "package secret // TODO: outside\n", "out.csv": "a,b\n1,2\n"})
	dir := folder(t, map[string]string{
		"a folder/main.go":       "package main\n",
		"go.mod":                 "module example.com/a\n",
		"sub/go.mod":             "module example.com/b\n",
		"sub/.git/config":        "[core]\n",
		"README.md":              "# Title\n\nSome text.\n",
		"LICENSE":                "No known text.\n",
		"t.csv":                  "a,b\n1,2\n",
		"empty.go":               "",
		"bin.dat":                "MZ\x00\x00",
		"new\nline.go":           "package x\n",
		"bad\xffutf8.go":         "package x\n",
		"esc\x1b[31m.md":         "# Red\n",
		"\"quoted\".csv":         "x\n1\n",
		"node_modules/p/p.js":    "let x\n",
		"vendor/v/v.go":          "package v\n",
		".github/workflow.yml":   "on: push\n",
		".dotfile.txt":           "Dots.\n",
		"deep/a/b/c/d/e/f/go.md": "deep\n",
	})
	must(t, os.Symlink("..", filepath.Join(dir, "sub", "loop")))
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink(filepath.Join(outside, "out.csv"), filepath.Join(dir, "out.csv")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling.go")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o600))
	return dir
}

func TestEverySurveyOfOddFolder(t *testing.T) {
	dir := everything(t)
	for name, survey := range surveys {
		t.Run(name, func(t *testing.T) {
			r, s, err := survey(t.Context(), dir, stated)
			must(t, err)
			if s.Files != 14 || s.Symlinks != 4 || s.Special != 1 {
				t.Errorf("files %d, symlinks %d, special %d; want 14, 4, 1", s.Files, s.Symlinks, s.Special)
			}
			equal(t, "skipped", s.Skipped, List{4, []string{".github/", "node_modules/", "sub/.git/", "vendor/"}})
			if s.Partial() {
				t.Errorf("partial: %s", s.gaps())
			}
			checkText(t, r)

			again, _, err := survey(t.Context(), dir, stated)
			must(t, err)
			one, err := json.Marshal(r)
			must(t, err)
			two, err := json.Marshal(again)
			must(t, err)
			if string(one) != string(two) {
				t.Error("a second survey of the same folder gave another report")
			}
			if null := regexp.MustCompile(`"\w+":null`).FindAllString(string(one), -1); slices.ContainsFunc(null, func(m string) bool {
				return m != `"readingEase":null` && m != `"numbers":null`
			}) {
				t.Errorf("a list is null: %s", null)
			}
			if strings.Contains(string(one), "outside") || strings.Contains(r.Text(), "out.csv") {
				t.Errorf("the survey left the folder by a link: %s", one)
			}
		})
	}
}

// A pipe or a link put in a file's place between the walk's look and its
// opening must neither hold the survey nor lead it out.
func TestFileReplacedDuringWalk(t *testing.T) {
	outside := folder(t, map[string]string{"x": "outside"})
	for name, put := range map[string]func(string) error{
		"pipe":    func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"link":    func(at string) error { return os.Symlink(filepath.Join(outside, "x"), at) },
		"nothing": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a": "inside"})
			s := newScope(stated)
			err := walk(t.Context(), dir, &s, func(e *entry) error {
				at := filepath.Join(dir, "a")
				must(t, os.Remove(at))
				must(t, put(at))
				if b, ok := e.text(); ok {
					t.Errorf("read %q", b)
				}
				return nil
			})
			must(t, err)
			equal(t, "unreadable", s.Unreadable, List{1, []string{"a"}})
		})
	}
}

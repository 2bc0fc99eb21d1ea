package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmseal/swarmseal/display"
)

// clean makes one line of a foreign text, without what a terminal would obey.
func clean(s string) string { return display.Clean(s) }

// printText prints a foreign text of many lines for people. It ends with a
// line feed, whether the text has one or not.
func printText(w io.Writer, s string) error {
	if s = display.CleanText(s); s == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, strings.TrimSuffix(s, "\n"))
	return err
}

// printJSON prints v on one line, without HTML's escapes.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// isTerminal reports whether w or r is a terminal.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// maxTextBytes bounds a text that is read from stdin: a request has at most
// 10 MiB, and quoting makes a text longer.
const maxTextBytes = 10 << 20

// textArg gives a text from the arguments, joined by spaces, or from stdin
// where they are "-".
func textArg(cmd *cobra.Command, what string, args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 1 && args[0] == "-" {
		data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxTextBytes+1))
		switch {
		case err != nil:
			return "", failedf("stdin: %w", err)
		case len(data) > maxTextBytes:
			return "", failedf("stdin has more than %d bytes, the most that a %s may have", maxTextBytes, what)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("the %s is empty", what)
	}
	if !utf8.ValidString(text) {
		return "", usagef("the %s is not UTF-8 text", what)
	}
	return text, nil
}

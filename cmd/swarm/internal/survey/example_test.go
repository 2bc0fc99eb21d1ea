package survey_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmseal/swarmseal/cmd/swarm/internal/survey"
)

func Example() {
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("// Package main runs.\npackage main\n\nfunc main() {}\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	r, err := survey.Lines(ctx, dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Text())

	_, err = survey.Tables(ctx, dir)
	fmt.Println(errors.Is(err, survey.ErrNothing))
	// Output:
	// 4 lines in 1 file: 2 code, 1 comment, 1 blank.
	//   Go                         4 lines in      1 files: code         2  comment        1  blank        1
	// Looked at 1 file (51 bytes) in 1 folder, read 1.
	// true
}

func ExampleWords() {
	s := survey.Words("Agents find agents, and delegate.\n")
	fmt.Print(s.Text())
	// Output:
	// 5 words, 4 different, 34 characters, 1 line; most frequent: agents 2, delegate 1, find 1.
}

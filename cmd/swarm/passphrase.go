package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmseal/swarmseal/wallet"
)

// maxPassphraseBytes bounds a passphrase file.
const maxPassphraseBytes = 4 << 10

// passphrase is where the passphrase of a key file comes from: never from an
// argument, which every process of the machine can see.
type passphrase struct{ file string }

func (p *passphrase) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "passphrase-file", "", "`FILE` (mode 0600 or stricter) with the key file's passphrase on its first line")
}

// given gives the passphrase of --passphrase-file, else SWARM_PASSPHRASE; ok is
// false where neither is set.
func (p *passphrase) given() (text string, ok bool, err error) {
	if p.file == "" {
		text, ok = os.LookupEnv("SWARM_PASSPHRASE")
		return text, ok, nil
	}
	text, err = readPassphrase(p.file)
	return text, err == nil, err
}

// readPassphrase gives the first line of a file that nobody else may open.
func readPassphrase(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", failedf("passphrase file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", failedf("passphrase file: %w", err)
	}
	// Windows has no such modes.
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", failedf("passphrase file %s has mode %04o, so others may open it: chmod 600 it", name, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPassphraseBytes+1))
	switch {
	case err != nil:
		return "", failedf("passphrase file: %w", err)
	case len(data) > maxPassphraseBytes:
		return "", failedf("passphrase file %s has more than %d bytes", name, maxPassphraseBytes)
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	// A file that was not filled would leave keys unguarded without a word.
	if len(line) == 0 {
		return "", failedf("passphrase file %s has an empty first line: write the passphrase there, or leave the file out", name)
	}
	return string(line), nil
}

// open opens the file of a key or a seed. Where no passphrase is given and the
// empty one does not open it, a terminal is asked.
func (p *passphrase) open(cmd *cobra.Command, path string) (*opened, error) {
	key, err := unlock(cmd, p, path, wallet.ReadKeyFile)
	if err == nil {
		return &opened{key: key}, nil
	}
	if !errors.Is(err, wallet.ErrSeedFile) { // which is said before a passphrase is wanted
		return nil, err
	}
	seed, err := unlock(cmd, p, path, wallet.ReadSeedFile)
	if err != nil {
		return nil, err
	}
	return &opened{seed: seed}, nil
}

func unlock[T any](cmd *cobra.Command, p *passphrase, path string, read func(ctx context.Context, path, passphrase string) (T, error)) (T, error) {
	var none T
	text, given, err := p.given()
	if err != nil {
		return none, err
	}
	v, err := read(cmd.Context(), path, text)
	switch {
	case err == nil:
		return v, nil
	case !errors.Is(err, wallet.ErrPassphrase) || given:
		return none, failedf("%w", err)
	case !isTerminal(cmd.InOrStdin()):
		return none, failedf("key file %s needs a passphrase: set SWARM_PASSPHRASE or give --passphrase-file", path)
	}
	if text, err = askSecret(cmd, "Passphrase of "+clean(path)+": "); err != nil {
		return none, err
	}
	if v, err = read(cmd.Context(), path, text); err != nil {
		return none, failedf("%w", err)
	}
	return v, nil
}

// choose gives the passphrase of a new key file: what is given, else what a
// terminal is asked for, twice, else "".
func (p *passphrase) choose(cmd *cobra.Command) (string, error) {
	text, given, err := p.given()
	if given || err != nil || !isTerminal(cmd.InOrStdin()) {
		return text, err
	}
	if text, err = askSecret(cmd, "Passphrase of the new key (empty for none): "); err != nil {
		return "", err
	}
	again, err := askSecret(cmd, "Once more: ")
	if err == nil && again != text {
		err = failedf("the two passphrases differ")
	}
	return text, err
}

// askSecret asks the terminal for a secret, which is not shown. An interrupt gives
// the terminal back as it was.
func askSecret(cmd *cobra.Command, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", failedf("terminal: %w", err)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	cmd.PrintErr(prompt)
	defer cmd.PrintErrln()
	type answer struct {
		text []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- answer{text, err}
	}()
	select {
	case a := <-read:
		if a.err != nil {
			return "", failedf("terminal: %w", a.err)
		}
		return string(a.text), nil
	case <-ctx.Done():
		_ = term.Restore(fd, before) // the program ends with this
		return "", context.Cause(ctx)
	}
}

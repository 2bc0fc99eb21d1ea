package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/wallet"
)

// identity is whose key signs.
type identity struct {
	file string // --key
	pass passphrase
}

func (id *identity) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&id.file, "key", "", "key `FILE` that signs (default: SWARM_KEY, else swarm/key.json in your configuration folder)")
	id.pass.flags(cmd)
}

// path gives the key's file. chosen says that the user named it; then it must be there.
func (id *identity) path() (path string, chosen bool, err error) {
	if id.file != "" {
		return id.file, true, nil
	}
	if path := os.Getenv("SWARM_KEY"); path != "" {
		return path, true, nil
	}
	folder, err := configFolder()
	return filepath.Join(folder, "key.json"), false, err
}

// key gives the key that signs, and makes the default one at first use.
func (id *identity) key(cmd *cobra.Command) (*wallet.Key, error) {
	path, chosen, err := id.path()
	if err != nil {
		return nil, err
	}
	if !chosen {
		return keyAt(cmd, &id.pass, path, "your key")
	}
	_, key, err := id.present(cmd)
	return key, err
}

// present gives the key and its file, which must be there.
func (id *identity) present(cmd *cobra.Command) (path string, key *wallet.Key, err error) {
	if path, _, err = id.path(); err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil, failedf("there is no key file %s: swarm wallet new %[1]s makes one", path)
	}
	key, err = id.pass.open(cmd, path)
	return path, key, err
}

// keyAt opens the key file at path, and makes it first where it is not there:
// with light scrypt, since what guards it is the file's mode and perhaps a
// passphrase, and programs are started often. It says so on stderr, once.
func keyAt(cmd *cobra.Command, pass *passphrase, path, whose string) (*wallet.Key, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return pass.open(cmd, path)
	}
	text, _, err := pass.given()
	if err != nil {
		return nil, err
	}
	key, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	switch err := wallet.WriteKeyFile(cmd.Context(), path, key, text, wallet.ScryptLight); {
	case errors.Is(err, fs.ErrExist):
		return pass.open(cmd, path) // another process was faster
	case err != nil:
		return nil, failedf("%s: %w", whose, err)
	}
	guard := ""
	if text == "" {
		guard = ", without a passphrase"
	}
	cmd.PrintErrf("made %s %v in %s%s\n", whose, key.Address(), clean(path), guard)
	return key, nil
}

// configFolder gives swarm's folder in the user's configuration folder.
func configFolder() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", failedf("no configuration folder: %w; name a key file with --key", err)
	}
	return filepath.Join(folder, "swarm"), nil
}

// maxFileName bounds the part of an agent's name that stands in a file's name.
const maxFileName = 80

// agentKeyFile gives the key file of the agent with a name: the same for the
// same name, so that a worker that is started again is the same agent. A name
// that is no plain file name is cut down to one, and a hash of it keeps it
// apart from others that would come out alike.
func agentKeyFile(name string) (string, error) {
	folder, err := configFolder()
	if err != nil {
		return "", err
	}
	plain := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A' // file systems differ on case
		}
		return '-'
	}, name)
	plain = strings.Trim(plain[:min(len(plain), maxFileName)], "-")
	if plain != name {
		hash := wallet.Keccak256([]byte(name))
		plain = strings.TrimPrefix(fmt.Sprintf("%s-%x", plain, hash[:4]), "-")
	}
	return filepath.Join(folder, "agents", plain+".json"), nil
}

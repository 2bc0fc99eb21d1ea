package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

// identity is whose key signs.
type identity struct {
	file string // --key, which need not be a file: see keyRef
	pass passphrase
}

func (id *identity) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&id.file, "key", "", "the `KEY` that signs: a file, SEEDFILE#INDEX, or one kept elsewhere; see swarm wallet --help (default: SWARM_KEY, else swarm/key.json in your configuration folder)")
	id.pass.flags(cmd)
}

// keyHelp is what a key is named by, as the help of wallet shows it.
const keyHelp = `A KEY, as --key and SWARM_KEY take it, is
  FILE                        a V3 keystore file, or a seed file's first key
  SEEDFILE#INDEX              the key with an INDEX, from 0, of a seed file
  web3signer:URL#ADDRESS      a key in Consensys' Web3Signer
  clef:PATH-OR-URL#ADDRESS    a key in clef, on its socket or over HTTP
Plain http:// is for addresses of this machine alone.`

// keyRef is what names a key.
type keyRef struct {
	path    string // of the file; "" where the key is kept elsewhere
	index   uint32 // of a seed file's key
	indexed bool   // whether an index was given
	outside string // web3signer:… or clef:…
}

func (r keyRef) String() string {
	switch {
	case r.outside != "":
		return r.outside
	case r.indexed:
		return fmt.Sprintf("%s#%d", r.path, r.index)
	}
	return r.path
}

// ref gives what names the key. chosen says that the user did; then it must be there.
func (id *identity) ref() (ref keyRef, chosen bool, err error) {
	text := id.file
	if text == "" {
		text = os.Getenv("SWARM_KEY")
	}
	if text == "" {
		folder, err := configFolder()
		return keyRef{path: filepath.Join(folder, "key.json")}, false, err
	}
	if external.IsReference(text) {
		return keyRef{outside: text}, true, nil
	}
	// A file whose own name has # and digits in it is taken for itself.
	if i := strings.LastIndexByte(text, '#'); i > 0 {
		if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
			index, err := parseIndex(text[i+1:])
			return keyRef{path: text[:i], index: index, indexed: true}, true, err
		}
	}
	return keyRef{path: text}, true, nil
}

// parseIndex reads the index of a seed's key.
func parseIndex(text string) (uint32, error) {
	index, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, usagef("index %q; want a number from 0 to %d", text, uint32(1<<31-1))
	}
	return uint32(index), nil
}

// key gives the key that signs, and makes the default one at first use.
func (id *identity) key(cmd *cobra.Command) (wallet.Signer, error) {
	ref, chosen, err := id.ref()
	if err != nil {
		return nil, err
	}
	if !chosen {
		return keyAt(cmd, &id.pass, ref.path, "your key")
	}
	_, signer, err := id.present(cmd)
	return signer, err
}

// present gives what names the key, and the key, which must be there.
func (id *identity) present(cmd *cobra.Command) (keyRef, wallet.Signer, error) {
	ref, _, err := id.ref()
	if err != nil {
		return ref, nil, err
	}
	if ref.outside != "" {
		signer, err := external.Open(ref.outside)
		if err != nil {
			return ref, nil, usagef("%w", err)
		}
		return ref, &asked{signer, cmd}, nil
	}
	file, err := id.open(cmd, ref)
	if err != nil {
		return ref, nil, err
	}
	key, err := file.account(ref)
	return ref, key, err
}

// open opens the file of a key, which must be there.
func (id *identity) open(cmd *cobra.Command, ref keyRef) (*opened, error) {
	if _, err := os.Stat(ref.path); errors.Is(err, fs.ErrNotExist) {
		return nil, failedf("there is no key file %s: swarm wallet new %[1]s makes one", ref.path)
	}
	return id.pass.open(cmd, ref.path)
}

// opened is what a file held: one key, or a seed.
type opened struct {
	key  *wallet.Key
	seed *wallet.Seed
}

// account gives the key that ref names, and closes the seed.
func (o *opened) account(ref keyRef) (*wallet.Key, error) {
	if o.seed == nil {
		if ref.indexed {
			return nil, usagef("%s holds one key: #%d is for seed files", ref.path, ref.index)
		}
		return o.key, nil
	}
	defer o.seed.Close()
	key, err := o.seed.Key(ref.index)
	if err != nil {
		return nil, failedf("%s: %w", ref.path, err)
	}
	return key, nil
}

// asked is a signer that is not in this process: its errors are not those of the
// server that is talked to, and whoever waits for it is told so.
type asked struct {
	wallet.Signer
	cmd *cobra.Command
}

// askedWait is after how long without an answer the wait is told of.
const askedWait = 2 * time.Second

func (a *asked) Sign(ctx context.Context, m wallet.Message) (wallet.Signature, error) {
	told := time.AfterFunc(askedWait, func() {
		a.cmd.PrintErrf("waiting for the signer of %v; it may want to be answered there\n", a.Address())
	})
	defer told.Stop()
	sig, err := a.Signer.Sign(ctx, m)
	switch {
	case err == nil, ctx.Err() != nil:
		return sig, err
	case errors.Is(err, external.ErrDenied):
		err = &failure{exitRefused, swarm.CodeForbidden, err}
	case errors.Is(err, external.ErrTimeout):
		err = &failure{exitTimeout, swarm.CodeTimeout, err}
	default:
		err = failedf("%w", err)
	}
	return sig, err
}

// keyAt opens the key file at path, and makes it first where it is not there:
// with light scrypt, since what guards it is the file's mode and perhaps a
// passphrase, and programs are started often. It says so on stderr, once.
func keyAt(cmd *cobra.Command, pass *passphrase, path, whose string) (*wallet.Key, error) {
	open := func() (*wallet.Key, error) {
		file, err := pass.open(cmd, path)
		if err != nil {
			return nil, err
		}
		return file.account(keyRef{path: path})
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return open()
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
		return open() // another process was faster
	case err != nil:
		return nil, failedf("%s: %w", whose, err)
	}
	cmd.PrintErrf("made %s %v in %s%s\n", whose, key.Address(), clean(path), unguarded(text))
	return key, nil
}

// unguarded says so of a file that has no passphrase.
func unguarded(passphrase string) string {
	if passphrase == "" {
		return ", without a passphrase"
	}
	return ""
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

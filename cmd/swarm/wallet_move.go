package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// maxSecretBytes bounds what import reads: a key, words, or by mistake a keystore file.
const maxSecretBytes = 64 << 10

// ownPassphrase stands before a mnemonic's own passphrase, in what export prints
// and import reads. No word has a colon in it, so it can't be taken for one.
const ownPassphrase = "passphrase: "

func newWalletImport() *cobra.Command {
	var file newKeyFile
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Make a key or seed file of a private key or words on stdin",
		Long: `import reads from stdin, a terminal without showing it, and writes to a file as
new does:

  a private key of 64 hex digits                    to a key file
  a mnemonic of 12 to 24 English words (BIP-39)     to a seed file

The words' checksum must hold. Words with a passphrase of their own (a "25th word")
have it on the last line, behind "` + ownPassphrase + `"; a terminal is asked for it.

It takes no secret as an argument: arguments are seen by every process of the
machine. Other keystore files need no import: name them with --key.`,
		Example: `  swarm wallet import words.json
  pass show words | swarm wallet import words.json --passphrase-file words.pass`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, own, err := readSecret(cmd)
			if err != nil {
				return err
			}
			if len(strings.Fields(secret)) > 1 {
				seed, err := wallet.ParseSeed(secret, own)
				if err != nil {
					return failedf("stdin: %w", err)
				}
				defer seed.Close()
				return file.write(cmd, args, nil, seed)
			}
			key, err := wallet.ParseKey(secret)
			if err != nil {
				return failedf("stdin: %w; or 12 to 24 words", err)
			}
			return file.write(cmd, args, key, nil)
		},
	}
	file.flags(cmd)
	return cmd
}

// readSecret gives what is to be imported, and the passphrase of words.
func readSecret(cmd *cobra.Command) (secret, own string, err error) {
	if isTerminal(cmd.InOrStdin()) {
		if secret, err = askSecret(cmd, "Private key or words: "); err != nil {
			return "", "", err
		}
		if len(strings.Fields(secret)) > 1 {
			own, err = askSecret(cmd, "The words' own passphrase (empty for none): ")
		}
		return secret, own, err
	}
	data, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxSecretBytes+1))
	switch {
	case err != nil:
		return "", "", failedf("stdin: %w", err)
	case len(data) > maxSecretBytes:
		return "", "", failedf("stdin has more than %d bytes: want a private key or 12 to 24 words", maxSecretBytes)
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return "", "", failedf("stdin is a keystore file: it needs no import, name it with --key or SWARM_KEY")
	}
	secret = strings.TrimRight(string(data), "\r\n")
	if i := strings.LastIndexByte(secret, '\n') + 1; strings.HasPrefix(secret[i:], ownPassphrase) {
		secret, own = secret[:i], secret[i+len(ownPassphrase):]
	}
	return secret, own, nil
}

func newWalletExport() *cobra.Command {
	var (
		id  identity
		yes bool
	)
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print a private key, or a seed's words",
		Long: `export prints what import reads: the private key of a key file or of
SEEDFILE#INDEX, as 0x and 64 hex digits, or the words of a seed file, with their own
passphrase, if any, on a second line behind "` + ownPassphrase + `".

Whoever sees it has the wallet, and all that was delegated in its name. So it asks
before, and without a terminal it wants --yes.`,
		Example: `  swarm wallet export --key seed.json
  swarm wallet export --key old.json --yes | swarm wallet import new.json --passphrase-file new.pass`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ref, _, err := id.ref()
			switch {
			case err != nil:
				return err
			case ref.outside != "":
				return failedf("the key of %s is not here: nothing can be exported", ref)
			case !yes && !isTerminal(cmd.InOrStdin()):
				return usagef("export shows a secret: without a terminal that can be asked it wants --yes")
			}
			file, err := id.open(cmd, ref)
			if err != nil {
				return err
			}
			text, address := "", wallet.Address{}
			if file.seed != nil && !ref.indexed {
				defer file.seed.Close()
				words, own, err := file.seed.Reveal()
				if err != nil {
					return err
				}
				if text, address = words, file.seed.Address(); own != "" {
					text += "\n" + ownPassphrase + own
				}
			} else {
				key, err := file.account(ref)
				if err != nil {
					return err
				}
				text, address = key.Reveal(), key.Address()
			}
			if !yes {
				if err := confirm(cmd, fmt.Sprintf("This shows the secret of %v: whoever sees it has the wallet. Type yes to go on: ", address)); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	id.flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm asks the terminal for a yes.
func confirm(cmd *cobra.Command, question string) error {
	cmd.PrintErr(question)
	answer, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), maxPassphraseBytes)).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return &failure{exitCancelled, swarm.CodeCancelled, fmt.Errorf("nothing was shown: the answer was not yes")}
	}
	return nil
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/wallet"
)

func newWallet() *cobra.Command {
	return group(&cobra.Command{
		Use:   "wallet",
		Short: "Make, import and show keys; sign and verify messages",
		Example: `  swarm wallet new words.json
  swarm wallet show`,
	}, newWalletNew(), newWalletImport(), newWalletShow(), newWalletSign(), newWalletVerify())
}

// newKeyFile is a key file that is to be written.
type newKeyFile struct {
	pass  passphrase
	light bool
}

func (n *newKeyFile) flags(cmd *cobra.Command) {
	n.pass.flags(cmd)
	cmd.Flags().BoolVar(&n.light, "light", false, "ask little work of whoever opens the file: for programs that start often, behind a strong passphrase or none")
}

// write writes key to the file in args, else to the default one, and prints its address.
func (n *newKeyFile) write(cmd *cobra.Command, args []string, key *wallet.Key) error {
	var id identity
	if len(args) > 0 {
		id.file = args[0]
	}
	path, _, err := id.path()
	if err != nil {
		return err
	}
	text, err := n.pass.choose(cmd)
	if err != nil {
		return err
	}
	work := wallet.ScryptStandard
	if n.light {
		work = wallet.ScryptLight
	}
	switch err := wallet.WriteKeyFile(cmd.Context(), path, key, text, work); {
	case errors.Is(err, fs.ErrExist):
		return failedf("%s is there already, and a key that is overwritten is lost: give another file, or move that one", path)
	case err != nil:
		return failedf("%w", err)
	}
	cmd.PrintErrln("wrote", clean(path))
	_, err = fmt.Fprintln(cmd.OutOrStdout(), key.Address())
	return err
}

func newWalletNew() *cobra.Command {
	var file newKeyFile
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Make a key, and print its address",
		Long: `new makes a key and writes it to FILE, else SWARM_KEY, else the default key file,
as a V3 keystore file of mode 0600. It never replaces a file.`,
		Example: `  swarm wallet new
  swarm wallet new words.json --light`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := wallet.NewKey()
			if err != nil {
				return err
			}
			return file.write(cmd, args, key)
		},
	}
	file.flags(cmd)
	return cmd
}

// maxSecretBytes bounds what import reads: a key, or a keystore file.
const maxSecretBytes = 64 << 10

func newWalletImport() *cobra.Command {
	var file newKeyFile
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Make a key file of a private key on stdin",
		Long: `import reads a private key of 64 hex digits from stdin, a terminal without showing
it, and writes it to a key file as new does. It takes no key as an argument:
arguments are seen by every process of the machine. Other keystore files need no
import: name them with --key.`,
		Example: `  swarm wallet import words.json
  pass show words | swarm wallet import words.json`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var secret []byte
			if isTerminal(cmd.InOrStdin()) {
				text, err := askSecret(cmd, "Private key: ")
				if err != nil {
					return err
				}
				secret = []byte(text)
			} else {
				var err error
				if secret, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxSecretBytes)); err != nil {
					return failedf("stdin: %w", err)
				}
			}
			if bytes.HasPrefix(bytes.TrimSpace(secret), []byte("{")) {
				return failedf("stdin is a keystore file: it needs no import, name it with --key or SWARM_KEY")
			}
			key, err := wallet.ParseKey(string(secret))
			if err != nil {
				return failedf("stdin: %w", err)
			}
			return file.write(cmd, args, key)
		},
	}
	file.flags(cmd)
	return cmd
}

func newWalletShow() *cobra.Command {
	var (
		id     identity
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the address of your key",
		Long:  `show opens the key file and prints its key's address. It makes no key.`,
		Example: `  swarm wallet show
  swarm wallet show --key words.json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, key, err := id.present(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Wallet wallet.Address `json:"wallet"`
					File   string         `json:"file"`
				}{key.Address(), path})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key.Address())
			return err
		},
	}
	id.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print address and file as JSON")
	return cmd
}

func newWalletSign() *cobra.Command {
	var id identity
	cmd := &cobra.Command{
		Use:   "sign MESSAGE...",
		Short: "Sign a message as wallets do (EIP-191)",
		Long: `sign signs MESSAGE (- reads it from stdin, byte for byte) as a personal message,
EIP-191 version 0x45, and prints the signature: 0x and 130 hex digits. Such a
signature can't pass for that of a delegation, which is EIP-712 typed data.`,
		Example: `  swarm wallet sign 'this wallet is mine'
  swarm wallet sign - <statement.txt`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			message, err := textArg(cmd, "message", args)
			if err != nil {
				return err
			}
			_, key, err := id.present(cmd)
			if err != nil {
				return err
			}
			signature, err := key.SignDigest(cmd.Context(), personalDigest(message))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), signature)
			return err
		},
	}
	id.flags(cmd)
	return cmd
}

func newWalletVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify ADDRESS SIGNATURE MESSAGE...",
		Short: "Check who signed a message (EIP-191)",
		Long: `verify checks that ADDRESS signed MESSAGE (- reads it from stdin) as a personal
message. The exit status is 0 where it did and 1 where not.`,
		Example: `  swarm wallet verify "$ADDRESS" "$SIGNATURE" 'this wallet is mine'`,
		Args:    arguments(3, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := wallet.ParseAddress(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			signature, err := wallet.ParseSignature(args[1])
			if err != nil {
				return usagef("%w", err)
			}
			message, err := textArg(cmd, "message", args[2:])
			if err != nil {
				return err
			}
			if err := wallet.Verify(address, personalDigest(message), signature); err != nil {
				return failedf("not verified: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "signed by", address)
			return err
		},
	}
}

// personalDigest gives the digest of a personal message, EIP-191 version 0x45:
// the form of personal_sign, which every wallet has.
func personalDigest(message string) wallet.Digest {
	return wallet.Keccak256([]byte("\x19Ethereum Signed Message:\n"), []byte(strconv.Itoa(len(message))), []byte(message))
}

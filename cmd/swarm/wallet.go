package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/wallet"
)

func newWallet() *cobra.Command {
	return group(&cobra.Command{
		Use:   "wallet",
		Short: "Make, move and show keys; sign and verify messages",
		Long: `wallet keeps keys in encrypted files, and signs with them or with keys that are
kept elsewhere.

` + keyHelp + `

A file's passphrase is that of --passphrase-file, else SWARM_PASSPHRASE, else "",
else what a prompt on a terminal is answered with. It is never an argument, which
every process of the machine can see.`,
		Example: `  swarm wallet new words.json
  swarm wallet new --words 12 seed.json
  swarm wallet show --key seed.json#1`,
	}, newWalletNew(), newWalletImport(), newWalletExport(), newWalletShow(), newWalletDerive(), newWalletSign(), newWalletVerify())
}

// newKeyFile is a file of a key or a seed that is to be written.
type newKeyFile struct {
	pass  passphrase
	light bool
}

func (n *newKeyFile) flags(cmd *cobra.Command) {
	n.pass.flags(cmd)
	cmd.Flags().BoolVar(&n.light, "light", false, "ask little work of whoever opens the file: for programs that start often, behind a strong passphrase or none")
}

// write writes a key or a seed to the file in args, else to the default one, and
// prints its address: of a seed, that of its first key.
func (n *newKeyFile) write(cmd *cobra.Command, args []string, key *wallet.Key, seed *wallet.Seed) error {
	var id identity
	if len(args) > 0 {
		id.file = args[0]
	}
	ref, _, err := id.ref()
	switch {
	case err != nil:
		return err
	case ref.outside != "" || ref.indexed:
		return usagef("%s is no file: name one to write", ref)
	}
	text, err := n.pass.choose(cmd)
	if err != nil {
		return err
	}
	work := wallet.ScryptStandard
	if n.light {
		work = wallet.ScryptLight
	}
	var address wallet.Address
	if seed != nil {
		address, err = seed.Address(), wallet.WriteSeedFile(cmd.Context(), ref.path, seed, text, work)
	} else {
		address, err = key.Address(), wallet.WriteKeyFile(cmd.Context(), ref.path, key, text, work)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return failedf("%s is there already, and a key that is overwritten is lost: give another file, or move that one", ref.path)
	case err != nil:
		return failedf("%w", err)
	}
	cmd.PrintErrf("wrote %s%s\n", clean(ref.path), unguarded(text))
	_, err = fmt.Fprintln(cmd.OutOrStdout(), address)
	return err
}

func newWalletNew() *cobra.Command {
	var (
		file  newKeyFile
		words int
	)
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Make a key or a seed, and print its address",
		Long: `new makes a key and writes it to FILE, else SWARM_KEY, else the default key file,
as a V3 keystore file of mode 0600, which any Ethereum wallet reads. It never
replaces a file.

With --words it makes a mnemonic of BIP-39 instead, from which come any number of
keys (m/44'/60'/0'/0/INDEX), and writes it to a seed file, encrypted alike. The
words are not shown: swarm wallet export shows them, to be written down.`,
		Example: `  swarm wallet new
  swarm wallet new words.json --light
  swarm wallet new --words 24 seed.json`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("words") {
				seed, err := wallet.NewSeed(words)
				if err != nil {
					return usagef("--words: %w", err)
				}
				defer seed.Close()
				return file.write(cmd, args, nil, seed)
			}
			key, err := wallet.NewKey()
			if err != nil {
				return err
			}
			return file.write(cmd, args, key, nil)
		},
	}
	file.flags(cmd)
	cmd.Flags().IntVar(&words, "words", 0, "make a seed of `N` words: 12, 15, 18, 21 or 24")
	return cmd
}

// shownKey is a key as show --json tells of it.
type shownKey struct {
	Wallet wallet.Address `json:"wallet"`
	File   string         `json:"file,omitempty"`
	Index  *uint32        `json:"index,omitempty"`  // of a seed file's key
	Signer string         `json:"signer,omitempty"` // where the key is kept elsewhere
}

func newWalletShow() *cobra.Command {
	var (
		id     identity
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the address of your key",
		Long: `show opens the key's file and prints the key's address. It makes no key. A signer
elsewhere is not asked: its address is the one that names it.`,
		Example: `  swarm wallet show
  swarm wallet show --key words.json
  swarm wallet show --key seed.json#1 --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ref, key, err := id.present(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				shown := shownKey{Wallet: key.Address(), File: ref.path, Signer: ref.outside}
				if ref.indexed {
					shown.Index = &ref.index
				}
				return printJSON(cmd.OutOrStdout(), shown)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key.Address())
			return err
		},
	}
	id.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the address, and file and index or signer, as JSON")
	return cmd
}

// derivedKey is a seed's key as derive --json tells of it.
type derivedKey struct {
	Index  uint32         `json:"index"`
	Path   string         `json:"path"`
	Wallet wallet.Address `json:"wallet"`
}

func newWalletDerive() *cobra.Command {
	var (
		id     identity
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "derive INDEX...",
		Short: "Print the addresses of a seed's keys",
		Long: `derive prints the address of each INDEX, from 0, of a seed file: those of
m/44'/60'/0'/0/INDEX, which other Ethereum wallets show for the same words. To sign
with one, name it as SEEDFILE#INDEX; to have it in a file of its own, export it and
import it there.`,
		Example: `  swarm wallet derive --key seed.json 0 1 2
  swarm wallet export --key seed.json#1 --yes | swarm wallet import one.json --passphrase-file one.pass`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			indexes := make([]uint32, len(args))
			for i, arg := range args {
				var err error
				if indexes[i], err = parseIndex(arg); err != nil {
					return err
				}
			}
			ref, _, err := id.ref()
			switch {
			case err != nil:
				return err
			case ref.outside != "" || ref.indexed:
				return usagef("--key is %s; want a seed file", ref)
			}
			file, err := id.open(cmd, ref)
			if err != nil {
				return err
			}
			if file.seed == nil {
				return failedf("%s holds one key; a seed file, as swarm wallet new --words 12 makes it, has any number", ref.path)
			}
			defer file.seed.Close()
			for _, index := range indexes {
				key, err := file.seed.Key(index)
				if err != nil {
					return failedf("%w", err)
				}
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), derivedKey{index, fmt.Sprintf("m/44'/60'/0'/0/%d", index), key.Address()})
				} else {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d\t%v\n", index, key.Address())
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	id.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print index, path and address as JSON, a line a key")
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
  swarm wallet sign - <statement.txt
  swarm wallet sign --key clef:$HOME/.clef/clef.ipc#$ADDRESS 'this wallet is mine'`,
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
			signature, err := key.Sign(cmd.Context(), wallet.PersonalMessage(message))
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
message. SIGNATURE has 65 bytes, r, s and v, with v 27 or 28 (0x1b or 0x1c) and a
low s. The exit status is 0 where it did and 1 where not.`,
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
			if err := wallet.Verify(address, wallet.PersonalMessage(message).Digest(), signature); err != nil {
				return failedf("not verified: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "signed by", address)
			return err
		},
	}
}

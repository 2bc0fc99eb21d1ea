package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
)

func TestAgentKeyFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	names := []string{"words", "Words", "two words", "two-words", "../../etc/passwd", "..", "天气", "é", strings.Repeat("x", 300), "a\x00b"}
	seen := map[string]string{}
	for _, name := range names {
		path, err := agentKeyFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := agentKeyFile(name); again != path {
			t.Errorf("%q: %s, then %s", name, path, again)
		}
		base := filepath.Base(path)
		if filepath.Base(filepath.Dir(path)) != "agents" || len(base) > 120 || strings.ContainsAny(base, "/\\ \x00") || base[0] == '.' {
			t.Errorf("%q: file %s", name, path)
		}
		if other, taken := seen[path]; taken {
			t.Errorf("%q and %q have one key file %s", name, other, path)
		}
		seen[path] = name
	}
}

func TestPassphraseFile(t *testing.T) {
	t.Setenv("SWARM_PASSPHRASE", "of the environment")
	path := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(path, []byte("of the file\nrest"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := passphrase{path}
	if text, ok, err := p.given(); text != "of the file" || !ok || err != nil {
		t.Errorf("%q, %t, %v", text, ok, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.given(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("error %v for mode 0640", err)
	}
}

func TestPersonalDigest(t *testing.T) {
	// A well-known vector: the address and signature are those of the web3.js
	// documentation's accounts.sign("Some data").
	address := wallet.MustParseAddress("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23")
	signature, err := wallet.ParseSignature("0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c")
	if err != nil {
		t.Fatal(err)
	}
	if err := wallet.Verify(address, personalDigest("Some data"), signature); err != nil {
		t.Error(err)
	}
}

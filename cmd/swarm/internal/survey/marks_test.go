package survey

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// Secrets are put together here, so that no scanner of this repository takes
// the tests for a leak.
var (
	awsKey      = "AKIA" + "Q3EGRT7XNJ2MWPLS"
	githubToken = "ghp_" + "x7Kp2mQ9vRt4LwZ8bN3cYd6FhJ1sGa5UeTi0"
	githubPat   = "github_pat_" + "11ABXYZ2Q0k9LmNpRsTuVw_" + "q8Zr5Tn2Lx7Vb4Mc9Kd1Jf6Hg3Ws0Qp8Yo5Iu2Et7Ra4Zx1Cv6Bn3Mk9Pq0"
	slackToken  = "xoxb-" + "2718281828459-3141592653589-Ab3dEf6hIj9kLm2nOp5qRs8t"
	slackHook   = "https://hooks.slack.com/services/" + "T02AB3CD4/B05EF6GH7/q8Zr5Tn2Lx7Vb4Mc9Kd1Jf6H"
	webToken    = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiI5ODc2NSIsIm4iOiJ4In0" + ".q8Zr5Tn2Lx7Vb4Mc9Kd1Jf6Hg3Ws0Qp8"
	keyBody     = strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n", 3)
	privateKey  = "-----BEGIN RSA " + "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + keyBody + "-----END RSA " + "PRIVATE KEY-----\n"
	password    = "hT7vQ2xLp9Rz4Wm8"
)

func TestMarks(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.go": "package a\n\n// TODO(me): first\nvar s = \"TODO: no\" // second. FIXME: here\n" +
			"/*\n * XXX\n */\n// TODOs, TODO_LIST and a TODO in a sentence\n// HACK\x1b[31m around\n// todo: no\n// mktemp XXXXXX\n",
		"b.txt":    "TODO no\nA note. TODO: yes\nXXX-XXX\nHACK(jo): yes\n",
		"c.md":     "Text TODO: not in a comment of Markdown\n<!-- FIXME: yes -->\n",
		"d.go":     "// TODO: " + strings.Repeat("é", 200) + "\n",
		"e.go":     "// TODO: rotate password = \"" + password + "\" soon\n",
		"f.py":     "# FIXME TODO: one a line\n",
		"bin.go":   "// TODO: no\x00\n",
		"two.go":   "/* TODO: a */ /* TODO: b */\n",
		"vendor/x": "TODO: no\n",
	})
	r, err := Marks(t.Context(), dir)
	must(t, err)
	equal(t, "marks", r.Marks, []Mark{
		{"a.go", 3, "TODO", "TODO(me): first"},
		{"a.go", 4, "FIXME", "FIXME: here"},
		{"a.go", 6, "XXX", "XXX"},
		{"b.txt", 2, "TODO", "TODO: yes"},
		{"b.txt", 4, "HACK", "HACK(jo): yes"},
		{"c.md", 2, "FIXME", "FIXME: yes"},
		{"d.go", 1, "TODO", "TODO: " + strings.Repeat("é", 114) + "…"},
		{"e.go", 1, "TODO", `TODO: rotate password = "hT7v............" soon`},
		{"f.py", 1, "FIXME", "FIXME TODO: one a line"},
		{"two.go", 1, "TODO", "TODO: a"},
	})
	equal(t, "counts", r.Counts, []MarkCount{{"TODO", 5}, {"FIXME", 3}, {"XXX", 1}, {"HACK", 1}})
	equal(t, "secrets", r.Secrets, []Secret{{"e.go", 1, assigned, "hT7v… (16 characters)", false}})
	checkText(t, r)
	if text := r.Text(); !strings.HasPrefix(text, "10 marks: 5 TODO, 3 FIXME, 1 XXX, 1 HACK.\n  a.go:3: TODO(me): first\n") ||
		!strings.Contains(text, "\n1 value that looks like a secret, 0 of them in test files. Looked for private keys,") {
		t.Errorf("text:\n%s", text)
	}
}

func TestSecrets(t *testing.T) {
	tests := []struct {
		name, src string
		want      string // kinds and masks
		secret    string // which no report may have
	}{
		{"a.pem", privateKey, "private key MIIE… (156 characters)", keyBody},
		{"a.json", `{"k":"` + strings.ReplaceAll(privateKey, "\n", `\n`) + `"}`, "private key MIIE… (160 characters)", keyBody[:50]},
		{"a.go", "const begin = \"-----BEGIN PRIVATE KEY-----\"\n", "", ""},
		{"a.go", "-----BEGIN PUBLIC KEY-----\n" + keyBody, "", ""},
		{"a.sh", "export ID=" + awsKey + "\n", "AWS access key id AKIA… (20 characters)", awsKey},
		{"a.sh", "AKIA" + "IOSFODNN7EXAMPLE", "", ""},
		{"a.sh", "X" + awsKey, "", ""},
		{"a.sh", awsKey + "A", "", ""},
		{"a.sh", githubToken, "GitHub token ghp_… (40 characters)", githubToken},
		{"a.sh", "t=" + githubPat + ";", "GitHub token gith… (93 characters)", githubPat},
		{"a.sh", "ghp_" + strings.Repeat("a", 36), "", ""},
		{"a.sh", slackToken, "Slack token xoxb… (57 characters)", slackToken},
		{"a.sh", slackHook, "Slack webhook T02A… (44 characters)", slackHook[34:]},
		{"a.sh", "Authorization: Bearer " + webToken, "JSON web token eyJh… (101 characters)", webToken},
		{"a.sh", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ij" + ".q8Zr5Tn2Lx7Vb4Mc9Kd1Jf6H", "", ""},
		{"a.sh", "eyJub3RhbGciOjF9" + ".eyJzdWIiOiI5ODc2NSIsIm4iOiJ4In0" + ".q8Zr5Tn2Lx7Vb4Mc9Kd1Jf6H", "", ""},
		{"a.go", `dbPassword := "` + password + `"`, "value named like a secret hT7v… (16 characters)", password},
		{"a.js", `{"api_key": '` + password + `'}`, "value named like a secret hT7v… (16 characters)", password},
		{"a.rb", `:secret => "` + password + `"`, "value named like a secret hT7v… (16 characters)", password},
		{"a.py", `env["TOKEN"] = "` + password + `"`, "value named like a secret hT7v… (16 characters)", password},
		{".env", "API_KEY=" + password + "\n", "value named like a secret hT7v… (16 characters)", password},
		{"a.yaml", "token: " + password + " # x\n", "value named like a secret hT7v… (16 characters)", password},
		{"a.go", "token = " + password, "", ""},                                                       // bare, in no settings file
		{"a.go", `passwordHash := "` + password + `"`, "", ""},                                        // the name goes on
		{"a.go", `password := "correct horse battery 42"`, "", ""},                                    // blanks
		{"a.go", `password := "hunter2"`, "", ""},                                                     // short
		{"a.go", `token := "someIdentifierName"`, "", ""},                                             // no digits
		{"a.go", `secret := "aaaaaaaa11111111"`, "", ""},                                              // no variety
		{"a.go", `token := "your-token-q8Zr5Tn2"`, "", ""},                                            // says so
		{"a.yaml", "tokenSecret: ${SECRET_8Zr5Tn2Lx7}\n", "", ""},                                     // a reference
		{"a.go", `token = "https://x.example/o4uth2/t0ken"`, "", ""},                                  // an address
		{"a.py", `token = "module9.sub8.Thing7x"`, "", ""},                                            // a dotted name
		{"a.go", `token := "` + githubToken + `"`, "GitHub token ghp_… (40 characters)", githubToken}, // known form first
	}
	for _, test := range tests {
		src := []byte(test.src)
		var got []string
		found := findSecrets(test.name, src)
		for _, f := range found {
			got = append(got, f.kind+" "+f.mask(src))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s %q: %q, want %q", test.name, test.src, got, test.want)
		}
		if test.secret == "" {
			continue
		}
		r, err := Marks(t.Context(), folder(t, map[string]string{test.name: "TODO: " + test.src, "x/testdata/" + test.name: "// TODO: " + test.src}))
		must(t, err)
		all, err := json.Marshal(r)
		must(t, err)
		if r.SecretCount != 2 || r.InTests != 1 {
			t.Errorf("%q: %d secrets, %d in tests, want 2 and 1", test.src, r.SecretCount, r.InTests)
		}
		for _, told := range []string{string(all), r.Text()} {
			if strings.Contains(told, strings.TrimSpace(test.secret)[4:14]) {
				t.Errorf("the report tells the secret: %s", told)
			}
		}
	}
}

func TestSecretLines(t *testing.T) {
	r, err := Marks(t.Context(), folder(t, map[string]string{"a.txt": "one\n" + awsKey + " " + githubToken + "\n\n" + privateKey + "\n" + slackToken}))
	must(t, err)
	var lines []int
	for _, s := range r.Secrets {
		lines = append(lines, s.Line)
	}
	equal(t, "lines", lines, []int{2, 2, 7, 12})
}

func TestEntropy(t *testing.T) {
	for s, want := range map[string]float64{"": 0, "aaaa": 0, "abab": 1, "abcd": 2, "abcdabcd": 2, "abcdefgh": 3} {
		if got := entropy([]byte(s)); math.Abs(got-want) > 1e-12 {
			t.Errorf("entropy(%q) = %v, want %v", s, got, want)
		}
	}
}

// Files made to be slow: a beginning of a secret over and over.
func BenchmarkHostileSecrets(b *testing.B) {
	for _, hint := range []string{"eyJ.", "-eyJaaaaaaaaaa.eyJaaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\nComment: ", "-----BEGIN PRIVATE KEY-----\\nComment: ", "-----BEGIN PRIVATE KEY----- ", "password=", "ghp_ ", "xoxb-1234567890-"} {
		src := []byte(strings.Repeat(hint, (1<<20)/len(hint)))
		b.Run(hint, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				findSecrets("a.yaml", src)
			}
		})
	}
}

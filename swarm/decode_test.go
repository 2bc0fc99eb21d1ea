package swarm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// A document that is malformed is refused before a signature is looked at, at
// the hop where it is, with the path to it.
func TestVerifyNoBundle(t *testing.T) {
	whole := string(marshal(t, build(t, realTree[:1], change{})))
	swap := func(old, new string) string {
		t.Helper()
		if !strings.Contains(whole, old) {
			t.Fatalf("no %q in the bundle", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	from := addressOf(user).String()
	for _, c := range []struct {
		name, text string
		hop        int
		says       string
	}{
		{"empty", "", -1, "EOF"},
		{"null", "null", -1, "want an object, not null"},
		{"list", "[]", -1, "want an object, not an array"},
		{"number", "1", -1, "want an object, not a number"},
		{"half", whole[:len(whole)/2], 0, "EOF"},
		{"no members", "{}", -1, `the member "format" is missing`},
		{"no hops", `{"format":"swarmseal-bundle/1","chainId":1,"hops":[]}`, -1, "hops is empty"},
		{"hops null", `{"format":"swarmseal-bundle/1","chainId":1,"hops":null}`, -1, "hops: want an array, not null"},
		{"hops [null]", `{"format":"swarmseal-bundle/1","chainId":1,"hops":[null]}`, 0, "hops[0]: want an object, not null"},
		{"hops an object", `{"format":"swarmseal-bundle/1","chainId":1,"hops":{}}`, -1, "hops: want an array, not an object"},
		{"empty hop", `{"format":"swarmseal-bundle/1","chainId":1,"hops":[{}]}`, 0, `hops[0]: the member "delegation" is missing`},
		{"another format", swap("bundle/1", "bundle/2"), -1, "bundle/2"},
		{"chain over 2^53", swap("84532", "9007199254740993"), -1, "chainId: want a whole number"},
		{"something after", whole + "{}", -1, "invalid character"},

		{"unknown member", swap(`"format"`, `"x": 1, "format"`), -1, `"x"`},
		{"unknown member of a hop", swap(`"delegation": {`, `"custody": "server", "delegation": {`), 0, `"custody"`},
		{"types from the wire", swap(`"format"`, `"types": {"Delegation": []}, "format"`), -1, `"types"`},
		{"a domain from the wire", swap(`"signature"`, `"domain": {"name": "Other"}, "signature"`), 0, `"domain"`},
		{"a primary type from the wire", swap(`"signature"`, `"primaryType": "Permit", "signature"`), 0, `"primaryType"`},
		{"a signer from the wire", swap(`"signature"`, `"signer": "`+from+`", "signature"`), 0, `"signer"`},
		{"member's case", swap(`"chainId"`, `"ChainId"`), -1, `"ChainId"`},
		{"member twice", swap(`"chainId"`, `"chainId": 1, "chainId"`), -1, "duplicate"},
		{"member twice, the second escaped", swap(`"chainId"`, `"\u0063hainId": 1, "chainId"`), -1, "duplicate"},
		{"member of a message twice", swap(`"maxPrice"`, `"maxPrice": "1", "maxPrice"`), 0, "duplicate"},
		{"member of an attachment twice", swap(`"size": 12`, `"size": 12, "size": 13`), 0, "duplicate"},
		{"member missing that is zero", swap(`"hop": 0,`, ``), 0, `hops[0].delegation.delegation: the member "hop" is missing`},
		{"member missing that is false", swap(`"receivedAt": 1780000061,`, ``), 0, `hops[0].arrival.arrival: the member "receivedAt" is missing`},
		{"list missing that is empty", swap(`"children": [],`, ``), 0, `hops[0].result.result: the member "children" is missing`},

		{"hop 1.0", swap(`"hop": 0`, `"hop": 0.0`), 0, "hop: want a whole number from 0 to 255 in digits, not 0.0"},
		{"hop 0e0", swap(`"hop": 0`, `"hop": 0e0`), 0, "in digits"},
		{"hop −0", swap(`"hop": 0`, `"hop": -0`), 0, "in digits"},
		{"hop as text", swap(`"hop": 0`, `"hop": "0"`), 0, "hop: want a number, not a string"},
		{"hop null", swap(`"hop": 0`, `"hop": null`), 0, "hop: want a number, not null"},
		{"hop 256", swap(`"hop": 0`, `"hop": 256`), 0, "to 255"},
		{"seq 2^32", swap(`"seq": 0`, `"seq": 4294967296`), 0, "to 4294967295"},
		{"negative time", swap(`"issuedAt": `, `"issuedAt": -`), 0, "issuedAt: want a whole number"},
		{"time 2^53", swap(`"issuedAt": 1780000000`, `"issuedAt": 9007199254740992`), 0, "to 9007199254740991"},
		{"time over 2^64", swap(`"issuedAt": 1780000000`, `"issuedAt": 18446744073709551617`), 0, "to 9007199254740991"},
		{"size over 2^53", swap(`"size": 12`, `"size": 9007199254740993`), 0, "attachments[0].size: want a whole number"},
		{"price as a number", swap(`"maxPrice": "100"`, `"maxPrice": 100`), 0, "maxPrice: want a string"},
		{"price with a leading zero", swap(`"maxPrice": "100"`, `"maxPrice": "0100"`), 0, "maxPrice: "},
		{"price in hex", swap(`"maxPrice": "100"`, `"maxPrice": "0x64"`), 0, "maxPrice: "},
		{"price 2^256", swap(`"maxPrice": "100"`, `"maxPrice": "115792089237316195423570985008687907853269984665640564039457584007913129639936"`), 0, "below 2^256"},
		{"late as a number", swap(`"late": false`, `"late": 0`), 0, "late: want true or false, not a number"},
		{"late null", swap(`"late": false`, `"late": null`), 0, "late: want true or false, not null"},

		{"attachments null", swap(`"attachments": [`, `"attachments": null, "x": [`), 0, "attachments: want an array, not null"},
		{"attachments [null]", swap(`"attachments": [`, `"attachments": [null, `), 0, "attachments[0]: want an object, not null"},
		{"children [null]", swap(`"children": []`, `"children": [null]`), 0, "children[0]: want a string, not null"},
		{"children null", swap(`"children": []`, `"children": null`), 0, "children: want an array, not null"},
		{"a digest null", swap(`"root": "0x0000000000000000000000000000000000000000000000000000000000000000"`, `"root": null`), 0, "root: want a string, not null"},
		{"input null", swap(`"input": "`, `"input": null, "x": "`), 0, "input: want a string, not null"},
		{"result null", swap(`"result": {`, `"result": null, "x": {`), 0, "hops[0].result: want an object, not null"},
		{"session null", swap(`"input": "`, `"session": null, "input": "`), 0, "hops[0].delegation.session: want an object, not null"},
		{"contents null", swap(`"hops"`, `"contents": null, "hops"`), -1, "contents: want an array, not null"},
		{"contents [null]", swap(`"hops"`, `"contents": [null], "hops"`), -1, "contents[0]: want a string, not null"},
		{"contents []", swap(`"hops"`, `"contents": [], "hops"`), -1, "contents is empty"},
		{"contents with a line break", swap(`"hops"`, `"contents": ["cGFn\nZQ=="], "hops"`), -1, "contents[0]: want base64"},
		{"contents with no padding", swap(`"hops"`, `"contents": ["cGFnZQ"], "hops"`), -1, "contents[0]: want base64"},
		{"contents with spare bits", swap(`"hops"`, `"contents": ["cGFnZR=="], "hops"`), -1, "contents[0]: want base64"},

		{"lone high surrogate", swap(`"input": "`, `"input": "\ud800`), 0, "hops[0].delegation.input: invalid surrogate pair"},
		{"lone low surrogate", swap(`"input": "`, `"input": "\udc00`), 0, "hops[0].delegation.input: invalid surrogate pair"},
		{"surrogates the wrong way round", swap(`"output": "`, `"output": "\ude00\ud83d`), 0, "hops[0].result.output: invalid surrogate pair"},
		{"surrogates in a name", swap(`"name": "page.html"`, `"name": "\ud83d.html"`), 0, "attachments[0].name: invalid surrogate pair"},
		{"invalid UTF-8", swap(`"input": "`, "\"input\": \"\xff"), 0, "hops[0].delegation.input: invalid UTF-8"},
		{"a surrogate in UTF-8", swap(`"input": "`, "\"input\": \"\xed\xa0\x80"), 0, "invalid UTF-8"},
		{"overlong UTF-8", swap(`"input": "`, "\"input\": \"\xc0\x80"), 0, "invalid UTF-8"},

		{"wrong checksum", swap(from, "0x7e5F4552091A69125d5DfCb7b8C2659029395Bdf"), 0, "hops[0].delegation.delegation.from: address"},
		{"upper-case address", swap(from, "0x"+strings.ToUpper(from[2:])), 0, "EIP-55 checksum"},
		{"upper-case 0X", swap(from, "0X"+from[2:]), 0, "want 0x and 40 hex digits"},
		{"no 0x", swap(from, from[2:]), 0, "want 0x and 40 hex digits"},
		{"no 0x, two digits more", swap(from, from[2:]+"00"), 0, "want 0x and 40 hex digits"},
		{"short address", swap(from, from[:40]), 0, "want 0x and 40 hex digits"},
		{"digest in upper case", swap(wallet.Keccak256([]byte("task")).String(), "0x"+strings.ToUpper(wallet.Keccak256([]byte("task")).String()[2:])), 0, "lower case"},
		{"short signature", swap(`"signature": "0x`, `"signature": "0x00", "x": "0x`), 0, "signature: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := swarm.VerifyJSON([]byte(c.text), swarm.Expect{})
			wantBroken(t, report, c.hop, swarm.RuleForm)
			if report.Hops == nil || len(report.Checks) != 1 {
				t.Fatalf("report %+v", report)
			}
			if detail := report.Checks[0].Detail; !strings.Contains(detail, c.says) {
				t.Errorf("%q does not say %q", detail, c.says)
			}
			_, err := swarm.ParseBundle([]byte(c.text))
			wantCode(t, err, swarm.CodeInvalid)
		})
	}
	hop, err := json.Marshal(build(t, realTree[:1], change{}).Hops[0])
	if err != nil {
		t.Fatal(err)
	}
	hops := string(hop) + strings.Repeat(","+string(hop), swarm.MaxBundleHops)
	_, err = swarm.ParseBundle([]byte(`{"format":"swarmseal-bundle/1","chainId":1,"hops":[` + hops + `]}`))
	wantCode(t, err, swarm.CodeTooLarge)
	_, err = swarm.ParseBundle(make([]byte, swarm.MaxBundleBytes+1))
	wantCode(t, err, swarm.CodeTooLarge)
}

// A long foreign name does not make a long error.
func TestVerifyNoBundleIsBrief(t *testing.T) {
	name := strings.Repeat("x", 100_000)
	for _, text := range []string{
		`{"` + name + `":1}`, `{"format":"` + name + `","chainId":1,"hops":[]}`, `{"format":` + strings.Repeat("1", 100_000) + `}`,
		`{"format":"swarmseal-bundle/1","chainId":` + strings.Repeat("1", 100_000) + `,"hops":[]}`,
	} {
		report := swarm.VerifyJSON([]byte(text), swarm.Expect{})
		if detail := report.Checks[0].Detail; len(detail) > 1000 {
			t.Errorf("%d bytes: %.200s", len(detail), detail)
		}
	}
}

// The same document, written otherwise.
func TestVerifyWrittenOtherwise(t *testing.T) {
	whole := string(marshal(t, build(t, realTree, change{})))
	var tree any
	if err := json.Unmarshal([]byte(whole), &tree); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(tree) // members by name, no white space, and < as \u003c
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as it was": whole, "members sorted": string(sorted),
		"tabs":                  strings.ReplaceAll(whole, "\n", "\r\n\t"),
		"escaped":               strings.ReplaceAll(whole, `"input": "Find`, `"input": "\u0046ind`),
		"a member's name":       strings.ReplaceAll(whole, `"chainId"`, `"\u0063hainId"`),
		"a pair of surrogates":  strings.ReplaceAll(whole, `天`, `\u5929`),
		"addresses, lower case": strings.ReplaceAll(whole, addressOf(scout).String(), strings.ToLower(addressOf(scout).String())),
	} {
		if name != "as it was" && text == whole {
			t.Errorf("%s: nothing was changed", name)
		}
		if report := swarm.VerifyJSON([]byte(text), swarm.Expect{}); !report.Verified {
			t.Errorf("%s: %+v", name, report.Broken())
		}
	}
}

// What registers and signs in is read as strictly.
func TestDecodeStrict(t *testing.T) {
	domain := swarm.Domain(testChain)
	registration, err := swarm.SignRegistration(t.Context(), keyOf(scout), domain, swarm.Registration{Seq: 7, Active: true}, `{"name":"Scout"}`)
	if err != nil {
		t.Fatal(err)
	}
	session, err := swarm.SignSession(t.Context(), keyOf(scout), domain, swarm.Session{Scope: []string{swarm.ScopeWorker}})
	if err != nil {
		t.Fatal(err)
	}
	text := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	zero := `"0x` + strings.Repeat("0", 130) + `"`
	for _, c := range []struct {
		name     string
		text     string
		into     any
		old, new string
		says     string
	}{
		{"registration", text(registration), new(swarm.SignedRegistration), "", "", ""},
		{"session", text(session), new(swarm.SignedSession), "", "", ""},
		{"seq over 2^53", text(registration), new(swarm.SignedRegistration), `"seq":7`, `"seq":9007199254740993`, "registration.seq: want a whole number"},
		{"seq twice", text(registration), new(swarm.SignedRegistration), `"seq":7`, `"seq":7,"seq":8`, "duplicate"},
		{"no seq", text(registration), new(swarm.SignedRegistration), `"seq":7,`, ``, `registration: the member "seq" is missing`},
		{"active null", text(registration), new(swarm.SignedRegistration), `"active":true`, `"active":null`, "registration.active: want true or false, not null"},
		{"active 1", text(registration), new(swarm.SignedRegistration), `"active":true`, `"active":1`, "registration.active: want true or false"},
		{"an owner's signature of zeros", text(registration), new(swarm.SignedRegistration), `"card"`, `"ownerSignature":` + zero + `,"card"`, "ownerSignature: no signature"},
		{"card an object", text(registration), new(swarm.SignedRegistration), `"card":"`, `"card":{},"x":"`, "card: want a string, not an object"},
		{"scope [null]", text(session), new(swarm.SignedSession), `["worker"]`, `[null]`, "session.scope[0]: want a string, not null"},
		{"scope null", text(session), new(swarm.SignedSession), `["worker"]`, `null`, "session.scope: want an array, not null"},
		{"scope a text", text(session), new(swarm.SignedSession), `["worker"]`, `"worker"`, "session.scope: want an array, not a string"},
		{"a lone surrogate", text(session), new(swarm.SignedSession), `["worker"]`, `["\udfff"]`, "session.scope[0]: invalid surrogate pair"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(c.text, c.old) {
				t.Fatalf("no %q in %s", c.old, c.text)
			}
			err := swarm.DecodeStrict([]byte(strings.Replace(c.text, c.old, c.new, 1)), c.into)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantCode(t, err, swarm.CodeInvalid)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

package swarm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func attachment(name, content string) swarm.Attachment {
	return swarm.Attachment{Name: name, MediaType: "text/plain", Size: uint64(len(content)), Hash: wallet.Keccak256([]byte(content))}
}

// filesTree is a run whose hops pass files on: b goes down and comes back, and
// two are empty.
func filesTree(t testing.TB) *swarm.Bundle {
	return build(t, realTree[:2], change{
		delegation: func(i int, d *swarm.Delegation) {
			d.Attachments = [][]swarm.Attachment{{attachment("a", "file a"), attachment("b", "file b")}, {attachment("b again", "file b"), attachment("none", "")}}[i]
		},
		result: func(i int, r *swarm.Result) {
			r.Attachments = [][]swarm.Attachment{{attachment("c", "file c\x00\xff")}, {attachment("none too", ""), attachment("b", "file b")}}[i]
		},
	})
}

func TestAttach(t *testing.T) {
	b := filesTree(t)
	wantCode(t, b.Attach([]byte("file b"), []byte("file d")), swarm.CodeInvalid)
	if b.Contents != nil {
		t.Errorf("contents %q after an error", b.Contents)
	}
	for _, c := range []string{"file b", "file b", "", "file c\x00\xff", "file a"} {
		if err := b.Attach([]byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"file a", "file b", "file c\x00\xff", ""}; !slices.EqualFunc(b.Contents, want, func(c swarm.Content, s string) bool { return string(c) == s }) {
		t.Errorf("contents %q, want %q", b.Contents, want)
	}
	report := swarm.VerifyJSON(marshal(t, b), swarm.Expect{Attachments: map[wallet.Digest]uint64{}})
	if !report.Verified {
		t.Errorf("not verified: %+v", report.Broken())
	}
	if n := len(report.Attachments); n != 7 {
		t.Errorf("%d attachments, want 7", n)
	}
	for _, a := range report.Attachments {
		if !a.Bytes {
			t.Errorf("%+v was not looked at", a)
		}
	}
}

func TestVerifyContents(t *testing.T) {
	sizes := func(contents ...string) map[wallet.Digest]uint64 {
		m := make(map[wallet.Digest]uint64)
		for _, c := range contents {
			m[wallet.Keccak256([]byte(c))] = uint64(len(c))
		}
		return m
	}
	for _, c := range []struct {
		name     string
		contents []string
		beside   map[wallet.Digest]uint64
		hop      int
		rule     swarm.Rule // "" where it holds
		says     string
	}{
		{"none", nil, nil, 0, "", ""},
		{"some", []string{"file b", ""}, nil, 0, "", ""},
		{"all", []string{"file a", "file b", "file c\x00\xff", ""}, sizes(), 0, "", ""},
		{"all, some of them beside it", []string{"file a", ""}, sizes("file b", "file c\x00\xff", "file d"), 0, "", ""},
		{"one missing", []string{"file a", "file b", ""}, sizes(), 0, swarm.RuleResultAttachments, `"c"`},
		{"all missing", nil, sizes(), 1, swarm.RuleDelegationAttachments, `nothing that is at hand`},
		{"changed", []string{"file A"}, nil, -1, swarm.RuleContents, "no attachment does"},
		{"changed beside it", nil, sizes("file A", "file b", "file c\x00\xff", ""), 0, swarm.RuleDelegationAttachments, `"a"`},
		{"twice", []string{"file a", "file a"}, nil, -1, swarm.RuleContents, "twice"},
		{"swapped", []string{"file b", "file a"}, nil, -1, swarm.RuleContents, "order"},
		{"of nothing", []string{"file d"}, nil, -1, swarm.RuleContents, "no attachment does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := filesTree(t)
			for _, content := range c.contents {
				b.Contents = append(b.Contents, []byte(content))
			}
			report := swarm.VerifyJSON(marshal(t, b), swarm.Expect{Attachments: c.beside})
			if c.rule == "" {
				if !report.Verified {
					t.Errorf("not verified: %+v", report.Broken())
				}
				return
			}
			wantBroken(t, report, c.hop, c.rule)
			if !slices.ContainsFunc(report.Broken(), func(b swarm.Check) bool { return b.Rule == c.rule && strings.Contains(b.Detail, c.says) }) {
				t.Errorf("%+v does not say %q", report.Broken(), c.says)
			}
		})
	}
}

// A size that was signed and is not that of the bytes.
func TestVerifySizes(t *testing.T) {
	wrong := func(list *[]swarm.Attachment) {
		*list = []swarm.Attachment{attachment("a", "file a")}
		(*list)[0].Size++
	}
	b := build(t, realTree[:1], change{delegation: func(_ int, d *swarm.Delegation) { wrong(&d.Attachments) }})
	b.Contents = []swarm.Content{[]byte("file a")}
	wantBroken(t, b.Verify(swarm.Expect{}), 0, swarm.RuleDelegationAttachments)
	b = build(t, realTree[:1], change{result: func(_ int, r *swarm.Result) { wrong(&r.Attachments) }})
	b.Contents = []swarm.Content{[]byte("file a")}
	wantBroken(t, b.Verify(swarm.Expect{}), 0, swarm.RuleResultAttachments)
	b = build(t, realTree[:1], change{result: func(_ int, r *swarm.Result) { r.Attachments = []swarm.Attachment{{Size: 1 << 53}} }})
	wantBroken(t, b.Verify(swarm.Expect{}), 0, swarm.RuleResultAttachments)
}

// Two hops of one digest's file in one delegation's list must not write into
// each other's: the lists share no memory.
func TestVerifyLeavesTheBundleAlone(t *testing.T) {
	b := filesTree(t)
	if err := b.Attach([]byte("file a")); err != nil {
		t.Fatal(err)
	}
	before := string(marshal(t, b))
	b.Hops[0].Delegation.Delegation.Attachments = slices.Grow(b.Hops[0].Delegation.Delegation.Attachments, 8)
	b.Verify(swarm.Expect{})
	if after := string(marshal(t, b)); after != before {
		t.Error("Verify changed the bundle")
	}
}

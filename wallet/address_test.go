package wallet_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
)

// checksummed are the test vectors of EIP-55.
var checksummed = []string{
	"0x52908400098527886E0F7030069857D2E4169EE7",
	"0x8617E340B3D01FA5F11F306F4090FD50E238070D",
	"0xde709f2102306220921060314715629080e2fb77",
	"0x27b1fdb04752bbc536007a920d24acb045561c26",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
}

func TestParseAddress(t *testing.T) {
	for _, s := range checksummed {
		a, err := wallet.ParseAddress(s)
		if err != nil || a.String() != s {
			t.Errorf("ParseAddress(%q) = %v, %v", s, a, err)
		}
		lower, err := wallet.ParseAddress(strings.ToLower(s))
		if err != nil || lower != a {
			t.Errorf("ParseAddress(%q) = %v, %v; all lower case is accepted", strings.ToLower(s), lower, err)
		}
	}
	const good = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"one digit's case", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", wallet.ErrAddressChecksum},
		{"all upper case", "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", wallet.ErrAddressChecksum},
		{"one digit", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee", wallet.ErrAddressChecksum},
		{"empty", "", wallet.ErrAddressForm},
		{"no 0x", good[2:], wallet.ErrAddressForm},
		{"0X", "0X" + good[2:], wallet.ErrAddressForm},
		{"short", good[:41], wallet.ErrAddressForm},
		{"long", good + "0", wallet.ErrAddressForm},
		{"no hex digit", good[:41] + "g", wallet.ErrAddressForm},
		{"white space", " " + good, wallet.ErrAddressForm},
		{"a digit of another script", good[:40] + "٣", wallet.ErrAddressForm},
	} {
		a, err := wallet.ParseAddress(c.text)
		if !errors.Is(err, c.want) || !a.IsZero() {
			t.Errorf("%s: ParseAddress(%q) = %v, %v; want %v", c.name, c.text, a, err, c.want)
		}
		if e, ok := errors.AsType[*wallet.AddressError](err); !ok || e.Text != c.text {
			t.Errorf("%s: the error %#v does not have the text", c.name, err)
		}
	}
	_, err := wallet.ParseAddress(strings.Repeat("x", 1000))
	if len(err.Error()) > 200 {
		t.Errorf("the error of a long text has %d bytes", len(err.Error()))
	}
}

func TestFoldAddress(t *testing.T) {
	want := wallet.MustParseAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	for text, ok := range map[string]bool{
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed":  true,
		"0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED":  true,
		"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed":  true,
		"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed":  true, // wrong checksum
		"0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed":  false,
		"5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed":    false,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0": false,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe":   false,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg":  false,
		"": false,
	} {
		got, isOK := wallet.FoldAddress(text)
		if isOK != ok || ok && got != want || !ok && !got.IsZero() {
			t.Errorf("FoldAddress(%q) = %v, %v", text, got, isOK)
		}
	}
}

func TestAddressJSON(t *testing.T) {
	const text = `{"a":"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359","by":{"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB":1}}`
	var v struct {
		A  wallet.Address         `json:"a"`
		By map[wallet.Address]int `json:"by"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(v); err != nil || string(got) != text {
		t.Errorf("JSON round trip gave %s, %v", got, err)
	}
	before := v.A
	for _, bad := range []string{`"0x"`, `7`, `"0xFB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"`} {
		if err := json.Unmarshal([]byte(bad), &v.A); err == nil || v.A != before {
			t.Errorf("Unmarshal(%s) = %v, %v; want an error and no change", bad, v.A, err)
		}
	}
}

func TestAddressShort(t *testing.T) {
	if got := wallet.MustParseAddress(checksummed[4]).Short(); got != "0x5aAe…eAed" {
		t.Errorf("Short = %q", got)
	}
}

func TestMustParseAddressPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("MustParseAddress of a bad address returned")
		}
	}()
	wallet.MustParseAddress("0x5")
}

// An address that was read prints as one of the two texts that read as it.
func FuzzAddress(f *testing.F) {
	for _, s := range checksummed {
		f.Add(s)
		f.Add(strings.ToLower(s))
		f.Add(s[:41] + "g")
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := wallet.ParseAddress(s)
		folded, ok := wallet.FoldAddress(s)
		if err != nil {
			if !a.IsZero() {
				t.Errorf("ParseAddress(%q) = %v with the error %v", s, a, err)
			}
			if ok != errors.Is(err, wallet.ErrAddressChecksum) {
				t.Errorf("FoldAddress(%q) is %v, and ParseAddress says %v", s, ok, err)
			}
			return
		}
		if !ok || folded != a {
			t.Errorf("FoldAddress(%q) = %v, ParseAddress gives %v", s, folded, a)
		}
		text := a.String()
		if s != text && s != strings.ToLower(text) {
			t.Errorf("%q was read as %v", s, a)
		}
		if again, err := wallet.ParseAddress(text); err != nil || again != a {
			t.Errorf("ParseAddress(%q) = %v, %v", text, again, err)
		}
	})
}

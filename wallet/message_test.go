package wallet_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"pgregory.net/rapid"

	"github.com/swarmseal/swarmseal/wallet"
)

// parcel is a struct with every kind of member, and its JSON is its members by name.
type parcel struct {
	ID     wallet.Digest   `json:"id"`
	To     wallet.Address  `json:"to"`
	Weight uint64          `json:"weight"`
	Price  wallet.Amount   `json:"price"`
	Urgent bool            `json:"urgent"`
	Note   string          `json:"note"`
	Items  []item          `json:"items"`
	Links  []wallet.Digest `json:"links"`
}

type item struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

const (
	itemTypes   = "Item(string name,uint64 count)"
	parcelTypes = "Parcel(bytes32 id,address to,uint64 weight,uint256 price,bool urgent,string note,Item[] items,bytes32[] links)" + itemTypes
)

func (p *parcel) message(domain wallet.Domain) wallet.Message {
	items := make([]wallet.Digest, len(p.Items))
	for i, it := range p.Items {
		items[i] = wallet.NewEncoder(wallet.Keccak256([]byte(itemTypes)), 2).String(it.Name).Uint64(it.Count).Sum()
	}
	hash := wallet.NewEncoder(wallet.Keccak256([]byte(parcelTypes)), 8).
		Bytes32(p.ID).Address(p.To).Uint64(p.Weight).Amount(p.Price).Bool(p.Urgent).String(p.Note).Array(items).Array(p.Links).Sum()
	return wallet.TypedMessage(domain, parcelTypes, hash, p)
}

// What other wallets are given hashes, by go-ethereum's reading of it, to the
// digest that is signed here.
func TestTypedDataAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b32 := func(label string) wallet.Digest {
			return wallet.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
		}
		p := parcel{
			ID: b32("id"), To: wallet.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "to")),
			Weight: rapid.Uint64().Draw(t, "weight"), Price: wallet.Amount(b32("price")), Urgent: rapid.Bool().Draw(t, "urgent"),
			Note: rapid.String().Draw(t, "note"), Items: []item{}, Links: []wallet.Digest{},
		}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			p.Items = append(p.Items, item{rapid.String().Draw(t, "name"), rapid.Uint64().Draw(t, "count")})
			p.Links = append(p.Links, b32("link"))
		}
		m := p.message(wallet.NewDomain("Parcels", "2", rapid.Uint64().Draw(t, "chain")))
		if m.IsZero() || wallet.Keccak256(m.Preimage()) != m.Digest() {
			t.Fatalf("the preimage %x does not hash to the digest %v", m.Preimage(), m.Digest())
		}
		data, err := m.TypedData()
		if err != nil {
			t.Fatal(err)
		}
		var theirs apitypes.TypedData
		if err := json.Unmarshal(data, &theirs); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		got, preimage, err := apitypes.TypedDataAndHash(theirs)
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if wallet.Digest(got) != m.Digest() || preimage != string(m.Preimage()) {
			t.Errorf("go-ethereum hashes it to 0x%x, we to %v: %s", got, m.Digest(), data)
		}
		if _, ok := m.Text(); ok {
			t.Error("typed data is no text")
		}
	})
}

func TestPersonalMessage(t *testing.T) {
	for _, text := range []string{"", "hello", "two\nlines", "天气", strings.Repeat("x", 1000), "\xff\x00"} {
		m := wallet.PersonalMessage(text)
		if got, want := m.Digest(), wallet.Digest(accounts.TextHash([]byte(text))); got != want {
			t.Errorf("%q: digest %v, go-ethereum's is %v", text, got, want)
		}
		if got, ok := m.Text(); !ok || got != text {
			t.Errorf("Text = %q, %t; want %q", got, ok, text)
		}
		if _, err := m.TypedData(); !errors.Is(err, wallet.ErrNotTypedData) {
			t.Errorf("TypedData of a text: %v", err)
		}
		if wallet.Keccak256(m.Preimage()) != m.Digest() {
			t.Errorf("%q: the preimage is another's", text)
		}
	}
}

// The vector of web3.js' documentation: accounts.sign("Some data").
func TestPersonalVector(t *testing.T) {
	sig, err := wallet.ParseSignature("0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c")
	if err != nil {
		t.Fatal(err)
	}
	address := wallet.MustParseAddress("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23")
	if err := wallet.Verify(address, wallet.PersonalMessage("Some data").Digest(), sig); err != nil {
		t.Error(err)
	}
}

func TestTypedDataForm(t *testing.T) {
	domain := wallet.NewDomain("Example", "1", 1<<63)
	text := func(types string, message any) string {
		data, err := wallet.TypedMessage(domain, types, wallet.Digest{}, message).TypedData()
		if err != nil {
			return "error: " + err.Error()
		}
		return string(data)
	}
	for _, c := range []struct {
		name, types string
		message     any
		want        string
	}{
		{"numbers as text", "A(uint64 n)", map[string]any{"n": uint64(1<<64 - 1)},
			`{"domain":{"chainId":"9223372036854775808","name":"Example","version":"1"},"message":{"n":"18446744073709551615"},"primaryType":"A",` +
				`"types":{"A":[{"name":"n","type":"uint64"}],"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"}]}}`},
		{"no members", "A()", map[string]any{},
			`{"domain":{"chainId":"9223372036854775808","name":"Example","version":"1"},"message":{},"primaryType":"A",` +
				`"types":{"A":[],"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"}]}}`},
		{"no type", "", map[string]any{}, "error: message: there is no type"},
		{"no parentheses", "A", map[string]any{}, `error: message: type "A": want Name(type member,…)`},
		{"not closed", "A(uint64 n", map[string]any{}, `error: message: type "A(uint64 n": want Name(type member,…)`},
		{"no name", "(uint64 n)", map[string]any{}, `error: message: type "(uint64 n)": want Name(type member,…)`},
		{"no member's name", "A(uint64)", map[string]any{}, `error: message: type "A(uint64)": "uint64" is no member`},
		{"an empty member", "A(uint64 n,)", map[string]any{}, `error: message: type "A(uint64 n,)": "" is no member`},
		{"no object", "A(uint64 n)", []int{1}, "error: message: A: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{"no JSON", "A(uint64 n)", func() {}, "error: message: A: json: unsupported type: func()"},
	} {
		if got := text(c.types, c.message); got != c.want {
			t.Errorf("%s: TypedData = %s, want %s", c.name, got, c.want)
		}
	}
}

func TestKeySignsMessages(t *testing.T) {
	key := mustKey(t, knownKey)
	for _, m := range []wallet.Message{wallet.PersonalMessage("hello"), (&parcel{}).message(wallet.NewDomain("Parcels", "2", 1))} {
		sig, err := key.Sign(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if err := wallet.Verify(key.Address(), m.Digest(), sig); err != nil {
			t.Error(err)
		}
	}
	if sig, err := key.Sign(t.Context(), wallet.Message{}); !errors.Is(err, wallet.ErrNoMessage) || !sig.IsZero() {
		t.Errorf("signing nothing gave %v, %v", sig, err)
	}
}

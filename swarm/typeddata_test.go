package swarm_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	ethmath "github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
	"pgregory.net/rapid"
)

// oracleTypes reads the types as wallets are shown them, written out a second
// time: a type that was changed by mistake then differs from them.
func oracleTypes(t fataler) apitypes.Types {
	t.Helper()
	data, err := os.ReadFile("testdata/types.json")
	if err != nil {
		t.Fatal(err)
	}
	var types apitypes.Types
	if err := json.Unmarshal(data, &types); err != nil {
		t.Fatal(err)
	}
	return types
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// oracle gives go-ethereum's hash and digest of a message, which it reads from
// the JSON: what a wallet is handed to sign is what travels.
func oracle(t fataler, primary string, chainID uint64, message any) (structHash, digest wallet.Digest) {
	t.Helper()
	data := typedData(t, primary, chainID, message)
	hash, err := data.HashStruct(primary, data.Message)
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := apitypes.TypedDataAndHash(data)
	if err != nil {
		t.Fatal(err)
	}
	return wallet.Digest(hash), wallet.Digest(sum)
}

// typedData gives a message as go-ethereum takes it.
func typedData(t fataler, primary string, chainID uint64, message any) apitypes.TypedData {
	t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // a float64 would round
	var members apitypes.TypedDataMessage
	if err := dec.Decode(&members); err != nil {
		t.Fatal(err)
	}
	numbersAsText(members)
	return apitypes.TypedData{
		Types: oracleTypes(t), PrimaryType: primary, Message: members,
		Domain: apitypes.TypedDataDomain{Name: "Swarmseal", Version: "1", ChainId: (*ethmath.HexOrDecimal256)(new(big.Int).SetUint64(chainID))},
	}
}

func numbersAsText(members map[string]any) {
	for name, v := range members {
		switch v := v.(type) {
		case json.Number:
			members[name] = v.String()
		case []any:
			for _, element := range v {
				if m, ok := element.(map[string]any); ok {
					numbersAsText(m)
				}
			}
		}
	}
}

// signed is any of the messages.
type signed interface {
	Digest(domain wallet.Domain) wallet.Digest
}

// drawn gives a message of each type with members drawn at random, and the
// chain that they are for. No number is over largest.
func drawn(t *rapid.T, largest uint64) (chainID uint64, messages map[string]signed) {
	number := func(label string) uint64 { return rapid.Uint64Range(0, largest).Draw(t, label) }
	b32 := func(label string) wallet.Digest {
		return wallet.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
	}
	address := func(label string) wallet.Address {
		return wallet.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, label))
	}
	digests := func(label string) []wallet.Digest {
		list := []wallet.Digest{}
		for range rapid.IntRange(0, 3).Draw(t, label) {
			list = append(list, b32(label))
		}
		return list
	}
	attachments := []swarm.Attachment{}
	for range rapid.IntRange(0, 3).Draw(t, "attachments") {
		attachments = append(attachments, swarm.Attachment{Name: rapid.String().Draw(t, "name"),
			MediaType: rapid.String().Draw(t, "type"), Size: number("size"), Hash: b32("hash")})
	}
	return number("chain"), map[string]signed{
		"Delegation": &swarm.Delegation{
			TaskID: b32("task"), Root: b32("root"), Parent: b32("parent"), Hop: rapid.Uint8().Draw(t, "hop"), MaxHops: rapid.Uint8().Draw(t, "maxHops"),
			From: address("from"), To: address("to"), Server: address("server"), Skill: rapid.String().Draw(t, "skill"), InputHash: b32("input"),
			Attachments: attachments, Asset: address("asset"), MaxPrice: wallet.Amount(b32("price")),
			IssuedAt: number("issued"), ExpiresAt: number("expires"), Nonce: b32("nonce"),
		},
		"Result": &swarm.Result{
			Delegation: b32("delegation"), TaskID: b32("task"), From: address("from"), To: address("to"), Status: swarm.Status(rapid.Uint8().Draw(t, "status")),
			Seq: rapid.Uint32().Draw(t, "seq"), Last: rapid.Bool().Draw(t, "last"), OutputHash: b32("output"), Attachments: attachments,
			Children: digests("children"), Price: wallet.Amount(b32("price")), IssuedAt: number("issued"),
		},
		"Arrival": &swarm.Arrival{Result: b32("result"), Server: address("server"), ReceivedAt: number("received"), Late: rapid.Bool().Draw(t, "late")},
		"Registration": &swarm.Registration{
			Wallet: address("wallet"), Owner: address("owner"), Seq: number("seq"), Endpoint: rapid.String().Draw(t, "endpoint"),
			CardHash: b32("card"), Replaces: address("replaces"), Active: rapid.Bool().Draw(t, "active"),
			IssuedAt: number("issued"), ExpiresAt: number("expires"), Nonce: b32("nonce"),
		},
		"Session": &swarm.Session{
			Origin: rapid.String().Draw(t, "origin"), Wallet: address("wallet"), SessionKey: address("key"),
			Scope:    append([]string{}, rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "scope")...),
			IssuedAt: number("issued"), ExpiresAt: number("expires"), Nonce: b32("nonce"),
		},
	}
}

func TestDigestsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chainID, messages := drawn(t, math.MaxUint64)
		for primary, message := range messages {
			if _, want := oracle(t, primary, chainID, message); message.Digest(swarm.Domain(chainID)) != want {
				t.Errorf("%s: digest %v, go-ethereum's is %v", primary, message.Digest(swarm.Domain(chainID)), want)
			}
		}
	})
}

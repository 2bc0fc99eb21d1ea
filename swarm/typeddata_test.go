package swarm_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
	"pgregory.net/rapid"
)

// schema is what wallets are shown, written out here a second time: a type
// that was changed by mistake then differs from it.
const schema = `
Delegation(bytes32 taskId,bytes32 root,bytes32 parent,uint8 hop,uint8 maxHops,address from,address to,address server,string skill,bytes32 inputHash,Attachment[] attachments,address asset,uint256 maxPrice,uint64 issuedAt,uint64 expiresAt,bytes32 nonce)
Attachment(string name,string mediaType,uint64 size,bytes32 hash)
Result(bytes32 delegation,bytes32 taskId,address from,address to,uint8 status,uint32 seq,bool last,bytes32 outputHash,Attachment[] attachments,bytes32[] children,uint256 price,uint64 issuedAt)
Arrival(bytes32 result,address server,uint64 receivedAt,bool late)
Registration(address wallet,address owner,uint64 seq,string endpoint,bytes32 cardHash,address replaces,bool active,uint64 issuedAt,uint64 expiresAt,bytes32 nonce)
Session(string origin,address wallet,address sessionKey,string[] scope,uint64 issuedAt,uint64 expiresAt,bytes32 nonce)
EIP712Domain(string name,string version,uint256 chainId)
`

// oracleTypes gives the schema as go-ethereum takes it.
func oracleTypes() apitypes.Types {
	types := make(apitypes.Types)
	for line := range strings.Lines(schema) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), "(")
		if !ok {
			continue
		}
		for _, member := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
			typ, member, _ := strings.Cut(member, " ")
			types[name] = append(types[name], apitypes.Type{Name: member, Type: typ})
		}
	}
	return types
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// oracle gives go-ethereum's digest of a message, which it reads from the
// JSON: what a wallet is handed to sign is what travels.
func oracle(t fataler, primary string, chainID uint64, message any) wallet.Digest {
	t.Helper()
	digest, _, err := apitypes.TypedDataAndHash(typedData(t, primary, chainID, message))
	if err != nil {
		t.Fatal(err)
	}
	return wallet.Digest(digest)
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
		Types: oracleTypes(), PrimaryType: primary, Message: members,
		Domain: apitypes.TypedDataDomain{Name: "Swarmseal", Version: "1", ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chainID))},
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

func TestDigestsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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
				MediaType: rapid.String().Draw(t, "type"), Size: rapid.Uint64().Draw(t, "size"), Hash: b32("hash")})
		}
		chainID := rapid.Uint64().Draw(t, "chain")
		for primary, message := range map[string]signed{
			"Delegation": &swarm.Delegation{
				TaskID: b32("task"), Root: b32("root"), Parent: b32("parent"), Hop: rapid.Uint8().Draw(t, "hop"), MaxHops: rapid.Uint8().Draw(t, "maxHops"),
				From: address("from"), To: address("to"), Server: address("server"), Skill: rapid.String().Draw(t, "skill"), InputHash: b32("input"),
				Attachments: attachments, Asset: address("asset"), MaxPrice: wallet.Amount(b32("price")),
				IssuedAt: rapid.Uint64().Draw(t, "issued"), ExpiresAt: rapid.Uint64().Draw(t, "expires"), Nonce: b32("nonce"),
			},
			"Result": &swarm.Result{
				Delegation: b32("delegation"), TaskID: b32("task"), From: address("from"), To: address("to"), Status: swarm.Status(rapid.Uint8().Draw(t, "status")),
				Seq: rapid.Uint32().Draw(t, "seq"), Last: rapid.Bool().Draw(t, "last"), OutputHash: b32("output"), Attachments: attachments,
				Children: digests("children"), Price: wallet.Amount(b32("price")), IssuedAt: rapid.Uint64().Draw(t, "issued"),
			},
			"Arrival": &swarm.Arrival{Result: b32("result"), Server: address("server"), ReceivedAt: rapid.Uint64().Draw(t, "received"), Late: rapid.Bool().Draw(t, "late")},
			"Registration": &swarm.Registration{
				Wallet: address("wallet"), Owner: address("owner"), Seq: rapid.Uint64().Draw(t, "seq"), Endpoint: rapid.String().Draw(t, "endpoint"),
				CardHash: b32("card"), Replaces: address("replaces"), Active: rapid.Bool().Draw(t, "active"),
				IssuedAt: rapid.Uint64().Draw(t, "issued"), ExpiresAt: rapid.Uint64().Draw(t, "expires"), Nonce: b32("nonce"),
			},
			"Session": &swarm.Session{
				Origin: rapid.String().Draw(t, "origin"), Wallet: address("wallet"), SessionKey: address("key"),
				Scope:    rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "scope"),
				IssuedAt: rapid.Uint64().Draw(t, "issued"), ExpiresAt: rapid.Uint64().Draw(t, "expires"), Nonce: b32("nonce"),
			},
		} {
			if got, want := message.Digest(swarm.Domain(chainID)), oracle(t, primary, chainID, message); got != want {
				t.Errorf("%s: digest %v, go-ethereum's is %v", primary, got, want)
			}
		}
	})
}

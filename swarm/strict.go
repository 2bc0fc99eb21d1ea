package swarm

import (
	"github.com/go-json-experiment/json"
)

// DecodeStrict reads one JSON value into v as every signed document is read:
// unknown and repeated members, invalid UTF-8, lone surrogates and anything
// after the value are errors, and member names match by case. Two readers of
// one text can then never see two documents.
func DecodeStrict(data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return &Error{Code: CodeInvalid, Message: err.Error()}
	}
	return nil
}

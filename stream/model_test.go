package stream_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/wallet"
)

// Generation B ends a model's answer by model.done: the end of the run where
// the stream ends behind it, and not where more comes.
func TestModelDone(t *testing.T) {
	const answer = "data: {\"domain\":\"model\",\"type\":\"model.done\"}\n\n"
	const text = "data: {\"domain\":\"model\",\"type\":\"model.text.delta\",\"delta\":\"a\"}\n\n"
	for _, tt := range []struct {
		name, body string
		want       []string
		truncated  bool
	}{
		{"last", text + answer, []string{"model.text.delta", "model.done"}, false},
		{"asked again", answer + text + answer, []string{"model.done", "model.text.delta", "model.done"}, false},
		{"cut in the second answer", answer + text, []string{"model.done", "model.text.delta"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := serve(t, say(tt.body))
			c.Retry = stream.NoRetry
			got, err := collect(t, c.Run(t.Context(), wallet.Address{1}, stream.Request{Message: "hi"}))
			if !slices.Equal(got, tt.want) || errors.Is(err, stream.ErrTruncated) != tt.truncated {
				t.Errorf("got %q, %v; want %q, truncated %t", got, err, tt.want, tt.truncated)
			}
		})
	}
}

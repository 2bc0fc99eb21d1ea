package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// vector is one case of testdata/sse.json; its README gives the format.
type vector struct {
	Name   string       `json:"name"`
	Chunks []base64Text `json:"chunks_base64"`
	Frames []struct {
		ID    string     `json:"id"`
		Event string     `json:"event"`
		Data  joinedText `json:"data"`
	} `json:"frames"`
	LastEventID string `json:"last_event_id"`
	RetryMS     *int64 `json:"retry_ms"`
	End         string `json:"end"`
}

type repeat struct {
	Repeat struct {
		Base64 string `json:"base64"`
		Text   string `json:"text"`
		Times  int    `json:"times"`
	} `json:"repeat"`
}

// base64Text is the bytes of a base64 string or of a repeat of one.
type base64Text []byte

func (b *base64Text) UnmarshalJSON(data []byte) error {
	var r repeat
	r.Repeat.Times = 1
	if data[0] == '"' {
		if err := json.Unmarshal(data, &r.Repeat.Base64); err != nil {
			return err
		}
	} else if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	one, err := base64.StdEncoding.DecodeString(r.Repeat.Base64)
	*b = bytes.Repeat(one, r.Repeat.Times)
	return err
}

// joinedText is a string or a list of pieces to join.
type joinedText string

func (j *joinedText) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(j))
	}
	var pieces []json.RawMessage
	if err := json.Unmarshal(data, &pieces); err != nil {
		return err
	}
	for _, piece := range pieces {
		if piece[0] == '"' {
			var text string
			if err := json.Unmarshal(piece, &text); err != nil {
				return err
			}
			*j += joinedText(text)
			continue
		}
		var r repeat
		if err := json.Unmarshal(piece, &r); err != nil {
			return err
		}
		*j += joinedText(strings.Repeat(r.Repeat.Text, r.Repeat.Times))
	}
	return nil
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/sse.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) == 0 {
		t.Fatal("testdata/sse.json has no cases")
	}
	return vectors
}

func (v vector) bytes() []byte {
	var all []byte
	for _, c := range v.Chunks {
		all = append(all, c...)
	}
	return all
}

// chunkReader gives one chunk a read, or what of it fits.
type chunkReader [][]byte

func (c *chunkReader) Read(p []byte) (int, error) {
	for len(*c) > 0 && len((*c)[0]) == 0 {
		*c = (*c)[1:]
	}
	if len(*c) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*c)[0])
	(*c)[0] = (*c)[0][n:]
	return n, nil
}

// cut gives data in chunks of random sizes, most of them short.
func cut(rnd *rand.Rand, data []byte) *chunkReader {
	var chunks chunkReader
	for len(data) > 0 {
		n := 1 + rnd.IntN(4)
		if rnd.IntN(4) == 0 {
			n = 1 + rnd.IntN(5000)
		}
		n = min(n, len(data))
		chunks = append(chunks, data[:n])
		data = data[n:]
	}
	return &chunks
}

// outcome is all that a scanner has to say of a stream.
type outcome struct {
	frames    []Frame
	lastID    string
	retry     int64
	hasRetry  bool
	comments  int
	said      []comment
	truncated bool
	err       string
}

// comment is a comment's text and how many frames came before it.
type comment struct {
	frames int
	text   string
}

func scan(s *Scanner) outcome {
	var o outcome
	s.OnComment = func(text []byte) { o.said = append(o.said, comment{len(o.frames), string(text)}) }
	for {
		f, err := s.Next()
		if err == nil {
			f.Data = bytes.Clone(f.Data)
			o.frames = append(o.frames, f)
			continue
		}
		o.lastID, o.comments, o.truncated = s.LastEventID(), s.Comments(), s.Truncated()
		o.retry, o.hasRetry = s.Retry()
		if !errors.Is(err, io.EOF) {
			o.err = err.Error()
		}
		return o
	}
}

// differ says where two outcomes differ, "" where they do not.
func (o outcome) differ(want outcome) string {
	for i := range max(len(o.frames), len(want.frames)) {
		switch {
		case i >= len(o.frames):
			return fmt.Sprintf("frame %d is missing: want %.200q", i, want.frames[i])
		case i >= len(want.frames):
			return fmt.Sprintf("frame %d is one too many: %.200q", i, o.frames[i])
		}
		a, b := o.frames[i], want.frames[i]
		if a.ID != b.ID || a.Event != b.Event || !bytes.Equal(a.Data, b.Data) {
			return fmt.Sprintf("frame %d is %.200q, want %.200q", i, a, b)
		}
	}
	o.frames, want.frames = nil, nil
	if a, b := fmt.Sprintf("%+v", o), fmt.Sprintf("%+v", want); a != b {
		return fmt.Sprintf("end: %s, want %s", a, b)
	}
	return ""
}

func TestScannerVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			want := outcome{lastID: v.LastEventID, truncated: v.End == "truncated"}
			for _, f := range v.Frames {
				want.frames = append(want.frames, Frame{f.ID, f.Event, []byte(f.Data)})
			}
			if v.RetryMS != nil {
				want.retry, want.hasRetry = *v.RetryMS, true
			}
			check := func(how string, r io.Reader) {
				t.Helper()
				got := scan(NewScanner(r))
				got.comments, got.said = 0, nil // the vectors leave them out
				if diff := got.differ(want); diff != "" {
					t.Errorf("%s: %s", how, diff)
				}
			}
			all := v.bytes()
			var given chunkReader
			for _, c := range v.Chunks {
				given = append(given, slices.Clone(c))
			}
			check("as given", &given)
			check("whole", bytes.NewReader(all))
			check("one byte at a time", iotest.OneByteReader(bytes.NewReader(all)))
			check("error with the last bytes", iotest.DataErrReader(bytes.NewReader(all)))
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				check("at random", cut(rnd, all))
			}
		})
	}
}

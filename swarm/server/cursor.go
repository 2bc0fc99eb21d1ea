package server

import (
	"math"
	"strconv"
	"strings"

	"github.com/swarmseal/swarmseal/swarm"
)

// cursor is how far a client has come in a stream. As text it is the id of the
// newest frame that the client has: "17" for the last frame of record 17,
// "17.2" for the second of several, "17.0" for the gap event that stands
// before them. So a stream that is cut anywhere goes on with the frame behind
// the cut.
//
// The zero value is a stream's start.
type cursor struct {
	seq    uint64 // the record
	frames int    // how many of its frames the client has
}

const allFrames = math.MaxInt

// parseCursor reads a Last-Event-ID; "" and "0" are a stream's start.
func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	c := cursor{frames: allFrames}
	seq, frames, grouped := strings.Cut(text, ".")
	var err error
	if c.seq, err = strconv.ParseUint(seq, 10, 64); err == nil && grouped {
		var n uint64
		n, err = strconv.ParseUint(frames, 10, 31)
		c.frames = int(n)
	}
	if err != nil {
		return cursor{}, swarm.Errorf(swarm.CodeInvalid, "Last-Event-ID is %.80q; ids here are decimal numbers, such as 17, or 17.2 within a group", text)
	}
	if c.seq == 0 {
		return cursor{}, nil
	}
	return c, nil
}

func (c cursor) String() string {
	if c.frames == allFrames {
		return strconv.FormatUint(c.seq, 10)
	}
	return strconv.FormatUint(c.seq, 10) + "." + strconv.Itoa(c.frames)
}

// whole gives the newest record of which the client has every frame, and of
// all those before.
func (c cursor) whole() uint64 {
	if c.frames == allFrames {
		return c.seq
	}
	return max(c.seq, 1) - 1
}

// frameID gives the id of frame i of the n that a record has, counted from 1;
// frame 0 is the gap event before them.
func frameID(seq uint64, i, n int) string {
	if i == n {
		i = allFrames
	}
	return cursor{seq, i}.String()
}

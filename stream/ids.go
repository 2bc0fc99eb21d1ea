package stream

import "strings"

// idBlockBytes is the size of the blocks that ids share: so long that ids of
// some digits cost next to no allocation, so short that one which is kept, and
// its block with it, holds little.
const idBlockBytes = 1 << 10

// idTexts makes strings of ids. Ids change with every frame, so a string for
// each would be the one thing that a frame allocates. Each block is written
// once, from front to back, so its strings stay good for as long as anybody
// has one.
type idTexts struct{ block strings.Builder }

func (t *idTexts) text(value []byte) string {
	if t.block.Cap()-t.block.Len() < len(value) {
		t.block.Reset() // forgets the block, which its strings keep
		t.block.Grow(max(idBlockBytes, len(value)))
	}
	start := t.block.Len()
	t.block.Write(value)
	return t.block.String()[start:]
}

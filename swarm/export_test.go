package swarm

import "github.com/swarmseal/swarmseal/wallet"

// StructHash gives what the digest of a message is made of: the vectors have
// it, so that another implementation sees which half of its own is wrong.
func StructHash(m interface{ hash() wallet.Digest }) wallet.Digest { return m.hash() }

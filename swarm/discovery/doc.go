// Package discovery finds agents by what they say they can do.
//
// An [Index] holds agents' cards in memory and ranks them for a query:
//
//	x := discovery.NewIndex()
//	x.Put(card) // searchable from here on
//	found := x.Search(swarm.Query{Text: "count the words of a page"}, func(c *swarm.Card) bool {
//		return busy[c.Wallet] // leave these out
//	})
//
// # Words
//
// Texts are split at everything that is neither letter nor digit, and case is
// folded. Names written in camelCase or with hyphens are found by their parts
// and as a whole. English endings are taken off; a word with other letters
// than a to z stays as it is. Chinese, Japanese, Korean, Thai and their like
// are cut into pairs of neighbouring characters.
//
// # Scores
//
// A score is BM25F as a share of what an agent would have that speaks of
// nothing but the five rarest of the query's words. So it is between 0 and 1
// and means the same for a short query and for a long one, in a swarm of three
// agents and in one of thousands; a word that no agent knows counts against
// all. With the default strictness of 0.2, most queries that nobody answers
// give an empty list; so do some that are answered in other words than the
// query's, since nothing here knows that "car" and "vehicle" are one thing.
//
// An agent whose name, wallet or skill id is the query comes first, always.
package discovery

package discovery

import "strings"

// stopWords are left out of queries, where they say nothing of what is asked
// for: English function words, the pieces that apostrophes leave ("don't"),
// and the words with which one asks. Documents keep them: an index then has
// not to be built anew for another list, and a query of nothing else still
// finds something.
var stopWords = func() map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(stopText) {
		set[w] = true
	}
	return set
}()

const stopText = `
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one someone something anyone anything everyone everything nothing
who whom whose which what when where why how whether
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought
and or but nor so yet if then else than because as until while although though unless
of at by for with without about against between among into through during before after above below to from up
down in out on off over under upon within toward towards via per
again further once here there now just also too very really only even still already ever
all any both each few more most much many other others another some such no not own same
s t d ll re ve m don didn doesn isn aren wasn weren won wouldn couldn shouldn haven hasn hadn ain let
please help want need like know get give tell find show look looking
provide recommend recommendation recommendations suggest suggestion suggestions use using able available
`

package discovery

import (
	"iter"

	"github.com/swarmseal/swarmseal/swarm"
)

// The fields of a card that are searched. Skills and capabilities share two:
// what they are called, and what is said of them.
const (
	fieldName = iota
	fieldSummary
	fieldDescription
	fieldSkillName
	fieldSkillText
	fieldTags
	fieldExamples
	fieldCount
)

// weights say how often a word counts when it stands in a field once. What an
// agent and its skills are called says more than what is told of them.
var weights = [fieldCount]float64{
	fieldName:        4,
	fieldSummary:     1,
	fieldDescription: 1,
	fieldSkillName:   3,
	fieldSkillText:   1,
	fieldTags:        2,
	fieldExamples:    1,
}

// fieldTexts gives each text of a card with its field.
func fieldTexts(c *swarm.Card) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		each := func(field int, texts ...string) bool {
			for _, text := range texts {
				if !yield(field, text) {
					return false
				}
			}
			return true
		}
		if !each(fieldName, c.Name) || !each(fieldSummary, c.Summary) || !each(fieldDescription, c.Description) ||
			!each(fieldTags, c.Tags...) || !each(fieldExamples, c.Examples...) {
			return
		}
		for i := range c.Capabilities {
			if !each(fieldSkillName, c.Capabilities[i].Name) || !each(fieldSkillText, c.Capabilities[i].Description) {
				return
			}
		}
		for i := range c.Skills {
			s := &c.Skills[i]
			if !each(fieldSkillName, s.Name) || !each(fieldSkillText, s.Description) ||
				!each(fieldTags, s.Tags...) || !each(fieldExamples, s.Examples...) {
				return
			}
		}
	}
}

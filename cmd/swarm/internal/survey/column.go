package survey

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxCell is how many characters of a cell are told.
const maxCell = 60

// A Column is one column's profile.
type Column struct {
	Name string `json:"name"` // "column 3" where the table has no names
	// Type is the narrowest that fits every cell that is not null: int, float
	// (or a mixture of both), bool (true, false, yes, no in any case), date
	// (year first, with or without a time) or text; empty where all are null.
	// Numbers with a leading zero and whole numbers of more than 64 bits are
	// text, as they are names, not amounts; so are dates with the year last,
	// as which part is the month can't be told, and decimal commas.
	Type string `json:"type"`
	// Nulls are cells with nothing but blanks or one of NA, N/A, NaN, nan,
	// NULL, null.
	Nulls int `json:"nulls"`
	// Distinct counts different cells, nulls apart. Where DistinctExact is
	// false there are more than this number, MaxDistinct.
	Distinct      int  `json:"distinct"`
	DistinctExact bool `json:"distinctExact"`
	// Min and Max are cells as they stand: by amount, by time, else by their
	// bytes. "" where all are null.
	Min string `json:"min"`
	Max string `json:"max"`
	// Numbers is null but for int and float.
	Numbers *Numbers `json:"numbers"`
}

// Numbers describe the amounts of a column.
type Numbers struct {
	Mean float64 `json:"mean"`
	// Quartiles by linear interpolation between the two nearest, as R and
	// NumPy have them.
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	// Sampled is true where there were more than MaxSample numbers: then the
	// quartiles are those of as many, drawn by chance with a fixed seed.
	Sampled bool `json:"sampled"`
}

type cellKind uint8

const (
	textCell cellKind = iota
	intCell
	floatCell
	boolCell
	dateCell
	cellKinds
)

// A cell is a value read as what it looks like.
type cell struct {
	kind   cellKind
	amount float64 // of an int or float
	whole  int64   // of an int, or a date's seconds and a bool's 0 or 1
}

func isNull(s string) bool {
	switch s {
	case "", "NA", "N/A", "NaN", "nan", "NULL", "null":
		return true
	}
	return false
}

// maxAmount bounds numbers so that a sum of as many as a table can hold is
// still one.
const maxAmount = 1e300

// classify reads a cell that is not null and has no blanks around it.
func classify(s string) cell {
	switch c := s[0]; {
	case '0' <= c && c <= '9', c == '-', c == '+', c == '.':
		if at, ok := date(s); ok {
			return cell{kind: dateCell, whole: at}
		}
		if n, ok := number(s); ok {
			return n
		}
	case len(s) <= 5:
		switch strings.ToLower(s) {
		case "true", "yes":
			return cell{kind: boolCell, whole: 1}
		case "false", "no":
			return cell{kind: boolCell}
		}
	}
	return cell{kind: textCell}
}

func number(s string) (cell, bool) {
	digits, whole := strings.TrimLeft(s, "+-"), true
	if len(s)-len(digits) > 1 || digits == "" {
		return cell{}, false
	}
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return cell{}, false // a postcode, an article's number
	}
	for i := range len(digits) {
		switch c := digits[i]; {
		case '0' <= c && c <= '9':
		case c == '.', c == 'e', c == 'E', c == '+', c == '-':
			whole = false
		default: // what ParseFloat would take: hexadecimals, Inf, underscores
			return cell{}, false
		}
	}
	if whole {
		n, err := strconv.ParseInt(s, 10, 64)
		return cell{kind: intCell, amount: float64(n), whole: n}, err == nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return cell{kind: floatCell, amount: f}, err == nil && math.Abs(f) <= maxAmount
}

var dateForms = []string{time.DateOnly, time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006/01/02"}

// date gives the seconds of a date since 1970, in UTC where it names no zone.
func date(s string) (int64, bool) {
	if len(s) < len("2006-01-02") || len(s) > 40 || s[4] != '-' && s[4] != '/' {
		return 0, false
	}
	for _, form := range dateForms {
		if at, err := time.Parse(form, s); err == nil {
			return at.Unix(), true
		}
	}
	return 0, false
}

// A column adds up one column of a table while it is read.
type column struct {
	name  string
	nulls int
	kinds [cellKinds]int

	distinct map[string]struct{}
	over     bool // more than MaxDistinct

	sum, lost           float64 // Neumaier's sum and what it lost to rounding
	sample              []float64
	chance              *rand.Rand
	least, most         [cellKinds]cell
	leastText, mostText [cellKinds]string
	// Of all cells as text, for a column whose cells are not of one kind.
	first, last string
}

func newColumn(name string) *column {
	return &column{name: name, distinct: map[string]struct{}{}}
}

func (c *column) add(s string) {
	s = strings.TrimSpace(s)
	if isNull(s) {
		c.nulls++
		return
	}
	v := classify(s)
	seen := c.seen()
	if seen == 0 || s < c.first {
		c.first = strings.Clone(s) // the reader's buffer is a whole row
	}
	if seen == 0 || s > c.last {
		c.last = strings.Clone(s)
	}
	if v.kind != textCell {
		k := v.kind
		if c.kinds[k] == 0 || v.less(c.least[k]) {
			c.least[k], c.leastText[k] = v, strings.Clone(s)
		}
		if c.kinds[k] == 0 || c.most[k].less(v) {
			c.most[k], c.mostText[k] = v, strings.Clone(s)
		}
	}
	c.kinds[v.kind]++
	if v.kind == intCell || v.kind == floatCell {
		c.number(v.amount)
	}
	if !c.over {
		if _, ok := c.distinct[s]; !ok {
			if c.over = len(c.distinct) == MaxDistinct; !c.over {
				c.distinct[strings.Clone(s)] = struct{}{}
			}
		}
	}
}

func (v cell) less(o cell) bool {
	if v.kind == floatCell {
		return v.amount < o.amount
	}
	return v.whole < o.whole
}

func (c *column) seen() (n int) {
	for _, k := range c.kinds {
		n += k
	}
	return n
}

func (c *column) number(f float64) {
	sum := c.sum + f
	if math.Abs(c.sum) >= math.Abs(f) {
		c.lost += (c.sum - sum) + f
	} else {
		c.lost += (f - sum) + c.sum
	}
	c.sum = sum
	n := c.kinds[intCell] + c.kinds[floatCell]
	if n <= MaxSample {
		c.sample = append(c.sample, f)
		return
	}
	// Each number has the same chance to be in the sample, wherever it stands:
	// the first ones alone would belie a table that is sorted.
	if c.chance == nil {
		c.chance = rand.New(rand.NewPCG(1, 2))
	}
	if i := c.chance.IntN(n); i < MaxSample {
		c.sample[i] = f
	}
}

func (c *column) result() Column {
	r := Column{Name: c.name, Nulls: c.nulls, Distinct: len(c.distinct), DistinctExact: !c.over}
	seen := c.seen()
	numbers := c.kinds[intCell] + c.kinds[floatCell]
	switch seen {
	case 0:
		r.Type = "empty"
		return r
	case c.kinds[intCell]:
		r.Type = "int"
		r.Min, r.Max = c.leastText[intCell], c.mostText[intCell]
	case numbers:
		r.Type = "float"
		low, high := floatCell, floatCell
		if c.kinds[intCell] > 0 && c.least[intCell].amount < c.least[floatCell].amount {
			low = intCell
		}
		if c.kinds[intCell] > 0 && c.most[intCell].amount > c.most[floatCell].amount {
			high = intCell
		}
		r.Min, r.Max = c.leastText[low], c.mostText[high]
	case c.kinds[boolCell]:
		r.Type = "bool"
		r.Min, r.Max = c.leastText[boolCell], c.mostText[boolCell]
	case c.kinds[dateCell]:
		r.Type = "date"
		r.Min, r.Max = c.leastText[dateCell], c.mostText[dateCell]
	default:
		r.Type = "text"
		r.Min, r.Max = c.first, c.last
	}
	r.Min, r.Max = clip(r.Min, maxCell), clip(r.Max, maxCell)
	if numbers == seen {
		slices.Sort(c.sample)
		r.Numbers = &Numbers{
			Mean: (c.sum + c.lost) / float64(numbers),
			Q1:   quantile(c.sample, 0.25), Median: quantile(c.sample, 0.5), Q3: quantile(c.sample, 0.75),
			Sampled: numbers > MaxSample,
		}
	}
	return r
}

// quantile is of sorted numbers, at least one.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (sorted[i+1]-sorted[i])*(at-float64(i))
}

func (c Column) text(b *strings.Builder) {
	distinct := group(c.Distinct) + " distinct"
	if !c.DistinctExact {
		distinct = "over " + distinct
	}
	fmt.Fprintf(b, "  %s: %s, %s, %s", c.Name, c.Type, plural(c.Nulls, "null"), distinct)
	if c.Type != "empty" {
		fmt.Fprintf(b, ", from %s to %s", c.Min, c.Max)
	}
	if n := c.Numbers; n != nil {
		fmt.Fprintf(b, ", mean %.6g, quartiles %.6g, %.6g, %.6g", n.Mean, n.Q1, n.Median, n.Q3)
		if n.Sampled {
			fmt.Fprintf(b, " (of a sample of %s)", group(MaxSample))
		}
	}
	b.WriteByte('\n')
}

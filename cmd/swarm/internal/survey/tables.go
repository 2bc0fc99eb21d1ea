package survey

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/go-enry/go-enry/v2"
)

// Limits of the tables' survey.
const (
	MaxTables   = 20      // tables profiled; more are counted
	MaxColumns  = 64      // columns of one table profiled; more are counted
	MaxDistinct = 10_000  // distinct values of one column told apart
	MaxSample   = 262_144 // numbers of one column kept for its quartiles
)

// A TableReport profiles the folder's tables.
type TableReport struct {
	Tables []Table `json:"tables"` // by path, at most MaxTables
	Count  int     `json:"count"`  // of all *.csv and *.tsv files
	// Beyond counts those met after MaxTables were profiled.
	Beyond int   `json:"beyondMaxTables"`
	Scope  Scope `json:"scope"`
}

// A Table is one *.csv or *.tsv file.
type Table struct {
	File      string `json:"file"`
	Delimiter string `json:"delimiter"` // comma, semicolon or tab
	// Header is true when the first row is taken for names: no cell of it is
	// a number, a date or a truth value or longer than 60 characters, none is
	// empty but the first, and none occurs twice. A table of nothing but short
	// texts has its first row taken for names, whether it means them or not.
	Header  bool `json:"header"`
	Rows    int  `json:"rows"` // without the header and malformed rows
	Columns int  `json:"columns"`
	// Ragged counts rows with more or fewer cells than the first has. Cells
	// too few count as nulls, cells too many are left out.
	Ragged      int `json:"ragged"`
	FirstRagged int `json:"firstRaggedLine,omitempty"` // its line, from 1
	// Malformed counts rows that are not CSV (RFC 4180): a quote within an
	// unquoted cell, text behind a closing quote, a quote never closed. They
	// are left out.
	Malformed      int      `json:"malformed"`
	FirstMalformed int      `json:"firstMalformedLine,omitempty"`
	Profile        []Column `json:"profile"` // at most MaxColumns
}

// Tables profiles every *.csv and *.tsv file below dir, by its whole content.
// Where there is none, the error matches [ErrNothing] and reads "no CSV file
// in DIR".
//
// Comma, semicolon and tab are tried on the beginning of a file; the one that
// cuts most of its rows into as many cells as the first row is taken. Empty
// lines are no rows.
func Tables(ctx context.Context, dir string) (TableReport, error) {
	return readTables(ctx, dir, stated)
}

func readTables(ctx context.Context, dir string, lim limits) (TableReport, error) {
	r := TableReport{Tables: []Table{}, Scope: newScope(lim)}
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		ext := strings.ToLower(path.Ext(e.name))
		if ext != ".csv" && ext != ".tsv" {
			return nil
		}
		r.Count++
		if len(r.Tables) == MaxTables {
			r.Beyond++
			return nil
		}
		f, ok := e.whole(lim.table)
		if !ok {
			return nil
		}
		defer f.Close()
		t, err := profile(ctx, f, ext == ".tsv")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errBinary):
			r.Scope.Binary++
			return nil
		case err != nil:
			r.Scope.Unreadable.add(e.path, lim.listed)
			return nil
		}
		r.Scope.Read++
		t.File = Quote(e.path)
		r.Tables = append(r.Tables, t)
		return nil
	})
	if err == nil && r.Count == 0 {
		err = &nothingError{"CSV file", dir, r.Scope}
	}
	if err != nil {
		return TableReport{}, err
	}
	return r, nil
}

var errBinary = errors.New("binary")

// sniffed is how much of a table decides on its delimiter.
const sniffed = 64 << 10

// profile reads one table through. Its error is the reader's, the context's or
// errBinary.
func profile(ctx context.Context, from io.Reader, tsv bool) (Table, error) {
	in := bufio.NewReaderSize(from, sniffed)
	head, err := in.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return Table{}, err
	}
	if enry.IsBinary(head) {
		return Table{}, errBinary
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		in.Discard(3)
		head = head[3:]
	}
	comma := sniff(head, len(head) < sniffed-3, tsv)
	t := Table{Delimiter: delimiters[comma]}
	rows := reader(in, comma)
	var columns []*column
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return Table{}, context.Cause(ctx)
		}
		row, err := rows.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			for _, c := range columns {
				t.Profile = append(t.Profile, c.result())
			}
			if t.Profile == nil {
				t.Profile = []Column{}
			}
			return t, nil
		case errors.As(err, &bad):
			if t.Malformed++; t.Malformed == 1 {
				t.FirstMalformed = bad.StartLine
			}
			continue
		case err != nil:
			return Table{}, err
		}
		if columns == nil {
			t.Columns, t.Header = len(row), isHeader(row)
			for i := range min(len(row), MaxColumns) {
				name := fmt.Sprintf("column %d", i+1)
				if t.Header && strings.TrimSpace(row[i]) != "" {
					name = clip(row[i], maxCell)
				}
				columns = append(columns, newColumn(name))
			}
			if t.Header {
				continue
			}
		}
		t.Rows++
		if len(row) != t.Columns {
			if t.Ragged++; t.Ragged == 1 {
				t.FirstRagged, _ = rows.FieldPos(0)
			}
		}
		for i, c := range columns {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			c.add(cell)
		}
	}
}

func reader(from io.Reader, comma rune) *csv.Reader {
	r := csv.NewReader(from)
	r.Comma = comma
	r.FieldsPerRecord = -1 // ragged rows are counted, not refused
	r.ReuseRecord = true
	return r
}

var delimiters = map[rune]string{',': "comma", ';': "semicolon", '\t': "tab"}

// sniff finds the delimiter by the first rows. whole says that head is the
// whole file; else its last row may be cut, and is left out.
func sniff(head []byte, whole, tsv bool) rune {
	if !whole {
		if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
			head = head[:i]
		}
	}
	order := []rune{',', ';', '\t'}
	if tsv {
		order = []rune{'\t', ',', ';'}
	}
	best, bestRows, bestCells := order[0], 0, 0
	for _, comma := range order {
		rows := reader(bytes.NewReader(head), comma)
		cells, same := 0, 0
		for range 50 {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				continue
			}
			if cells == 0 {
				cells = len(row)
			}
			if len(row) == cells {
				same++
			}
		}
		if cells > 1 && (same > bestRows || same == bestRows && cells > bestCells) {
			best, bestRows, bestCells = comma, same, cells
		}
	}
	return best
}

func isHeader(row []string) bool {
	seen := map[string]bool{}
	for i, cell := range row {
		cell = strings.TrimSpace(cell)
		switch {
		case seen[cell], cell == "" && i > 0, cell == "" && len(row) == 1, utf8.RuneCountInString(cell) > maxCell:
			return false
		case cell != "" && classify(cell).kind != textCell:
			return false
		}
		seen[cell] = true
	}
	return true
}

// Text has a line for each of the first tables, and one for each of their
// first columns.
func (r TableReport) Text() string {
	const most, mostColumns = 5, 12
	var b strings.Builder
	if len(r.Tables) == 0 {
		fmt.Fprintf(&b, "None of %s could be read.\n", plural(r.Count, "CSV file"))
	}
	for _, t := range r.Tables[:min(len(r.Tables), most)] {
		fmt.Fprintf(&b, "%s: %s, %s, %s-separated, ", t.File, plural(t.Rows, "row"), plural(t.Columns, "column"), t.Delimiter)
		if t.Header {
			b.WriteString("first row taken for names")
		} else {
			b.WriteString("no row of names")
		}
		if t.Ragged > 0 {
			fmt.Fprintf(&b, "; %s ragged, first on line %d", group(t.Ragged), t.FirstRagged)
		}
		if t.Malformed > 0 {
			fmt.Fprintf(&b, "; %s malformed and left out, first on line %d", group(t.Malformed), t.FirstMalformed)
		}
		b.WriteString(".\n")
		for _, c := range t.Profile[:min(len(t.Profile), mostColumns)] {
			c.text(&b)
		}
		if more := t.Columns - min(len(t.Profile), mostColumns); more > 0 {
			fmt.Fprintf(&b, "  and %s\n", plural(more, "more column"))
		}
	}
	if more := len(r.Tables) - most; more > 0 {
		fmt.Fprintf(&b, "And %s profiled.\n", plural(more, "more table"))
	}
	if r.Beyond > 0 {
		fmt.Fprintf(&b, "Not profiled: %s after the first %d.\n", plural(r.Beyond, "CSV file"), MaxTables)
	}
	r.Scope.text(&b)
	return b.String()
}

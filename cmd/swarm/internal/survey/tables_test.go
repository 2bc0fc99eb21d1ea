package survey

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

func profiled(t testing.TB, text string, tsv bool) Table {
	t.Helper()
	table, err := profile(t.Context(), strings.NewReader(text), tsv)
	must(t, err)
	return table
}

func TestTables(t *testing.T) {
	dir := folder(t, map[string]string{
		"people.csv": "\ufeffname,age,height,member,joined,note\n" +
			"Ann,30,1.7,true,2024-01-02,\n" +
			"Bo,4,2,FALSE,2023-12-31,x\n" +
			"\"Cy, Jr\",,1.85,yes,2024-02-30,NA\n" + // no such day: text
			"Di,-5,NaN,no,2024/05/06,\n",
		"EU.TSV":          "a;b\tc\n1\t2\n",
		"empty.csv":       "",
		"bin.csv":         "a,b\x00\n",
		"sub/x.csv":       "1;2\n3;4\n",
		".cache/no.csv":   "a\n",
		"not a table.csx": "a,b\n",
	})
	r, err := Tables(t.Context(), dir)
	must(t, err)
	if r.Count != 5 || len(r.Tables) != 4 || r.Scope.Binary != 1 {
		t.Fatalf("%d tables counted, %d profiled, %d binary; want 5, 4, 1", r.Count, len(r.Tables), r.Scope.Binary)
	}
	nan := math.NaN() // stands for no number below
	want := []Column{
		{"name", "text", 0, 4, true, "Ann", "Di", numbers(nan, 0, 0, 0)},
		// 30, 4 and −5: mean 29/3, quartiles at 0.5, 1 and 1.5 of −5 4 30.
		{"age", "int", 1, 3, true, "-5", "30", numbers(29.0/3, -0.5, 4, 17)},
		// 1.7, 2, 1.85
		{"height", "float", 1, 3, true, "1.7", "2", numbers(1.85, 1.775, 1.85, 1.925)},
		{"member", "bool", 0, 4, true, "FALSE", "true", numbers(nan, 0, 0, 0)},
		{"joined", "text", 0, 4, true, "2023-12-31", "2024/05/06", numbers(nan, 0, 0, 0)},
		{"note", "text", 3, 1, true, "x", "x", numbers(nan, 0, 0, 0)},
	}
	people := r.Tables[2]
	if len(people.Profile) != len(want) {
		t.Fatalf("%+v", people)
	}
	for i, c := range people.Profile {
		if n := c.Numbers; n != nil { // to twelve digits: the sums are of binary fractions
			for _, f := range []*float64{&n.Mean, &n.Q1, &n.Median, &n.Q3} {
				*f = math.Round(*f*1e12) / 1e12
			}
			want[i].Numbers.Mean = math.Round(want[i].Numbers.Mean*1e12) / 1e12
		}
		equal(t, "column", inJSON(t, c), inJSON(t, want[i]))
	}
	people.Profile = nil
	equal(t, "people", people, Table{File: "people.csv", Delimiter: "comma", Header: true, Rows: 4, Columns: 6})
	equal(t, "empty", r.Tables[1], Table{File: "empty.csv", Delimiter: "comma", Profile: []Column{}})
	checkText(t, r)
	if text := r.Text(); !strings.Contains(text, "\npeople.csv: 4 rows, 6 columns, comma-separated, first row taken for names.\n  name: text, 0 nulls, 4 distinct, from Ann to Di\n  age: int, 1 null, 3 distinct, from -5 to 30, mean 9.66667, quartiles -0.5, 4, 17\n") {
		t.Errorf("text:\n%s", text)
	}
}

func numbers(mean, q1, median, q3 float64) *Numbers {
	if math.IsNaN(mean) {
		return nil
	}
	return &Numbers{Mean: mean, Q1: q1, Median: median, Q3: q3}
}

// inJSON shows a column with the numbers behind its pointer.
func inJSON(t *testing.T, c Column) string {
	t.Helper()
	b, err := json.Marshal(c)
	must(t, err)
	return string(b)
}

func TestNoTables(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": "package a\n"})
	_, err := Tables(t.Context(), dir)
	if want := "no CSV file in " + dir; !errors.Is(err, ErrNothing) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestShapes(t *testing.T) {
	tests := []struct {
		name, text string
		tsv        bool
		want       Table
	}{
		{"semicolons", "a;b\n1,5;2\n", false, Table{Delimiter: "semicolon", Header: true, Rows: 1, Columns: 2}},
		{"tabs in csv", "a\tb,c\n1\t2\n", false, Table{Delimiter: "tab", Header: true, Rows: 1, Columns: 2}},
		{"commas in tsv", "a,b\n1,2\n", true, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"one column", "a\n1\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 1}},
		{"one column of tsv", "a\n1\n", true, Table{Delimiter: "tab", Header: true, Rows: 1, Columns: 1}},
		{"delimiters in quotes", "\"a;b;c\",d\n\"e;f;g\",h\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"no header: number", "a,1\nb,2\n", false, Table{Delimiter: "comma", Rows: 2, Columns: 2}},
		{"no header: twice", "a,a\n", false, Table{Delimiter: "comma", Rows: 1, Columns: 2}},
		{"no header: empty", "a,\n", false, Table{Delimiter: "comma", Rows: 1, Columns: 2}},
		{"no header: long", "a," + strings.Repeat("x", 61) + "\n", false, Table{Delimiter: "comma", Rows: 1, Columns: 2}},
		{"header with an index", ",a\n0,x\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"ragged", "a,b\n1\n1,2\n1,2,3\n", false, Table{Delimiter: "comma", Header: true, Rows: 3, Columns: 2, Ragged: 2, FirstRagged: 2}},
		{"line ends", "a,b\r\n\r\n1,2\r\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"no last line end", "a,b\n1,2", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"line end in quotes", "a,b\n\"1\n2\",3\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2}},
		{"bare quote", "a,b\n1,5\" pipe\n3,4\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2, Malformed: 1, FirstMalformed: 2}},
		{"open quote", "a,b\n1,2\n3,\"4\n5,6\n", false, Table{Delimiter: "comma", Header: true, Rows: 1, Columns: 2, Malformed: 1, FirstMalformed: 3}},
		{"mark alone", "\ufeff", false, Table{Delimiter: "comma"}},
	}
	for _, test := range tests {
		got := profiled(t, test.text, test.tsv)
		got.Profile = nil
		equal(t, test.name, got, test.want)
	}
}

func TestColumnTypes(t *testing.T) {
	tests := []struct{ cells, kind, least, most string }{
		{"1 2 10", "int", "1", "10"},
		{"+1 -2 0", "int", "-2", "+1"},
		{"9223372036854775807 9223372036854775806", "int", "9223372036854775806", "9223372036854775807"},
		{"9223372036854775808", "text", "9223372036854775808", "9223372036854775808"},
		{"007 10", "text", "007", "10"},
		{"0.5 0 -0", "float", "0", "0.5"},
		{"1 2.5 3", "float", "1", "3"},
		{"1e3 .5 -2.", "float", "-2.", "1e3"},
		{"1e301", "text", "1e301", "1e301"},
		{"0x10", "text", "0x10", "0x10"},
		{"1_000", "text", "1_000", "1_000"},
		{"1,5", "text", "1,5", "1,5"},
		{"--1", "text", "--1", "--1"},
		{"Inf", "text", "Inf", "Inf"},
		{"- + .", "text", "+", "."},
		{"True no YES", "bool", "no", "True"},
		{"true 1", "text", "1", "true"},
		{"2024-02-29 2023-12-31", "date", "2023-12-31", "2024-02-29"},
		{"2024-01-01T12:00:00Z 2024-01-01T12:30:00+02:00", "date", "2024-01-01T12:30:00+02:00", "2024-01-01T12:00:00Z"},
		{"2023-02-29", "text", "2023-02-29", "2023-02-29"},
		{"31/12/2023", "text", "31/12/2023", "31/12/2023"},
		{"NA null NULL nan NaN N/A", "empty", "", ""},
		{"b a NA", "text", "a", "b"},
		{"a\x1b[31m", "text", `"a\x1b[31m"`, `"a\x1b[31m"`},
	}
	for _, test := range tests {
		c := newColumn("x")
		for _, cell := range strings.Split(test.cells, " ") {
			c.add(" " + cell + " ")
		}
		r := c.result()
		if r.Type != test.kind || r.Min != test.least || r.Max != test.most || (r.Numbers != nil) != (test.kind == "int" || test.kind == "float") {
			t.Errorf("%q: %s from %q to %q, want %s from %q to %q", test.cells, r.Type, r.Min, r.Max, test.kind, test.least, test.most)
		}
	}
}

func TestColumnLimits(t *testing.T) {
	c := newColumn("x")
	const n = MaxSample * 2
	for i := range n {
		c.add(fmt.Sprint(i))
	}
	r := c.result()
	if r.Distinct != MaxDistinct || r.DistinctExact || r.Min != "0" || r.Max != fmt.Sprint(n-1) {
		t.Errorf("%+v", r)
	}
	if r.Numbers.Mean != (n-1)/2.0 || !r.Numbers.Sampled {
		t.Errorf("mean %v of 0 to %d", r.Numbers.Mean, n-1)
	}
	// A sample of half a table sorted: within a hundredth.
	for want, got := range map[float64]float64{0.25: r.Numbers.Q1, 0.5: r.Numbers.Median, 0.75: r.Numbers.Q3} {
		if math.Abs(got/n-want) > 0.01 {
			t.Errorf("quartile %v of 0 to %d: %v", want, n-1, got)
		}
	}

	wide := profiled(t, strings.Repeat("1,", MaxColumns)+"1\n", false)
	if wide.Columns != MaxColumns+1 || len(wide.Profile) != MaxColumns || wide.Ragged != 0 {
		t.Errorf("%d columns, %d profiled", wide.Columns, len(wide.Profile))
	}

	files := map[string]string{}
	for i := range MaxTables + 3 {
		files[fmt.Sprintf("%02d.csv", i)] = "a\n1\n"
	}
	many, err := Tables(t.Context(), folder(t, files))
	must(t, err)
	if many.Count != MaxTables+3 || len(many.Tables) != MaxTables || !strings.Contains(many.Text(), "And 15 more tables profiled.\nNot profiled: 3 CSV files after the first 20.\n") {
		t.Errorf("%d counted, %d profiled:\n%s", many.Count, len(many.Tables), many.Text())
	}
}

// Sums that lose nothing: 1e16 and a thousand ones.
func TestMeanIsExact(t *testing.T) {
	c := newColumn("x")
	c.add("1e16")
	for range 999 {
		c.add("1")
	}
	c.add("-1e16")
	if got, want := c.result().Numbers.Mean, 999.0/1001; got != want {
		t.Errorf("mean %v, want %v", got, want)
	}
	c = newColumn("x")
	for range 1000 {
		c.add("1e300")
	}
	if got := c.result().Numbers.Mean; math.IsInf(got, 0) || math.Abs(got/1e300-1) > 1e-12 {
		t.Errorf("mean of a thousand 1e300: %v", got)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReaderFails(t *testing.T) {
	for _, before := range []string{"", "a,b\n1,2\n", strings.Repeat("1,2\n", sniffed)} {
		if _, err := profile(t.Context(), io.MultiReader(strings.NewReader(before), brokenReader{}), false); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: %v", len(before), err)
		}
	}
}

func FuzzProfile(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a;b\n1,5;x\n", "\ufeffa\tb\n\n2024-01-01\ttrue\n", "a,b\n1\n1,2,3\n", "a,\"b\n", "1,\"a\"b\n2,NA\n", "1e300,-1e300\n1e300,5\n"} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, tsv bool) {
		table, err := profile(t.Context(), bytes.NewReader(text), tsv)
		if errors.Is(err, errBinary) {
			return
		}
		must(t, err)
		if _, err := json.Marshal(table); err != nil {
			t.Fatalf("no JSON: %v", err)
		}
		// Every row is a header, a row or malformed.
		comma := map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t'}[table.Delimiter]
		rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
		rows.Comma, rows.FieldsPerRecord = comma, -1
		n, cells := 0, 0
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			n++
			if err == nil && cells == 0 {
				cells = len(row)
			}
		}
		header := map[bool]int{true: 1}[table.Header]
		if n != table.Rows+table.Malformed+header || cells != table.Columns || table.Ragged > table.Rows {
			t.Errorf("%d rows of %d cells: %+v", n, cells, table)
		}
		if len(table.Profile) != min(cells, MaxColumns) {
			t.Errorf("%d columns profiled of %d", len(table.Profile), cells)
		}
		for _, c := range table.Profile {
			if c.Nulls > table.Rows || c.Distinct > table.Rows-c.Nulls || (c.Type == "empty") != (c.Nulls == table.Rows) || (c.Distinct == 0) != (c.Type == "empty") {
				t.Errorf("%d rows: %+v", table.Rows, c)
			}
			if n := c.Numbers; n != nil && (n.Q1 > n.Median || n.Median > n.Q3 || math.IsNaN(n.Mean) || math.IsInf(n.Mean, 0)) {
				t.Errorf("%+v: %+v", c, *n)
			}
		}
	})
}

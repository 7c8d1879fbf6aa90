package formats

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommasInNumbersAreNamed(t *testing.T) {
	const decimal, thousands, either = "decimal comma in a number", "thousands separators", "may be a decimal comma or separate thousands"
	for field, want := range map[string]string{
		"1,5": decimal, "-0,25": decimal, "0,125": decimal, ",5": decimal, "3,": decimal, "12345,678": decimal, "1,5e-3": decimal, "1,2345": decimal,
		"1,234": either, "-12,345": either, "999,000": either,
		"1,234,567": thousands, "1,234.5": thousands, "1.234,56": thousands, "1.234.567": thousands, "1 234": thousands, "1'234'567,5": thousands,
		"1_000": thousands, "1\u202f234": thousands, "1\u00a0234,5": thousands,
		"cat": "", "1,a": "", "a,5": "", "1,2,3": "", "1;5": "", "12:30": "", "1-2": "", "": "", "1.5": "", "2024-01-05": "", strings.Repeat("1,", 99): "",
	} {
		got := looksNumeric([]byte(field))
		if want == "" && got != "" || want != "" && !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

// Messages name the column of the value and do not show the value.
func TestCommasInFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"semicolons.csv", "a;b;c\n1;2;3\n4;5,25;6\n", "line 3: column 2 has a decimal comma in a number"},
		{"quoted.csv", "a,b\n\"1,5\",2\n", "line 2: column 1 has a decimal comma"},
		{"tabs.tsv", "1\t2\n3\t1.234.567\n", "line 2: column 2 has thousands separators"},
		{"either.tsv", "1\t2\n3\t4\n5\t1,234\n", "line 3: column 2 has a comma in a number"},
		{"bare.csv", "1,5;2,5;3\n4,5;5,5;6\n", "line 1: column 2 holds a semicolon"},
		{"more.csv", "a,b\n1,5,2,5\n", "line 2: 4 columns, but the first line has 2; a decimal comma counts as a separator here"},
		{"more words.csv", "a,b\n1,x,2,5\n", "line 2: 4 columns, but the first line has 2"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadTable(context.Background(), path, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if c.name == "more words.csv" && strings.Contains(err.Error(), "decimal") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLabelColumn(t *testing.T) {
	for _, c := range []struct {
		name, text string
		settings   *TableSettings
		column     int
		shown      string
	}{
		{"breeds.csv", "a,b,breed\n1,2,cat\n2,3,dog\n4,5,cat\n", nil, 2, "breed"},
		{"fewest.csv", "name,breed,b\nx,cat,1\nx,dog,2\ny,cat,3\nz,dog,4\nx,cat,5\nw,dog,6\n", nil, 1, "breed"},
		{"no header.csv", "1,2,cat\n2,3,dog\n4,5,cat\n", nil, 2, ""},
		{"uncertain header.csv", "Alice,Hodgkin\nBob,Crohn\nCarol,Crohn\nDan,Hodgkin\nEve,Crohn\n", nil, 1, ""},
		{"said header.csv", "Alice,Hodgkin\nBob,Crohn\nCarol,Crohn\nDan,Hodgkin\nEve,Hodgkin\n", &TableSettings{Header: WithHeader}, 1, "Hodgkin"},
		{"all different.csv", "a,who\n1,x\n2,y\n3,z\n", nil, -1, ""},
		{"all the same.csv", "a,who\n1,x\n2,x\n3,x\n", nil, -1, ""},
		{"numbers below.csv", "a,who\n1,x\n2,x\n3,7\n", nil, -1, ""},
		{"decimal commas.tsv", "a\tb\n1,5\t2\n1,5\t3\n2,5\t1\n2,5\t1\n", nil, -1, ""},
		{"missing.csv", "a,who\n1,NA\n2,x\n3,x\n4,\n5,y\n6,y\n", nil, -1, ""}, // begins without a text
		{"later missing.csv", "a,who\n1,x\n2,x\n3,NA\n4,\n5,y\n6,y\n", nil, 1, "who"},
		{"ragged.csv", "a,who\n1,x\n2\n3,y\n4,x\n5,y\n", nil, 1, "who"},
		{"empty.csv", "", nil, -1, ""},
		{"header.csv", "a,b\n", nil, -1, ""},
		{"words.npy", "a,b\n1,x\n2,x\n3,y\n", nil, -1, ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if column, name := c.settings.LabelColumn(path); column != c.column || name != c.shown {
			t.Errorf("%s: column %d, %q, want %d, %q", c.name, column, name, c.column, c.shown)
		}
	}
	if column, _ := new(TableSettings).LabelColumn("nowhere.csv"); column != -1 {
		t.Error("a file that does not exist has a column of labels")
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module with a function, its tests and a table of mutants.
func module(t *testing.T, table string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module example.org/m\n\ngo 1.26\n",
		"sum/sum.go":          "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int {\n\ta += 0\n\ta += 0\n\treturn a + b\n}\n",
		"sum/sum_test.go":     "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error(\"sum\")\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif Sum(0, 0) != 0 {\n\t\tt.Error(\"zero\")\n\t}\n}\n\nfunc TestWrong(t *testing.T) { t.Error(\"always\") }\n\nfunc TestNever(t *testing.T) { t.Skip() }\n",
		"use/use_test.go":     "package use\n\nimport (\n\t\"testing\"\n\n\t\"example.org/m/sum\"\n)\n\nfunc TestUse(t *testing.T) {\n\tif sum.Sum(1, 1) != 2 {\n\t\tt.Error(\"use\")\n\t}\n}\n",
		".ci/mutate/sums.txt": table,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const minus = `# A comment.
mutant minus: a difference for a sum
in sum/sum.go
-return a + b
+return a - b
`

// Every mutant of the tables can still be made, whichever of them a run tries.
func TestMutantsCanBeMade(t *testing.T) {
	tables, err := filepath.Glob("*.txt")
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables: %v", len(tables), err)
	}
	all, err := readTables(tables)
	if err != nil {
		t.Fatal(err)
	}
	b := bench{root: filepath.Join("..", ".."), temporary: t.TempDir()}
	for _, m := range all {
		if _, err := b.overlay(m); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestMutate(t *testing.T) {
	for name, c := range map[string]struct {
		table, out, err string
	}{
		"killed": {minus + "killed in sum by Sum\n", "minus -> Sum\n1 mutants killed", ""},
		"killed in two packages": {
			"mutant product: a product for a sum\nin sum/sum.go\n-a + b\n+a*b\nkilled in sum by Sum\nkilled in use by Use\n",
			"product -> Sum Use\n", "",
		},
		"several replacements": {
			"mutant lines: two of them\nin sum/sum.go\n-int {\n-\ta += 0\n+int {\n+\ta += 1\n-\treturn a + b\n-}\n+\treturn b\n+}\n\nkilled in sum by Sum\n",
			"lines -> Sum\n", "",
		},
		"deleted text": {"mutant less: one left out\nin sum/sum.go\n- + b\nkilled in sum by Sum\n", "less -> Sum\n", ""},
		"survives one of two": {
			minus + "killed in sum by Sum Zero\n", "minus SURVIVES Zero of sum (a difference for a sum):\n--- FAIL: TestSum", "1 of 1 mutants are not killed",
		},
		"survives the second package": {
			"mutant null: nothing\nin sum/sum.go\n-a + b\n+2\nkilled in sum by Sum Zero\nkilled in use by Use\n",
			"null SURVIVES Use of use", "1 of 1 mutants are not killed",
		},
		"does not compile": {
			"mutant broken: no Go\nin sum/sum.go\n-a + b\n+a +\nkilled in sum by Sum\n", "broken CANNOT BE TRIED: sum does not compile", "1 of 1 mutants are not killed",
		},
		"old text twice": {
			"mutant twice: not unique\nin sum/sum.go\n-a += 0\n+a = 7\nkilled in sum by Sum\n", "twice CANNOT BE MADE: sum/sum.go has the text 2 times, not once:\na += 0", "1 of 1 mutants are not killed",
		},
		"old text gone": {
			minus + "-return a + b\n+return 0\nkilled in sum by Sum\n", "minus CANNOT BE MADE: sum/sum.go has the text 0 times", "1 of 1 mutants are not killed",
		},
		"no such file": {
			"mutant lost: no file\nin sum/lost.go\n-a\n+b\nkilled in sum by Sum\n", "lost CANNOT BE MADE: open ", "1 of 1 mutants are not killed",
		},
		"fails without a mutant":   {minus + "killed in sum by Sum Wrong\n", "", "without a mutant:\nsum: Wrong do not pass"},
		"skipped without a mutant": {minus + "killed in sum by Never\n", "", "without a mutant:\nsum: Never do not pass"},
		"no such test":             {minus + "killed in sum by Sum Su\n", "", "without a mutant:\nsum: Su do not pass"},
		"no such package":          {minus + "killed in summ by Sum\n", "", "without a mutant:\nsumm does not compile"},
		"no name":                  {"mutant minus\n", "", "sums.txt: line 1: want mutant NAME"},
		"no mutant":                {"in sum/sum.go\n", "", "sums.txt: line 1: it belongs to no mutant"},
		"no file":                  {"mutant a: b\n-x\n", "", "sums.txt: line 2: it is no line of a table"},
		"nothing old":              {"mutant a: b\nin c\n+x\n", "", "sums.txt: line 3: it is no line of a table"},
		"garbage":                  {"mutant a: b\nkills\n", "", "sums.txt: line 2: it is no line of a table"},
		"no tests":                 {minus + "killed in sum by \n", "", "sums.txt: line 6: want killed in"},
		"no kill":                  {minus, "", "minus changes nothing, or names no test"},
		"no replacement":           {"mutant a: b\nkilled in sum by Sum\n", "", "a changes nothing, or names no test"},
		"no change":                {"mutant a: b\nin c\n-x\n+x\nkilled in sum by Sum\n", "", "a changes nothing, or names no test"},
		"everywhere":               {"mutant a: b\nin c\n-\n+x\nkilled in sum by Sum\n", "", "a changes nothing, or names no test"},
		"two of a name":            {strings.Repeat(minus+"killed in sum by Sum\n", 2), "", "sums.txt: a second mutant minus"},
		"empty":                    {"", "", "no mutant of 0 matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := module(t, c.table)
			var out strings.Builder
			err := mutate(context.Background(), &out, root, nil)
			if !strings.Contains(out.String(), c.out) {
				t.Errorf("it says\n%s\nand not\n%s", &out, c.out)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestChosen(t *testing.T) {
	all := []mutant{{table: "a.txt", name: "one"}, {table: "a.txt", name: "two"}, {table: "b.txt", name: "twenty"}}
	for want, patterns := range map[string][]string{
		"one two twenty": nil, "two twenty": {"^tw"}, "one two": {"one|two$"}, "twenty": {"b.txt"}, "one twenty": {"b.txt", "one"},
	} {
		some, err := chosen(all, patterns)
		var names []string
		for _, m := range some {
			names = append(names, m.name)
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%q: %v, %v", patterns, names, err)
		}
	}
	for _, pattern := range []string{"three", "(", "c.txt"} {
		if some, err := chosen(all, []string{pattern}); err == nil {
			t.Errorf("%q: %v", pattern, some)
		}
	}
}

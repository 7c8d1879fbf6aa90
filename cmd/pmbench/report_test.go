package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

var update = flag.Bool("update", false, "write the golden report again")

// The recordings in testdata/report are made up; the report on them is fixed.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	out, page := filepath.Join(folder, "BENCHMARKS.md"), filepath.Join(folder, "report.html")
	code, stdout, stderr := call("report", filepath.Join("testdata", "report"), "-out", out, "-html", page)
	if code != cli.OK || !strings.Contains(stdout, "11 measurements and 10 ratios") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "report", "golden.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the report differs from %s; if that is right, run the test with -update:\n%s", golden, got)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(html)
	if strings.Count(text, "<svg") != 6 || strings.Count(text, "</svg>") != 6 {
		t.Errorf("%d plots, want a roofline, a scale and the ratios of four suites", strings.Count(text, "<svg"))
	}
	for _, outside := range []string{"<script", "<link", "<img", "src=", "href=\"http"} {
		if strings.Contains(text, outside) {
			t.Errorf("the page needs other files: %s", outside)
		}
	}
	for what, words := range map[string]string{
		"the notes":               "a &lt;rejected&gt; idea",
		"the machine":             ">Made-up CPU</td>",
		"a command that was run":  "pmbench run -suite spmm -json\n",
		"the command of the page": "<code>pmbench report testdata/report -out",
		"a command as code":       "<code>pmbench peers -suite cells",
		"a tick of the roofline":  ">0.2</text>",
		"a tick of the sizes":     ">200000</text>",
		"a word about old ones":   "Some recordings do not hold their command",
		"words for a mark":        ">we are faster</text>",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("%s is not on the page: %q", what, words)
		}
	}
	if strings.Contains(text, "`") {
		t.Error("a backtick is on the page")
	}
}

func TestRoofline(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "r.svg")
	recording := filepath.Join("testdata", "report", "runs.jsonl")
	code, stdout, stderr := call("roofline", recording, "-svg", svg)
	if code != cli.OK || !strings.Contains(stdout, "arithmetic") || !strings.Contains(stdout, "bandwidth") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(svg); err != nil || !strings.Contains(string(text), "<svg") {
		t.Error(err)
	}
	_, stdout, _ = call("roofline", recording, "-json")
	line, _, _ := strings.Cut(stdout, "\n")
	v := object(t, line)
	// 32e6 multiply-adds in 0.08 s over 272 MB, at 10 GB/s.
	if v["madd_per_s"] != 4e8 || v["read_fraction"] != 0.34 {
		t.Errorf("%s", line)
	}
	_, stdout, _ = call("roofline", recording, "-json", "-suite", "spmm", "-case", "k=32/")
	if strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, "k=32/workers=2") {
		t.Errorf("%s", stdout)
	}
	refuse(t, cli.Failed, []string{"roofline", filepath.Join("testdata", "report", "peers.jsonl")}, "multiply-adds")
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// manifest returns that of a sealed gallery that is served.
func (s *served) manifest(t *testing.T) (m wire.SealedManifest, epoch wire.Hash) {
	t.Helper()
	if err := m.UnmarshalBinary(get(t, 200, s.Listening+"/v1/sealed/manifest")); err != nil {
		t.Fatal(err)
	}
	epoch, err := m.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return m, epoch
}

// hint returns that of a sealed gallery that is served.
func (s *served) hint(t *testing.T) (h wire.SealedHint) {
	t.Helper()
	if err := h.UnmarshalBinary(get(t, 200, s.Listening+"/v1/sealed/hint")); err != nil {
		t.Fatal(err)
	}
	return h
}

// modes returns those that are offered.
func (s *served) modes(t *testing.T) []string {
	t.Helper()
	var about struct{ Modes []string }
	if err := json.Unmarshal(get(t, 200, s.Listening+"/v1/gallery"), &about); err != nil {
		t.Fatal(err)
	}
	return about.Modes
}

// growModel writes a model again, with rows at its end that are like the first ones.
func growModel(t *testing.T, path string, more int) {
	t.Helper()
	saved, err := supervised.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	grown := *saved.Model
	repeat := func(x blas32.General) blas32.General {
		out := blas32.General{Rows: x.Rows + more, Cols: x.Cols, Stride: x.Cols}
		for i := range out.Rows {
			out.Data = append(out.Data, x.Data[i%x.Rows*x.Stride:][:x.Cols]...)
		}
		return out
	}
	grown.X, grown.Z = repeat(grown.X), repeat(grown.Z)
	grown.Graph, grown.Trace = nil, nil
	for i := range more {
		grown.Labels = append(grown.Labels, grown.Labels[i])
	}
	if err := grown.Save(t.Context(), path, saved.About); err != nil {
		t.Fatal(err)
	}
}

// A growth is a record of the log like any other, in JSON as well.
func TestServeSealedGrowthLogged(t *testing.T) {
	_, model := toyModel(t)
	serveOn(t, model, "-sealed").end()
	growModel(t, model, 20)
	_, text := serveOn(t, model, "-sealed", "-log", "json").end()
	grown := false
	for line := range strings.Lines(text) {
		var r struct {
			Msg  string
			Rows int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("%v: %q", err, line)
		}
		grown = grown || strings.HasPrefix(r.Msg, "the model has grown") && r.Rows == 20
	}
	if !grown {
		t.Errorf("no record of the growth in\n%s", text)
	}
}

// A model becomes a sealed gallery once, with or without cells. Every later start has the same
// epoch.
func TestServeSealed(t *testing.T) {
	_, model := toyModel(t)
	sealed := strings.TrimSuffix(model, ".model") + ".sealed"
	first := serveOn(t, model, "-sealed", "-probes", "3")
	m, epoch := first.manifest(t)
	if got := first.modes(t); !slices.Equal(got, []string{"sealed"}) || m.Rows != 300 || m.Probes != 3 {
		t.Errorf("modes %q, %d rows, %d probes", got, m.Rows, m.Probes)
	}
	get(t, 404, first.Listening+"/v1/codebook")
	if code, log := first.end(); code != cli.OK {
		t.Errorf("exit code %d\n%s", code, log)
	}
	whole := readFile(t, sealed)
	for _, c := range []struct {
		args  []string
		modes []string
	}{
		{[]string{model, "-sealed", "-probes", "3"}, []string{"sealed"}},
		{[]string{sealed}, []string{"sealed"}},
		{[]string{model, "-epsilon", "4", "-sealed", "-probes", "3"}, []string{"cells", "all", "sealed"}},
		{[]string{strings.TrimSuffix(model, ".model") + ".gallery", "-sealed"}, []string{"cells", "all", "sealed"}},
	} {
		again := serveOn(t, c.args...)
		if _, now := again.manifest(t); now != epoch || !slices.Equal(again.modes(t), c.modes) {
			t.Errorf("%q: modes %q, epoch %x", c.args, again.modes(t), now)
		}
		again.end()
	}
	if readFile(t, sealed) != whole {
		t.Error("the file was written again")
	}
	listen := []string{"-listen", "127.0.0.1:0", "-admin", "none"}
	refuseServe(t, cli.Failed, append(listen, model, "-sealed"), "-rebuild")
	refuseServe(t, cli.Failed, append(listen, model, "-sealed", "-probes", "3", "-seed", "9"), "-rebuild")
	if readFile(t, sealed) != whole {
		t.Error("the file was replaced")
	}
	other := serveOn(t, model, "-sealed", "-probes", "2", "-rebuild")
	if m, now := other.manifest(t); now == epoch || m.Probes != 2 {
		t.Errorf("epoch %x, %d probes", now, m.Probes)
	}
	other.end()
	stdout, _ := succeed(t, "show", sealed)
	for _, word := range []string{"sealed-gallery", "300 of 16 columns", "2", "all are right"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("show: no %q in\n%s", word, stdout)
		}
	}
}

// A model that has grown: new rows get into the epoch as long as they fit.
func TestServeSealedGrowth(t *testing.T) {
	_, model := toyModel(t)
	first := serveOn(t, model, "-sealed")
	_, epoch := first.manifest(t)
	first.end()
	growModel(t, model, 20)
	refuseServe(t, cli.Failed, []string{model, "-sealed", "-probes", "2", "-listen", "127.0.0.1:0", "-admin", "none"}, "-rebuild")
	for _, grown := range []bool{true, false} { // the second time there is nothing to add
		second := serveOn(t, model, "-sealed")
		_, now := second.manifest(t)
		hint := second.hint(t)
		_, log := second.end()
		if now != epoch || hint.Version != 20 || strings.Contains(log, "the model has grown") != grown {
			t.Errorf("epoch %x, version %d\n%s", now, hint.Version, log)
		}
	}
	growModel(t, model, 300)
	third := serveOn(t, model, "-sealed")
	m, now := third.manifest(t)
	_, log := third.end()
	if now == epoch || m.Rows != 620 || !strings.Contains(log, "do not fit the epoch") {
		t.Errorf("epoch %x of %d rows\n%s", now, m.Rows, log)
	}
	// Another model is not one that has grown.
	_, other := toyModel(t)
	saved, err := supervised.Open(t.Context(), other, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := *saved.Model
	changed.X.Data = slices.Clone(changed.X.Data)
	changed.X.Data[0] += .5
	if err := changed.Save(t.Context(), model, saved.About); err != nil {
		t.Fatal(err)
	}
	saved.Close()
	growModel(t, model, 400)
	refuseServe(t, cli.Failed, []string{model, "-sealed", "-listen", "127.0.0.1:0", "-admin", "none"}, "-rebuild")
}

// Records are lines of a file, made once and made again when the file or the epoch changes.
func TestServeRecords(t *testing.T) {
	folder, model := toyModel(t)
	lines := filepath.Join(t.TempDir(), "lines.txt")
	write := func(n int, word string) {
		t.Helper()
		var message bytes.Buffer
		for i := range n {
			fmt.Fprintf(&message, "%s %d\n", word, i)
		}
		if err := os.WriteFile(lines, message.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(300, "bird")
	args := []string{model, "-sealed", "-records", lines}
	path := strings.TrimSuffix(model, ".model") + ".records"
	s := serveOn(t, args...)
	before := readFile(t, path)
	out := filepath.Join(t.TempDir(), "records.jsonl")
	succeed(t, "query", "sealed", s.Listening, filepath.Join(folder, files.FeaturesName), "-unconfirmed-epoch", "-cache", "none", "-k", "2", "-fetch", "-records-out", out)
	for line := range strings.Lines(readFile(t, out)) {
		var r query.RecordReport
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Record == nil || *r.Record != fmt.Sprintf("bird %d", r.Row) {
			t.Fatalf("%s %v", line, err)
		}
	}
	s.end()
	serveOn(t, args...).end()
	if readFile(t, path) != before {
		t.Error("records were made again")
	}
	write(300, "\x1bfish")
	s = serveOn(t, args...)
	text, _ := succeed(t, "query", "sealed", s.Listening, filepath.Join(folder, files.FeaturesName), "-unconfirmed-epoch", "-cache", "none", "-k", "1", "-fetch")
	if strings.Contains(text, "\x1b") || !strings.Contains(text, `"\x1bfish `) {
		t.Errorf("a record may say anything to a terminal:\n%.200q", text)
	}
	s.end()
	if readFile(t, path) == before {
		t.Error("records of another file stay")
	}
	stdout, _ := succeed(t, "show", path)
	if !strings.Contains(stdout, "sealed-records") || !strings.Contains(stdout, "300, padded") {
		t.Error(stdout)
	}
	// Another epoch has other records, though the lines are the same.
	serveOn(t, append(slices.Clone(args), "-probes", "2", "-rebuild")...).end()
	args = append(args, "-probes", "2")
	whole := readFile(t, path)
	damaged := []byte(whole)
	damaged[len(damaged)-1000] ^= 1
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	refuseServe(t, cli.Failed, append([]string{"-listen", "127.0.0.1:0", "-admin", "none"}, args...), "checksum")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	write(299, "fish")
	refuseServe(t, cli.Failed, append([]string{"-listen", "127.0.0.1:0", "-admin", "none"}, args...), "299")
	growModel(t, model, 5)
	write(305, "fish")
	grown := serveOn(t, args...)
	var m wire.SealedRecords
	if err := m.UnmarshalBinary(get(t, 200, grown.Listening+"/v1/sealed/records/manifest")); err != nil || m.Records != 305 {
		t.Errorf("%d records, %v", m.Records, err)
	}
	grown.end()
}

func TestServeSealedRefused(t *testing.T) {
	_, model := toyModel(t)
	serveOn(t, model, "-epsilon", "4").end()
	gallery := strings.TrimSuffix(model, ".model") + ".gallery"
	for _, c := range []struct {
		code int
		args []string
		word string
	}{
		{cli.Usage, []string{model}, "-sealed"},
		{cli.Usage, []string{model, "-sealed", "-share", "0.2"}, "-share needs -epsilon"},
		{cli.Usage, []string{model, "-epsilon", "4", "-probes", "2"}, "-probes needs -sealed"},
		{cli.Usage, []string{model, "-epsilon", "4", "-records", "x"}, "-records needs -sealed"},
		{cli.Failed, []string{gallery, "-sealed"}, "toy.sealed: no such file"},
		{cli.Usage, []string{gallery, "-sealed", "-probes", "2"}, "-probes is for a MODEL"},
		{cli.Failed, []string{model, "-sealed", "-probes", "100"}, "100 probes"},
		{cli.Failed, []string{model, "-sealed", "-records", "nowhere.txt"}, "nowhere.txt"},
		{cli.Failed, []string{model, "-sealed", "-records", strings.TrimSuffix(model, ".model") + ".records"}, "another name"},
	} {
		refuseServe(t, c.code, append([]string{"-listen", "127.0.0.1:0", "-admin", "none"}, c.args...), c.word)
	}
	// A damaged file is found before the first answer.
	sealed := strings.TrimSuffix(model, ".model") + ".sealed"
	os.Remove(sealed)
	serveOn(t, model, "-sealed").end()
	data := []byte(readFile(t, sealed))
	data[len(data)/2] ^= 1
	if err := os.WriteFile(sealed, data, 0o600); err != nil {
		t.Fatal(err)
	}
	refuseServe(t, cli.Failed, []string{sealed, "-listen", "127.0.0.1:0", "-admin", "none"}, "checksum")
	// So it is when the model has grown: a file that is written again has new checksums.
	growModel(t, model, 5)
	refuseServe(t, cli.Failed, []string{model, "-sealed", "-listen", "127.0.0.1:0", "-admin", "none"}, "checksum")
	if readFile(t, sealed) != string(data) {
		t.Error("a damaged file was written again")
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

// damage flips bits of a file one after the other, at places all over it, and calls try with
// each.
func damage(t *testing.T, path string, bits int, try func(at int)) {
	t.Helper()
	whole := []byte(readFile(t, path))
	for i := range bits {
		at := i * (len(whole) - 1) / (bits - 1)
		whole[at] ^= 1 << (i % 8)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		try(at)
		whole[at] ^= 1 << (i % 8)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A model with one bit that was flipped is refused before anything is made of it, by every verb
// that takes one. When it is mended, it is served as it would have been.
func TestServeDamagedModel(t *testing.T) {
	folder, model := toyModel(t)
	temp := t.TempDir()
	gallery, out := filepath.Join(temp, "g"), filepath.Join(temp, "z.npy")
	serve := []string{"serve", model, "-gallery", gallery, "-listen", "127.0.0.1:0", "-admin", "none", "-epsilon", "4"}
	commands := [][]string{serve, append(serve[:len(serve)-2:len(serve)-2], "-sealed"), {"apply", model, folder, "-out", out}, {"show", model}}
	head := 16 // what says that it is one of our files, and of which version
	damage(t, model, 300, func(at int) {
		for _, args := range commands {
			var log bytes.Buffer
			code := program().Run(t.Context(), args, io.Discard, &log)
			if text := log.String(); code != cli.Failed || !strings.Contains(text, model) || at >= head && !strings.Contains(text, "damaged file") {
				t.Errorf("byte %d: %s: exit code %d\n%s", at, strings.Join(args, " "), code, text)
			}
		}
	})
	if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
		t.Errorf("a damaged model leaves %v, %v", entries, err)
	}
	mended := serveOn(t, model, "-epsilon", "4", "-gallery", gallery)
	book := mended.codebook(t)
	mended.end()
	other := serveOn(t, model, "-epsilon", "4", "-gallery", filepath.Join(temp, "other"))
	again := other.codebook(t)
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Hash(); err != nil || got != hash {
		t.Errorf("another codebook, %v", err)
	}
}

// A model that is damaged after its gallery was made is refused, too, and leaves the gallery.
func TestServeModelDamagedLater(t *testing.T) {
	_, model := toyModel(t)
	gallery := strings.TrimSuffix(model, ".model") + ".gallery"
	serveOn(t, model, "-epsilon", "4").end()
	before := readFile(t, gallery)
	damage(t, model, 5, func(int) {
		refuseServe(t, cli.Failed, []string{model, "-epsilon", "4", "-listen", "127.0.0.1:0", "-admin", "none"}, model)
	})
	serveOn(t, model, "-epsilon", "4").end()
	if readFile(t, gallery) != before {
		t.Error("the gallery was made again")
	}
}

// A gallery is known by all bytes of its model.
func TestServeSourceIsAllBytes(t *testing.T) {
	_, model := toyModel(t)
	gallery := strings.TrimSuffix(model, ".model") + ".gallery"
	serveOn(t, model, "-epsilon", "4").end()
	cells, err := server.OpenCells(t.Context(), gallery)
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	sum := sha256.Sum256([]byte(readFile(t, model)))
	if !strings.Contains(cells.Source(), hex.EncodeToString(sum[:])) {
		t.Errorf("source %q", cells.Source())
	}
}

// A gallery and a sealed gallery of two versions of a model are not served together.
func TestServeTwoVersions(t *testing.T) {
	_, model := toyModel(t)
	gallery := strings.TrimSuffix(model, ".model") + ".gallery"
	serveOn(t, model, "-epsilon", "4", "-sealed").end()
	serveOn(t, gallery, "-sealed").end()
	growModel(t, model, 10)
	serveOn(t, model, "-sealed").end() // which leaves the gallery
	refuseServe(t, cli.Failed, []string{gallery, "-sealed", "-listen", "127.0.0.1:0", "-admin", "none"}, "two versions of a model")
	serveOn(t, model, "-epsilon", "4", "-sealed", "-rebuild").end()
	serveOn(t, gallery, "-sealed").end()
}

// Nor are those of two models with as many rows and the same map.
func TestServeTwoModels(t *testing.T) {
	temp := t.TempDir()
	model := func(name, seed string) string {
		rows, model := filepath.Join(temp, name)+"/", filepath.Join(temp, name+".model")
		succeed(t, "generate", "-kind", "classes", "-n", "200", "-d", "4", "-classes", "3", "-seed", seed, "-out", rows)
		succeed(t, "fit", rows, "-recipe", "raw", "-measure=false", "-model", model)
		return model
	}
	one, other := model("one", "1"), model("other", "2")
	serveOn(t, one, "-epsilon", "4", "-sealed").end()
	serveOn(t, other, "-sealed", "-gallery", filepath.Join(temp, "other.gallery")).end()
	gallery, sealed := filepath.Join(temp, "one.gallery"), filepath.Join(temp, "one.sealed")
	serveOn(t, gallery, "-sealed").end()
	if err := os.Rename(filepath.Join(temp, "other.sealed"), sealed); err != nil {
		t.Fatal(err)
	}
	refuseServe(t, cli.Failed, []string{gallery, "-sealed", "-listen", "127.0.0.1:0", "-admin", "none"}, "two versions of a model")
}

// A gallery of a version that did not verify its model is refused, with a line that says so.
func TestServeEarlierGallery(t *testing.T) {
	_, model := toyModel(t)
	x := blas32.General{Rows: 40, Cols: 2, Stride: 2}
	for i := range 80 {
		x.Data = append(x.Data, float32(i%7))
	}
	cells, err := server.NewCells(t.Context(), x, x, server.CellsSettings{Cells: 2, Source: "model 41920 bytes, end 00ff; epsilon 4"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "early.gallery")
	if err := errors.Join(cells.Save(t.Context(), path), cells.Close()); err != nil {
		t.Fatal(err)
	}
	refuseServe(t, cli.Failed, []string{model, "-epsilon", "4", "-gallery", path, "-listen", "127.0.0.1:0", "-admin", "none"}, "an earlier version")
}

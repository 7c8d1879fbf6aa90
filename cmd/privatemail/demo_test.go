package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, _ := succeed(t, "demo")
	for _, words := range []string{"1797 handwritten digits", "397 held-out", "R@1", "R@8", "P@8", "normalised images", "embedding, beta 3, steps 1", "graph", "sigma", "isolated", "certificate", "time", "privatemail-demo.png"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	f, err := os.Open("privatemail-demo.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X < 500 || size.Y < 300 {
		t.Errorf("a picture of %v", size)
	}
	wantFiles(t, ".", "privatemail-demo.png")
}

// TestDemoFigures guards against a broken embedding, and against one that has
// seen the hidden labels, which would be nearly perfect; it is no proof of a
// gain. The limits were set around the figures of this split: lists get purer,
// R@1 may lose three rows of 397 and R@8 four. One row is 0.0025.
func TestDemoFigures(t *testing.T) {
	for _, steps := range []string{"1", "2"} {
		stdout, _ := succeed(t, "demo", "-out", "none", "-json", "-steps", steps)
		v := object(t, stdout)
		wantKeys(t, v, "n d gallery held_out seed beta steps raw embedding operator sigma neighbours isolated eta_max seconds out")
		raw, embedding := v["raw"].(map[string]any), v["embedding"].(map[string]any)
		for name, least := range map[string]float64{"recall_at_1": -0.008, "recall_at_8": -0.011, "precision_at_8": 0.005} {
			before, after := raw[name].(float64), embedding[name].(float64)
			if before < 0.95 || before > 1 || after > 0.997 || after < before+least {
				t.Errorf("%s steps: %s %.4f in the images, %.4f in the embedding", steps, name, before, after)
			}
		}
		if v["out"] != nil {
			t.Errorf("a picture %v without being asked", v["out"])
		}
	}
}

func TestDemoRefuses(t *testing.T) {
	refuse(t, exitUsage, []string{"demo", "x.npy"}, "use embed")
	refuse(t, exitUsage, []string{"demo", "-out", "x.gif"}, ".png or .svg")
	refuse(t, exitFailed, []string{"demo", "-out", filepath.Join(t.TempDir(), "none", "x.png")}, "no folder")
	refuse(t, exitFailed, []string{"demo", "-out", "none", "-degree", "5000"}, "mean degree 5000")
}

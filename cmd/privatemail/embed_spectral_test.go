package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// Without -alpha, -beta and -form embed writes the map of the engine.
func TestEmbedMap(t *testing.T) {
	x, _, err := synth.Classes(200, 5, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	path, out := filepath.Join(temp, "x.npy"), filepath.Join(temp, "z.npy")
	writeMatrix(t, path, 200, 5, x.Data)
	stdout, stderr := succeed(t, "embed", path, "-v", "-out", out)
	for _, words := range []string{"10 nearest rows", "is what was asked for", "eigenvectors  20 (converged", out + ", 200 x 2"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	for _, words := range []string{"find nearest neighbours", "eigenvectors", "arrange 100%"} {
		if !strings.Contains(stderr, words) {
			t.Errorf("no %q in\n%s", words, stderr)
		}
	}
	engine := sameEngine(t)
	want, err := engine.Map(t.Context(), x, &privatemail.MapSettings{Graph: privatemail.Graph{Neighbours: 10}})
	if err != nil {
		t.Fatal(err)
	}
	wantPoints(t, out, want.Points)
}

// Two clumps far apart are two parts, and a note says what that means.
func TestEmbedMapOfParts(t *testing.T) {
	temp := t.TempDir()
	path, out := filepath.Join(temp, "x.npy"), filepath.Join(temp, "z.npy")
	x := make([]float32, 80)
	for i := range x {
		x[i] = float32(i)
		if i >= 50 {
			x[i] += 1e4
		}
	}
	writeMatrix(t, path, 80, 1, x)
	stdout, stderr := succeed(t, "embed", path, "-neighbours", "4", "-dim", "3", "-out", out, "-json")
	v := object(t, stdout)
	wantKeys(t, v, "n d dim form operator sigma gamma nearest radius neighbours mean_degree isolated eta_max eta_p99 nnz bytes build_seconds steps_seconds components largest_component eigenvalues residuals products status out")
	if v["form"] != "spectral" || v["components"] != 2. || v["largest_component"] != 50. || v["dim"] != 3. || v["nearest"] != 4. || v["sigma"] != nil || v["status"] != "converged" || len(v["eigenvalues"].([]any)) != 21 {
		t.Errorf("object %v", v)
	}
	if !strings.Contains(stderr, "2 parts that no weight connects, the largest of 50 rows") || !strings.Contains(stderr, "-neighbours") {
		t.Errorf("messages\n%s", stderr)
	}
	stdout, _ = succeed(t, "embed", "-plan", path, "-neighbours", "4", "-dim", "3", "-out", out)
	if !strings.Contains(stdout, "4 nearest neighbours with a bandwidth for each row") || !strings.Contains(stdout, "\n*  csr") {
		t.Errorf("plan\n%s", stdout)
	}
	refuse(t, cli.Failed, []string{"embed", path, "-dim", "80", "-out", out}, "80 columns of 80 rows")
}

// Form paper says that its numbers are tiny, unless -rescale enlarges them.
func TestEmbedPaperScale(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	plain, enlarged := filepath.Join(temp, "plain.npy"), filepath.Join(temp, "enlarged.npy")
	_, stderr := succeed(t, "embed", folder, "-form", "paper", "-neighbours", "8", "-out", plain)
	if !strings.Contains(stderr, "numbers of the embedding are tiny") || !strings.Contains(stderr, "-rescale") {
		t.Errorf("messages\n%s", stderr)
	}
	if _, stderr = succeed(t, "embed", folder, "-form", "paper", "-neighbours", "8", "-rescale", "-out", enlarged); strings.Contains(stderr, "tiny") {
		t.Errorf("messages\n%s", stderr)
	}
	a, err := formats.ReadMatrix(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := formats.ReadMatrix(enlarged)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	sum, squares := 0.0, 0.0
	factor := float64(b.Data[0]) / float64(a.Data[0])
	for i, v := range b.Data {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
		if math.Abs(float64(v)-factor*float64(a.Data[i])) > 1e-4 {
			t.Fatalf("number %d has another factor", i)
		}
	}
	n := float64(len(b.Data))
	if deviation := math.Sqrt(squares/n - sum*sum/n/n); math.Abs(deviation-1) > 1e-5 {
		t.Errorf("standard deviation %g", deviation)
	}
}

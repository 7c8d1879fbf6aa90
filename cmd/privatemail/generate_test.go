package main

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestGenerateKinds(t *testing.T) {
	for _, kind := range []string{"uniform", "clustered"} {
		temp := t.TempDir()
		out := filepath.Join(temp, "x.fvecs")
		stdout, _ := succeed(t, "generate", "-kind", kind, "-n", "50", "-d", "3", "-out", out)
		if !strings.Contains(stdout, out+", 50 x 3 of kind "+kind) {
			t.Errorf("%s prints %q", kind, stdout)
		}
		m, err := formats.ReadMatrix(out)
		if err != nil {
			t.Fatal(err)
		}
		if m.Rows != 50 || m.Cols != 3 {
			t.Errorf("%s: %d x %d", kind, m.Rows, m.Cols)
		}
		m.Close()
		wantFiles(t, temp, "x.fvecs")
	}
}

func TestGenerateClasses(t *testing.T) {
	temp := t.TempDir()
	args := []string{"generate", "-kind", "classes", "-n", "50", "-d", "4", "-classes", "7", "-out"}
	stdout, _ := succeed(t, append(args, filepath.Join(temp, "x.npy"))...)
	if !strings.Contains(stdout, filepath.Join(temp, "x.labels.npy")) {
		t.Errorf("the labels are not mentioned: %q", stdout)
	}
	stdout, _ = succeed(t, append(args, filepath.Join(temp, "z.npy"), "-labels-out", filepath.Join(temp, "y.csv"), "-json")...)
	v := object(t, stdout)
	wantKeys(t, v, "kind n d classes seed out labels")
	if v["labels"] != filepath.Join(temp, "y.csv") || v["classes"] != 7. {
		t.Errorf("object %v", v)
	}
	succeed(t, append(args, filepath.Join(temp, "new")+"/")...)
	if stdout, _ = succeed(t, append(args, filepath.Join(temp, "new"), "-seed", "1", "-quiet")...); stdout != "" {
		t.Errorf("-quiet prints %q", stdout)
	}
	wantFiles(t, temp, "new", "x.labels.npy", "x.npy", "y.csv", "z.npy")
	wantFiles(t, filepath.Join(temp, "new"), files.FeaturesName, files.LabelsName)
	if readFile(t, filepath.Join(temp, "x.npy")) != readFile(t, filepath.Join(temp, "new", files.FeaturesName)) {
		t.Error("the same seed gives other bytes")
	}
	y, err := formats.ReadLabels(filepath.Join(temp, "y.csv"))
	if err != nil || len(y) != 50 {
		t.Errorf("%d labels, %v", len(y), err)
	}
	succeed(t, "embed", filepath.Join(temp, "new"), "-mean-neighbours", "10", "-beta", "3", "-out", filepath.Join(temp, "e.npy"))
}

func TestGenerateUsage(t *testing.T) {
	for args, words := range map[string]string{
		"-n 5 -out x.npy":                                     "-d D",
		"-d 5 -out x.npy":                                     "-n N",
		"-n 5 -d 5":                                           "-out is missing",
		"-n 5 -d 5 -out x.npy y":                              "names are not wanted",
		"-n 5 -d 5 -out x.npy -classes 3":                     "no classes",
		"-n 5 -d 5 -out x.npy -labels-out y.npy":              "no labels",
		"-n 5 -d 5 -out x.csv":                                "can be written",
		"-n 5 -d 5 -out new.v2":                               "end the name with /",
		"-n 5 -d 5 -out x.npy -kind classes -labels-out y.md": "can be written",
		"-n 5 -d 5 -out no-such.npy -kind classes -labels-out no-such.npy": "both go to",
		"-n 0 -d 5": "-n",
	} {
		refuse(t, cli.Usage, append([]string{"generate"}, strings.Fields(args)...), words)
	}
}

// TestGenerateTooLarge checks that sizes are refused before memory is taken,
// and that no folder is left.
func TestGenerateTooLarge(t *testing.T) {
	temp := t.TempDir()
	out := filepath.Join(temp, "new") + "/"
	cases := map[string]string{
		"-n 1000 -d 1000 -max-memory 1M": "smaller -n or -d",
		"-kind digits -max-memory 1K":    "KiB missing; allow more with -max-memory",
	}
	if strconv.IntSize == 64 { // elsewhere the flags refuse the numbers
		maps.Copy(cases, map[string]string{
			"-n 9000000000000000000 -d 9000000000000000000":           "memory limit exceeded",
			"-n 1152921504606846976 -d 1":                             "memory limit exceeded",
			"-n 100000000 -d 1000000":                                 "memory limit",
			"-kind classes -n 2 -d 100000 -classes 100000000000":      "in 100000000000 classes",
			"-kind classes -n 2 -d 1000 -classes 1000000000000000000": "smaller -n, -d or -classes",
		})
	}
	for args, words := range cases {
		refuse(t, cli.Failed, append([]string{"generate", "-out", out}, strings.Fields(args)...), words)
	}
	wantFiles(t, temp)
}

// Rows without labels do not join the labels of others.
func TestGenerateBesideOldLabels(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "toy") + "/"
	succeed(t, "generate", "-kind", "classes", "-n", "20", "-d", "2", "-out", folder)
	refuse(t, cli.Failed, []string{"generate", "-kind", "uniform", "-n", "20", "-d", "2", "-out", folder}, "labels of other rows")
}

func TestGenerateFolder(t *testing.T) {
	temp := t.TempDir()
	refuse(t, cli.Failed, []string{"generate", "-n", "2", "-d", "2", "-out", filepath.Join(temp, "a", "b") + "/"}, "no folder "+filepath.Join(temp, "a"))
	// A folder made for files that cannot be written does not stay.
	refuse(t, cli.Failed, []string{"generate", "-kind", "classes", "-n", "2", "-d", "2", "-out", filepath.Join(temp, "c") + "/", "-labels-out", filepath.Join(temp, "d", "y.npy")}, "no folder")
	file := filepath.Join(temp, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"generate", "-n", "2", "-d", "2", "-out", file + "/"}, file+": is a file, not a folder")
	wantFiles(t, temp, "file")
}

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// longJob writes features and returns arguments that would keep the command
// busy for hours, with an output file that exists.
func longJob(t *testing.T) (args []string, folder, out string) {
	t.Helper()
	folder = t.TempDir()
	x, err := synth.Uniform(3000, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "x.npy")
	writeMatrix(t, path, x.Rows, x.Cols, x.Data)
	out = filepath.Join(folder, "z.npy")
	if err := os.WriteFile(out, []byte("previous"), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"embed", path, "-sigma", "1", "-operator", "dense", "-form", "paper", "-steps", "1000000", "-normalize", "centred", "-out", out}, folder, out
}

// wantUntouched checks that an interrupted job left everything as it was.
func wantUntouched(t *testing.T, folder, out string) {
	t.Helper()
	if got := readFile(t, out); got != "previous" {
		t.Errorf("the previous output became %d bytes", len(got))
	}
	wantFiles(t, folder, "x.npy", "z.npy")
}

// trigger calls a function when a text is written to it.
type trigger struct {
	bytes.Buffer
	text string
	call func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.call()
	}
	return w.Buffer.Write(p)
}

func TestCancelledEmbed(t *testing.T) {
	args, folder, out := longJob(t)
	ctx, cancel := context.WithCancel(t.Context())
	var stdout bytes.Buffer
	var cancelled time.Time
	stderr := &trigger{text: "product", call: func() { cancelled = time.Now(); cancel() }}
	code := program().Run(ctx, args, &stdout, stderr)
	if code != cli.Interrupted || stdout.Len() > 0 || !strings.HasSuffix(stderr.String(), "privatemail: embed: interrupted\n") {
		t.Errorf("exit code %d, output %q, messages\n%s", code, stdout.String(), stderr.String())
	}
	if took := time.Since(cancelled); took > 5*time.Second {
		t.Errorf("ended %v after it was cancelled", took)
	}
	wantUntouched(t, folder, out)
}

// TestCancelledBefore runs every verb that works with a context that has ended.
func TestCancelledBefore(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	temp := t.TempDir()
	for _, args := range [][]string{
		{"embed", toy(t), "-sigma", "1", "-out", filepath.Join(temp, "z.npy")},
		{"fit", toy(t), "-out", filepath.Join(temp, "z.npy")},
		{"apply", modelOf(t, toy(t), "raw"), toy(t), "-out", filepath.Join(temp, "z.npy")},
		{"fit", toy(t), "-out", filepath.Join(temp, "z.npy"), "-plot", filepath.Join(temp, "z.svg")},
		{"graph", toy(t), "-sigma", "1", "-out", filepath.Join(temp, "z.npz")},
		{"search", toy(t), "-out", filepath.Join(temp, "z.npy")},
		{"embed", "-plan", toy(t), "-sigma", "1"},
		{"generate", "-n", "1000", "-d", "10", "-out", filepath.Join(temp, "new") + "/"},
		{"demo", "-out", filepath.Join(temp, "demo")},
		{"evaluate", "-out", filepath.Join(temp, "report")},
	} {
		var stdout, stderr bytes.Buffer
		if code := program().Run(ended, args, &stdout, &stderr); code != cli.Interrupted || stderr.String() != "privatemail: "+args[0]+": interrupted\n" {
			t.Errorf("%s: exit code %d, messages %q", args[0], code, stderr.String())
		}
	}
	wantFiles(t, temp)
}

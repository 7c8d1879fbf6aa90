package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// stepsIn returns how many steps the run of a checkpoint has taken.
func stepsIn(t *testing.T, path string) int {
	t.Helper()
	c, err := privatemail.OpenCheckpoint(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return len(c.State.Trace)
}

// interrupted embeds in more steps than anybody waits for, and is interrupted when there is a
// checkpoint.
func interrupted(t *testing.T, args []string, file string) (stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for !files.Exists(file) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	var stdout, messages bytes.Buffer
	if code := program().Run(ctx, args, &stdout, &messages); code != cli.Interrupted {
		t.Fatalf("exit code %d\n%s", code, messages.String())
	}
	return messages.String()
}

// longRun are the arguments of a run with a checkpoint after each of many steps.
func longRun(t *testing.T) (args []string, folder, file string) {
	folder = t.TempDir()
	file = filepath.Join(folder, "run.checkpoint")
	args = []string{"embed", toy(t), "-sigma", "1", "-alpha", "0.1", "-normalize", "centred", "-operator", "dense"}
	return append(args, "-steps", "1000000", "-checkpoint", file, "-checkpoint-every", "1", "-out", filepath.Join(folder, "z.npy")), folder, file
}

// A run that is interrupted says how to go on, and does so to the bytes of one that is not.
func TestResumeAfterInterrupt(t *testing.T) {
	args, folder, file := longRun(t)
	stderr := interrupted(t, args, file)
	taken := stepsIn(t, file)
	if want := file + " has the run after step " + strconv.Itoa(taken) + ": the same command with -resume goes on from there\nprivatemail: embed: interrupted\n"; !strings.HasSuffix(stderr, want) {
		t.Errorf("messages %q, want the end %q", stderr, want)
	}
	wantFiles(t, folder, "run.checkpoint")
	refuse(t, cli.Usage, args, file, "exists", "-resume")

	steps := strconv.Itoa(taken + 20)
	again := append(args, "-resume", "-steps", steps)
	_, stderr = succeed(t, again...)
	if want := "going on from " + file + ", after step " + strconv.Itoa(taken); !strings.Contains(stderr, want) {
		t.Errorf("messages %q, want %q", stderr, want)
	}
	wantFiles(t, folder, "z.npy") // the checkpoint is of no use any more
	got := readFile(t, filepath.Join(folder, "z.npy"))
	plain := append(args[:len(args)-6:len(args)-6], "-out", filepath.Join(folder, "plain.npy"), "-steps", steps)
	succeed(t, plain...)
	if got != readFile(t, filepath.Join(folder, "plain.npy")) {
		t.Error("the run that was interrupted has other bytes")
	}
	// The same command begins where there is nothing to go on from.
	if _, stderr = succeed(t, again...); !strings.Contains(stderr, "begins at its start") {
		t.Errorf("messages %q", stderr)
	}
	if got != readFile(t, filepath.Join(folder, "z.npy")) {
		t.Error("other bytes")
	}
}

// Nobody goes on from the checkpoint of another run, nor from anything else.
func TestResumeRefuses(t *testing.T) {
	args, folder, file := longRun(t)
	interrupted(t, args, file)
	data := readFile(t, file)
	resume := append(args, "-resume")
	for _, c := range []struct {
		more  []string
		words []string
	}{
		{[]string{"-alpha", "0.2"}, []string{file, "another run: other coefficient;"}},
		{[]string{"-sigma", "2"}, []string{"other gamma;"}},
		{[]string{"-seed", "7"}, []string{"other start;"}},
		{[]string{"-normalize", "none"}, []string{"other normalize;"}},
		{[]string{"-table", "different"}, []string{"other labels;"}},
		{[]string{"-operator", "csr"}, []string{"other graph, operator;"}},
	} {
		refuse(t, cli.Failed, append(resume, c.more...), c.words...)
	}
	other := append([]string{"embed", toy(t)}, resume[2:]...)
	if err := os.WriteFile(filepath.Join(other[1], files.LabelsName), []byte(readFile(t, filepath.Join(args[1], files.LabelsName))), 0o666); err != nil {
		t.Fatal(err)
	}
	features := filepath.Join(other[1], files.FeaturesName)
	moved := []byte(readFile(t, features))
	moved[len(moved)-2] ^= 1
	if err := os.WriteFile(features, moved, 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, other, "other features;")
	for name, damaged := range map[string]string{
		"damaged file": data[:len(data)/2] + "x" + data[len(data)/2+1:], "its end is missing": data[:len(data)-9], "not a PrivateMail file": "text",
	} {
		if err := os.WriteFile(file, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		refuse(t, cli.Failed, resume, file, name)
	}
	wantFiles(t, folder, "run.checkpoint")
}

func TestCheckpointUsage(t *testing.T) {
	folder := toy(t)
	out := filepath.Join(t.TempDir(), "z.npy")
	plot := strings.TrimSuffix(out, ".npy") + ".png"
	base := []string{"embed", folder, "-sigma", "1", "-out", out}
	for _, c := range []struct {
		more  []string
		words []string
	}{
		{[]string{"-alpha", "1", "-resume"}, []string{"-resume needs a file", "-checkpoint FILE"}},
		{[]string{"-alpha", "1", "-checkpoint-every", "3"}, []string{"-checkpoint-every needs a file"}},
		{[]string{"-alpha", "1", "-checkpoint", ""}, []string{"-checkpoint needs a file"}},
		{[]string{"-alpha", "1", "-checkpoint", "c", "-checkpoint-every", "0"}, []string{"checkpoint-every"}},
		{[]string{"-alpha", "1", "-checkpoint", out}, []string{"-checkpoint and -out are one file"}},
		{[]string{"-alpha", "1", "-plot", plot, "-checkpoint", plot}, []string{"-checkpoint and -plot are one file"}},
		{[]string{"-alpha", "1", "-checkpoint", filepath.Join(folder, files.FeaturesName)}, []string{"would replace the input"}},
		{[]string{"-alpha", "1", "-checkpoint", filepath.Join(folder, files.LabelsName)}, []string{"would replace the input"}},
		{[]string{"-alpha", "1", "-checkpoint", os.DevNull}, []string{"not a regular file"}},
		{[]string{"-checkpoint", "c"}, []string{"-checkpoint has no place in form spectral", "-form paper and -form attract"}},
	} {
		refuse(t, cli.Usage, append(base, c.more...), c.words...)
	}
	refuse(t, cli.Usage, []string{"privatize", "x.npy", "-checkpoint", "c"}, "no flag -checkpoint", "before it has its noise")
	ledger := newLedger(t, t.TempDir())
	refuse(t, cli.Failed, append(base, "-alpha", "1", "-checkpoint", ledger), "is a ledger")
}

// The verb show says what a checkpoint is, and shows no hash that guesses could be tried with.
func TestShowCheckpoint(t *testing.T) {
	args, _, file := longRun(t)
	interrupted(t, args, file)
	stdout, _ := succeed(t, "show", file)
	for _, words := range []string{"checkpoint: a run of 'privatemail embed'", "300 x 2", strconv.Itoa(stepsIn(t, file)) + " taken", "dense", "300 x 16", "table equal", "seed 1", "as private as the features", "all are right"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	json, _ := succeed(t, "show", file, "-json")
	wantKeys(t, object(t, json), "file kind bytes steps iterate of_operator of_coefficient")
	if strings.Contains(stdout+json, "SHA") {
		t.Errorf("hashes are shown:\n%s", stdout)
	}
}

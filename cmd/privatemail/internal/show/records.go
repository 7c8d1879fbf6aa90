package show

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// longestLine is longer than any record.
const longestLine = 1 << 20

// showRecords explains the records of evaluate, which are a JSON object a line.
func showRecords(ctx context.Context, path string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte(`{"key":`)) {
		return nil, nil
	}
	count, data, modes := 0, map[string]bool{}, map[string]bool{}
	err := eachLine(ctx, path, func(number int, line []byte) error {
		var record evaluate.Record
		if err := json.Unmarshal(line, &record); err != nil || record.Key == "" {
			return fmt.Errorf("%s: line %d is not a record", path, number)
		}
		count++
		data[record.Data], modes[record.Mode] = true, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	x := &explanation{kind: "records", about: "made by 'privatemail evaluate', one a line; a run with their folder goes on from them"}
	x.add("records", fmt.Sprint(count), count)
	x.addWords("data", data)
	x.addWords("modes", modes)
	return x, nil
}

// addWords adds the words that are in a set.
func (x *explanation) addWords(name string, set map[string]bool) {
	words := slices.Sorted(maps.Keys(set))
	x.add(name, files.Listed(words), words)
}

// showMeasurements explains what pmbench run -json prints, which is a JSON object a line.
func showMeasurements(ctx context.Context, path string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte(`{"suite":`)) {
		return nil, nil
	}
	count, suites := 0, map[string]bool{}
	err := eachLine(ctx, path, func(number int, line []byte) error {
		var record struct {
			Suite string `json:"suite"`
		}
		if err := json.Unmarshal(line, &record); err != nil || record.Suite == "" {
			return fmt.Errorf("%s: line %d is not a measurement", path, number)
		}
		count++
		suites[record.Suite] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	x := &explanation{kind: "recording", about: "made by pmbench"}
	x.add("measurements", fmt.Sprint(count), count)
	x.addWords("suites", suites)
	return x, nil
}

// showRecording explains what pmbench run -out writes.
func showRecording(ctx context.Context, path string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte("goos: ")) || !bytes.Contains(begin, []byte("cmd/pmbench\n")) {
		return nil, nil
	}
	x := &explanation{kind: "recording", about: "made by pmbench; 'pmbench compare' reads it"}
	count := 0
	err := eachLine(ctx, path, func(_ int, line []byte) error {
		name, value, ok := strings.Cut(string(line), ": ")
		switch {
		case bytes.HasPrefix(line, []byte("Benchmark")):
			count++
		case ok && (name == "cpu" || name == "level" || name == "commit"):
			x.add(name, value, nil)
		}
		return nil
	})
	x.add("measurements", fmt.Sprint(count), count)
	return x, err
}

// eachLine hands over the lines of a file, counted from 1.
func eachLine(ctx context.Context, path string, use func(number int, line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestLine)
	for number := 1; lines.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := use(number, lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

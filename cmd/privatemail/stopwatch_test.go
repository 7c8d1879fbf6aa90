package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What embed and graph print of their time adds up, and is all of it.
func TestTimesAddUp(t *testing.T) {
	folder := toy(t)
	temp := t.TempDir()
	for _, args := range []string{"embed -out z.npy", "embed -out z.npy -mean-neighbours 10 -beta 3", "embed -out z.npy -form paper -neighbours 8 -plot z.svg", "graph -neighbours 8 -out z.npz -values distances"} {
		args := strings.Fields(strings.ReplaceAll(args, " z.", " "+temp+string(filepath.Separator)+"z."))
		args = append(args, folder)
		began := time.Now()
		stdout, _ := succeed(t, append(args, "-json")...)
		took := time.Since(began).Seconds()
		v := object(t, stdout)
		wantKeys(t, v, "seconds reading_seconds build_seconds steps_seconds writing_seconds")
		sum := 0.0
		for _, key := range []string{"reading_seconds", "build_seconds", "steps_seconds", "writing_seconds"} {
			sum += v[key].(float64)
		}
		if whole := v["seconds"].(float64); math.Abs(sum-whole) > 1e-9 || whole > took+0.005 {
			t.Errorf("%v: parts are %v, the whole %v, and it took %v", args, sum, whole, took)
		}
		stdout, _ = succeed(t, args...)
		_, line, _ := strings.Cut(stdout, "time ")
		line, _, _ = strings.Cut(line, "\n")
		var whole float64
		parts := strings.FieldsFunc(strings.ReplaceAll(line, " and ", ", "), func(r rune) bool { return r == ',' || r == ':' })
		if _, err := fmt.Sscanf(strings.TrimSpace(parts[0]), "%f s", &whole); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, p := range parts[1:] {
			var part float64
			if _, err := fmt.Sscanf(strings.TrimSpace(p), "%f for", &part); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			whole -= part
		}
		if math.Abs(whole) > 1e-9 || len(parts) < 4 {
			t.Errorf("%q does not add up", line)
		}
	}
}

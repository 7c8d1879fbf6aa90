// Command floods starts privatemail serve on loopback addresses and floods it, one flood after the
// other: what others get meanwhile is held against goals. It prints a table and exits 1 where a goal
// is missed. Run it from the root of the repository, with the machine at rest:
//
//	go run ./.ci/floods
//
// It takes about four minutes, needs Linux (clients are addresses of 127.0.0.0/8), and ends by itself.
// -program names another build to flood, such as one from before a change.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// A figure is what a flood has shown.
type figure struct {
	what        string
	value, goal float64
	below       bool // the goal is not to be exceeded
	note        string
}

func (f *figure) ok() bool {
	if f.below {
		return f.value <= f.goal
	}
	return f.value >= f.goal
}

// A flood needs a server with some flags.
type flood struct {
	name  string
	flags []string
	files int // limit of open files; 0 for that of this process
	run   func(*server, time.Duration) ([]figure, error)
}

var floods = []flood{
	{"bodies that do not come, 256 connections", nil, 0, placesTaken(silentBodies, someMemory)},
	{"the same with -rate", []string{"-rate", "200"}, 0, placesTaken(silentBodies, someMemory)},
	{"answers read at 16 KiB a second, 256 connections", nil, 0, placesTaken(slowReaders, someMemory)},
	{"HTTP/2 with windows of 0, 4 connections of 64 streams", nil, 0, placesTaken(closedWindows, someMemory)},
	{"heads that come byte by byte", nil, 0, placesTaken(slowHeads, someMemory)},
	{"connections that stay after one request", nil, 0, placesTaken(idle, someMemory)},
	{"requests without an end to a connection, answers not read", nil, 0, placesTaken(pipelines, someMemory)},
	{"bodies without a length that do not end", nil, 0, placesTaken(chunks, someMemory)},
	{"streams of HTTP/2 that are reset", nil, 0, placesTaken(resets2, someMemory)},
	{"bodies of HTTP/2 up to the window", nil, 0, placesTaken(fullWindows, windowMemory)},
	{"long frames of HTTP/2", nil, 0, placesTaken(longFrames, someMemory)},
	{"short answers of HTTP/2 that are not taken", nil, 0, placesTaken(shortAnswers, streamMemory)},
	{"heads of HTTP/2 that are no requests", nil, 0, placesTaken(wrongHeads, streamMemory)},
	{"SIGHUP while bodies do not come", nil, 0, placesTaken(hangups, someMemory)},
	{"sealed, 64, 100 and 200 connections", nil, 0, overload},
	{"bodies that fill the room of mode sealed", nil, 0, fullRoom},
	{"more connections than descriptors", nil, 200, noDescriptors},
}

func main() {
	program := flag.String("program", "", "flood this build of privatemail (default: build it)")
	seconds := flag.Int("seconds", 6, "watch each flood for that many seconds")
	only := flag.String("run", "", "run the floods whose names match")
	flag.Parse()
	ok, err := floodAll(*program, time.Duration(*seconds)*time.Second, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "floods:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// floodAll runs the floods and prints the table.
func floodAll(program string, watch time.Duration, only string) (ok bool, err error) {
	which, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	folder, err := os.MkdirTemp("", "floods")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	if program == "" {
		program = filepath.Join(folder, "privatemail")
		if out, err := exec.Command("go", "build", "-o", program, "./cmd/privatemail").CombinedOutput(); err != nil {
			return false, fmt.Errorf("%w: %s", err, out)
		}
	}
	if err := prepare(program, folder); err != nil {
		return false, err
	}
	const row = "%-54s %-45s %8s  %-14s %-7s %s\n"
	fmt.Printf(row, "flood", "figure", "seen", "goal", "", "")
	ok = true
	for _, f := range floods {
		if !which.MatchString(f.name) {
			continue
		}
		figures, err := f.against(program, folder, watch)
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.name, err)
		}
		for _, g := range figures {
			word, sign := "ok", "at least"
			if !g.ok() {
				word, ok = "MISSED", false
			}
			if g.below {
				sign = "at most"
			}
			fmt.Printf(row, f.name, g.what, fmt.Sprintf("%.3g", g.value), fmt.Sprintf("%s %.3g", sign, g.goal), word, g.note)
		}
	}
	return ok, nil
}

// against runs one flood.
func (f *flood) against(program, folder string, watch time.Duration) ([]figure, error) {
	s, err := startServer(program, folder, f.files, f.flags)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return f.run(s, watch)
}

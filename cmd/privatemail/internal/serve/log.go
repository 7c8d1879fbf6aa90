package serve

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// logAll makes all that goes to standard error a record of the log: notes, progress, what packages
// of the standard library say, and the error at the end, which outcome has by then. The returned function
// ends it for what the packages say.
func logAll(e *cli.Env, to *slog.Logger, outcome *error) (restore func()) {
	out := &recordWriter{log: to, prefixes: []string{e.Program + ": " + e.Verb + ": ", e.Verb + ": "}}
	e.Stderr = out
	before, flags := log.Writer(), log.Flags()
	log.SetOutput(out)
	log.SetFlags(0)
	return func() {
		log.SetOutput(before)
		log.SetFlags(flags)
		if *outcome != nil {
			out.set(slog.LevelError) // the program prints it next
		}
	}
}

// A recordWriter makes a record of each line.
type recordWriter struct {
	log      *slog.Logger
	prefixes []string // of lines, that a record does not need

	mu    sync.Mutex
	level slog.Level
	line  []byte // that has no end yet
}

var _ io.Writer = (*recordWriter)(nil)

func (w *recordWriter) set(level slog.Level) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level = level
}

// Write implements io.Writer.
func (w *recordWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(w.line, p...)
	for {
		line, rest, ok := bytes.Cut(w.line, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		data := bytes.TrimSpace(line)
		for _, prefix := range w.prefixes {
			if short, ok := bytes.CutPrefix(data, []byte(prefix)); ok {
				data = short
				break
			}
		}
		if len(data) > 0 {
			w.log.Log(context.Background(), w.level, string(data))
		}
		w.line = append(w.line[:0], rest...)
	}
}

package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/simd"
)

// versionReport says what this program was built from, and which instructions
// of the processor it uses.
type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SIMD     string `json:"simd"`
}

func versionVerb() verb {
	return verb{
		name: "version", summary: "tell what this program was built from", prints: printsJSON,
		synopsis: []string{"[-json]"}, examples: []string{"privatemail version"},
		define: func(*flag.FlagSet) action {
			return func(_ context.Context, e *env, names []string) error {
				if len(names) > 0 {
					return usagef("names are not wanted, got %q", names[0])
				}
				return e.version()
			}
		},
	}
}

func (e *env) version() error {
	e.noteLevel()
	r := readVersion()
	if e.json {
		return e.object(r)
	}
	line := "privatemail " + r.Version
	if r.Revision != "" {
		line += " " + r.Revision
	}
	if r.Modified {
		line += " (modified)"
	}
	_, err := fmt.Fprintf(e.stdout, "%s %s %s %s\n", line, r.Go, r.Platform, r.SIMD)
	return err
}

func readVersion() versionReport {
	r := versionReport{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SIMD: simd.Best().String()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	if info.Main.Version != "" {
		r.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Revision = s.Value
		case "vcs.modified":
			r.Modified = s.Value == "true"
		}
	}
	return r
}

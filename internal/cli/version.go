package cli

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A Version says what a program was built from, and which processor instructions it
// uses. Revision is "" if the build has none. Choices are "" if the level of SIMD has no
// loops to choose from.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SIMD     string `json:"simd"`
	Choices  string `json:"choices,omitempty"`
	// ChoicesFrom is where the choices come from; see Choices.
	ChoicesFrom string `json:"choices_from,omitempty"`
}

// ReadVersion returns the version of this program.
func ReadVersion() Version {
	r := Version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SIMD: simd.Best().String()}
	r.Choices, r.ChoicesFrom = Choices()
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

func (p *Program) version() Verb {
	return Verb{
		Name: "version", Summary: "show what this program was built from", Prints: PrintsJSON, Ranks: true,
		Synopsis: []string{"[-json]"}, Examples: []string{p.Name + " version"},
		Define: func(*flag.FlagSet) Action {
			return func(_ context.Context, e *Env, names []string) error {
				if len(names) > 0 {
					return Usagef("names are not wanted, got %q", names[0])
				}
				e.NoteLevel()
				return e.printVersion(ReadVersion())
			}
		},
	}
}

func (e *Env) printVersion(v Version) error {
	if e.JSON {
		return e.Object(v)
	}
	line := e.Program + " " + v.Version
	if v.Revision != "" {
		line += " " + v.Revision
	}
	if v.Modified {
		line += " (modified)"
	}
	_, err := fmt.Fprintf(e.Stdout, "%s %s %s %s\n", line, v.Go, v.Platform, SettingWords(v.SIMD, v.Choices, v.ChoicesFrom))
	return err
}

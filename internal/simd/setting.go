package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Best returns the default level of kernels. It is the highest that this build, the
// processor and the operating system have, or the lower one that the environment variable
// PM_SIMD names. The first call reads the variable and asks the processor; later calls
// return the same.
func Best() Level { return asked().level }

// Note returns what the user should know about PM_SIMD: which part of it is unknown and
// ignored, and what it asks for that this machine does not have. It returns "" where
// PM_SIMD is followed. A misspelt variable should not stop a program, but the user should
// see it.
func Note() string { return strings.Join(asked().notes, "; ") }

// Measured reports whether the choices of At(Best()) come from a measurement on this
// machine. They do not if PM_SIMD asks for them or there is nothing to choose.
func Measured() bool { return asked().level.gathers() && asked().gather == noWish }

// A setting is what PM_SIMD asks for on a host: the level of the kernels, a choice
// between its loops, and the text of Note.
type setting struct {
	level  Level
	gather wish
	notes  []string
}

// A wish is what PM_SIMD says about a choice.
type wish int

const (
	noWish wish = iota // nothing: the machine is measured
	wishOff
	wishOn
)

var wishes = map[string]wish{"gather=off": wishOff, "gather=on": wishOn}

var asked = sync.OnceValue(func() setting { return parseSetting(os.Getenv("PM_SIMD"), host()) })

// parseSetting returns what a value of PM_SIMD means on a host. The value is the name of a
// level, or gather=on or gather=off, or both with a comma between them. An unknown part, or
// a second one of its kind, is ignored and noted.
func parseSetting(value string, host Level) setting {
	s := setting{level: host}
	if value == "" {
		return s
	}
	named := false
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		level, isLevel := levelByName(part)
		wish, isWish := wishes[part]
		switch {
		case part == "":
			s.note("PM_SIMD: a part is empty")
		case isWish && s.gather == noWish:
			s.gather = wish
		case isLevel && !named:
			named = true
			s.lowerTo(level, host)
		case isWish || isLevel:
			s.note("PM_SIMD: %q is ignored: a level or a choice can be given once", part)
		default:
			s.note("PM_SIMD: %q is ignored: levels are %s, choices are gather=on and gather=off", part, strings.Join(levelNames[:], ", "))
		}
	}
	if s.gather == wishOn && !s.level.gathers() {
		s.note("PM_SIMD asks for gather=on, but the loops of level %v gather nothing", s.level)
	}
	return s
}

// lowerTo sets the requested level, or the highest below it that the host has.
func (s *setting) lowerTo(level, host Level) {
	if s.level = lower(level, host); s.level != level {
		s.note("PM_SIMD asks for %v, which this machine or build does not have; using %v", level, s.level)
	}
}

// note adds a note, once.
func (s *setting) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

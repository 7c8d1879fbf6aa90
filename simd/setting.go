package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Best returns the level that kernels run at unless told otherwise. It is the highest
// that this build, the processor and the operating system have, or the lower one that the
// environment variable PM_SIMD names. The first call reads the variable and asks the
// processor; later calls return the same.
func Best() Level { return asked().level }

// Note returns what the user should know of PM_SIMD: which part of it names nothing and is
// ignored, and what it asks for that this machine does not have. It returns nothing where
// PM_SIMD is followed. A misspelt variable must not stop a program, nor may it pass unseen.
func Note() string { return strings.Join(asked().notes, "; ") }

// Measured tells whether the choices of At(Best()) come from a measurement on this
// machine. They do not where PM_SIMD asks for them, or where there is nothing to choose.
func Measured() bool { return asked().level.gathers() && asked().gather == noWish }

// A setting is what PM_SIMD asks for on a host: the level that kernels run at, a choice
// between its loops, and what Note says of it.
type setting struct {
	level  Level
	gather wish
	notes  []string
}

// A wish is what PM_SIMD says of a choice.
type wish int

const (
	noWish wish = iota // nothing: the machine is measured
	wishOff
	wishOn
)

var wishes = map[string]wish{"gather=off": wishOff, "gather=on": wishOn}

var asked = sync.OnceValue(func() setting { return parseSetting(os.Getenv("PM_SIMD"), host()) })

// parseSetting returns what a value of PM_SIMD means on a host. It is the name of a level,
// or gather=on or gather=off, or a level and one of these with a comma between them. A part
// that is none of them, or a second one of its kind, is ignored and noted.
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
			s.note("PM_SIMD: %q is ignored: it comes after another of its kind", part)
		default:
			s.note("PM_SIMD: %q is ignored: there are the levels %s, and the choices gather=on and gather=off", part, strings.Join(levelNames[:], ", "))
		}
	}
	if s.gather == wishOn && !s.level.gathers() {
		s.note("PM_SIMD asks for gather=on, but the loops of level %v gather nothing", s.level)
	}
	return s
}

// lowerTo sets the level that was asked for, or the highest below it that the host has.
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

package simd

import (
	"fmt"
	"os"
	"sync"
)

// A Level names a set of instructions that kernels are written for.
type Level int

// The levels. On amd64 each includes those before it; NEON stands by itself.
const (
	Generic    Level = iota // plain Go, everywhere
	AVX2                    // with FMA, F16C, BMI1, BMI2 and POPCNT
	AVX512                  // F, BW, DQ and VL
	AVX512VNNI              // with the dot products of bytes
	AMX                     // with tiles of bytes, which the operating system permits
	NEON                    // of arm64
)

var levelNames = [...]string{"generic", "avx2", "avx512", "avx512vnni", "amx", "neon"}

// String returns the name PM_SIMD uses.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// levelByName returns the level of a name as String spells it.
func levelByName(name string) (Level, error) {
	for l, s := range levelNames {
		if s == name {
			return Level(l), nil
		}
	}
	return Generic, fmt.Errorf("simd: no level %q; there are generic, avx2, avx512, avx512vnni, amx and neon", name)
}

// host returns the highest level that this processor and its operating system can run
// and this build has kernels for, whatever PM_SIMD says. Where the processor has tiles it
// asks the operating system for them, once in the life of a process.
var host = sync.OnceValue(detect)

// Best returns the level that kernels run at unless told otherwise. It is the highest
// that this build, the processor and the operating system have, or the lower one that the
// environment variable PM_SIMD names. The first call reads the variable and asks the
// processor; later calls return the same.
func Best() Level { return setting().level }

// Note returns a sentence for the user where PM_SIMD names no level, or one that this
// machine does not have, and nothing otherwise. A misspelt variable must not stop a
// program, nor may it pass unseen.
func Note() string { return setting().note }

// A choice is the level that kernels run at and what Note says of it.
type choice struct {
	level Level
	note  string
}

var setting = sync.OnceValue(func() choice { return choose(os.Getenv("PM_SIMD"), host()) })

// choose returns what a value of PM_SIMD means on a host.
func choose(value string, host Level) choice {
	if value == "" {
		return choice{level: host}
	}
	asked, err := levelByName(value)
	if err != nil {
		return choice{host, fmt.Sprintf("PM_SIMD is ignored: %v", err)}
	}
	got := lower(asked, host)
	if got != asked {
		return choice{got, fmt.Sprintf("PM_SIMD asks for %v, which this machine or build does not have; using %v", asked, got)}
	}
	return choice{level: got}
}

// lower returns the highest level of the host that is not above the one asked for. Where
// that is of another architecture, the two have nothing in common but plain Go.
func lower(asked, host Level) Level {
	switch {
	case asked == host:
		return host
	case asked <= Generic || asked == NEON || host == NEON:
		return Generic
	}
	return min(asked, host)
}

// Levels returns the levels that At tells apart here, lowest first. Tests of other packages
// ask for them, to compare results of every level.
func Levels() []Level {
	levels := []Level{Generic}
	switch best := Best(); best {
	case Generic:
	case NEON:
		levels = append(levels, NEON)
	default:
		for l := AVX2; l <= best; l++ {
			levels = append(levels, l)
		}
	}
	return levels
}

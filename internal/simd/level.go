package simd

import (
	"fmt"
	"slices"
	"sync"
)

// A Level names a set of instructions that kernels are written for.
type Level int

// The levels. On amd64 each includes those before it; NEON is separate.
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

// levelByName returns the level with a name, as String spells it, and whether it exists.
func levelByName(name string) (Level, bool) {
	at := slices.Index(levelNames[:], name)
	return Level(max(at, 0)), at >= 0
}

// gathers reports whether some loops of a level gather. Such a level has others that do not,
// which give the same bits.
func (l Level) gathers() bool { return l == AVX512 || l == AVX512VNNI || l == AMX }

// host returns the highest level that this processor and its operating system can run and
// this build has kernels for. It ignores PM_SIMD. Where the processor has tiles it asks
// the operating system for them, once in the life of a process.
var host = sync.OnceValue(detect)

// lower returns the highest level of the host that is not above the one asked for.
// Levels of different architectures have only plain Go in common.
func lower(asked, host Level) Level {
	switch {
	case asked == host:
		return host
	case asked <= Generic || asked == NEON || host == NEON:
		return Generic
	}
	return min(asked, host)
}

// Levels returns the levels that At distinguishes on this machine, lowest first. Tests of
// other packages use it to compare the results of all levels.
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

// All returns the kernels of every level and choice that PM_SIMD permits, lowest level
// first. Tests compare their results, and benchmarks their times.
func All() (all []*Kernels) {
	for _, level := range Levels() {
		if !level.gathers() {
			all = append(all, tableOf(level, false))
			continue
		}
		if asked().gather != wishOn {
			all = append(all, tableOf(level, false))
		}
		if asked().gather != wishOff {
			all = append(all, tableOf(level, true))
		}
	}
	return all
}

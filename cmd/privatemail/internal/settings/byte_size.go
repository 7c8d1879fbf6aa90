package settings

import (
	"errors"
	"flag"
	"math"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
)

// SizeVar defines a flag for a number of bytes, none by default.
func SizeVar(fs *flag.FlagSet, p *int64, name, usage string) {
	fs.Var(&value[int64]{p, parseSize, func(v int64) string {
		if v == 0 {
			return ""
		}
		return text.FormatSize(v)
	}}, name, usage)
}

// parseSize reads a number of bytes. K, M, G, T and KiB, MiB, GiB, TiB are
// powers of 1024; kB, MB, GB, TB are powers of 1000. Case does not matter.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "bBiIkKmMgGtT ")
	unit := strings.ToLower(strings.TrimSpace(text[len(digits):]))
	factor, ok := unitFactor(unit)
	v, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(v > 0) {
		return 0, errors.New("want bytes such as 4096, 512M or 2GiB")
	}
	bytes := v * factor
	switch {
	case bytes >= math.MaxInt64:
		return 0, errors.New("that many bytes do not fit into 64 bits")
	case bytes < 1:
		return 0, errors.New("want at least one byte")
	}
	return int64(bytes), nil
}

func unitFactor(unit string) (float64, bool) {
	if unit == "" || unit == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgt", unit[0]) + 1
	if power == 0 {
		return 0, false
	}
	switch unit[1:] {
	case "", "ib":
		return math.Pow(1024, float64(power)), true
	case "b":
		return math.Pow(1000, float64(power)), true
	}
	return 0, false
}

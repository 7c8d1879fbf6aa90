package figures

import (
	"fmt"
	"strconv"
)

// Duration writes seconds in the unit that suits them.
func Duration(seconds float64) string {
	switch {
	case seconds >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g us", seconds*1e6)
}

// Optional writes a number, "" when it is nil.
func Optional(v *float64, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

// Size writes bytes in MiB, "" below one.
func Size(bytes int64) string {
	if bytes < 1<<20 {
		return ""
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// Number writes a number with six digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Decimal writes bytes in the decimal unit that suits them, 0 of none.
func Decimal(bytes float64) string {
	switch {
	case bytes == 0:
		return "0"
	case bytes >= 1e9:
		return fmt.Sprintf("%.3g GB", bytes/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.3g MB", bytes/1e6)
	}
	return fmt.Sprintf("%.3g kB", bytes/1e3)
}

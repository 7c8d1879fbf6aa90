package main

import (
	"fmt"
	"strconv"
)

func duration(seconds float64) string {
	switch {
	case seconds >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g us", seconds*1e6)
}

func optional(v *float64, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return ""
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

package service

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes returns the resident memory of the process, where the system has the file
// /proc/self/statm that tells it.
func residentBytes() (float64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err == nil
}

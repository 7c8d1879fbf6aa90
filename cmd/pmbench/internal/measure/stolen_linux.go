package measure

import (
	"os"
	"strconv"
	"strings"
)

// readProcessors returns how long the processors have worked since the machine started, and how
// long their host has kept them waiting.
func readProcessors() processorTimes {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return unknownTimes
	}
	return parseProcessors(string(b))
}

// parseProcessors reads the first line of /proc/stat: cpu user nice system idle iowait irq softirq
// steal, and what is part of these.
func parseProcessors(text string) (t processorTimes) {
	line, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(line)
	const idle, iowait, steal = 4, 5, 8
	if len(words) <= steal || words[0] != "cpu" {
		return unknownTimes
	}
	for i, word := range words[:steal+1] {
		if i == 0 {
			continue
		}
		n, err := strconv.ParseUint(word, 10, 63)
		switch {
		case err != nil:
			return unknownTimes
		case i == steal:
			t.stolen = float64(n)
		case i != idle && i != iowait:
			t.worked += float64(n)
		}
	}
	return t
}

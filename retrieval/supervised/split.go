package supervised

import (
	"math/rand/v2"
	"slices"
)

// A fold says which rows are held out from which others.
type fold struct{ train, held []int }

// splits returns parts splits of the labelled rows such that each row is held out once, and
// rows of every class are spread over the parts. A row that is alone in its class is never
// held out: nothing could be found. Rows held out come in random order.
func splits(labels []int32, parts int, random *rand.Rand) []fold {
	var out []fold
	part := make([]int, len(labels)) // -1 for a row that is never held out
	members := make(map[int32][]int)
	var names []int32
	for i, label := range labels {
		if label >= 0 {
			if members[label] == nil {
				names = append(names, label)
			}
			members[label] = append(members[label], i)
		}
	}
	slices.Sort(names)
	next := 0
	for _, name := range names {
		rows := members[name]
		random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			part[i] = next % parts
			next++
		}
		if len(rows) == 1 {
			part[rows[0]] = -1
		}
	}
	for p := range parts {
		var s fold
		for i, label := range labels {
			switch {
			case label < 0:
			case part[i] == p:
				s.held = append(s.held, i)
			default:
				s.train = append(s.train, i)
			}
		}
		random.Shuffle(len(s.held), func(a, b int) { s.held[a], s.held[b] = s.held[b], s.held[a] })
		out = append(out, s)
	}
	return out
}

package formats

import (
	"path"
	"slices"
	"strings"
)

// parse returns the columns of a list such as "a,b", "2..65" or "px*".
func (l *Layout) parse(list string) ([]int, *Error) {
	var all []int
	seen := make(map[int]bool)
	for _, item := range strings.Split(list, ",") {
		columns, err := l.parseItem(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			if seen[c] {
				return nil, failf(ErrColumn, "%q names column %d a second time", item, c+1)
			}
			seen[c] = true
		}
		all = append(all, columns...)
	}
	return all, nil
}

// parseItem returns the columns of a name, a number, a range of names or numbers, or a pattern
// of names.
func (l *Layout) parseItem(item string) ([]int, *Error) {
	if c := l.find(item); c >= 0 {
		return []int{c}, nil
	}
	for _, dots := range []string{"..", "-"} {
		from, to, ok := strings.Cut(item, dots)
		if !ok {
			continue
		}
		first, last := l.named(from), l.named(to)
		if first < 0 || last < 0 {
			first, last = l.numbered(from), l.numbered(to)
		}
		if first < 0 || last < 0 {
			continue
		}
		if first > last {
			return nil, failf(ErrColumn, "the range %q ends before it begins", item)
		}
		return span(first, last), nil
	}
	if strings.ContainsAny(item, "*?") {
		return l.match(item)
	}
	return nil, l.unknown(item)
}

// span returns the columns from first to last.
func span(first, last int) []int {
	all := make([]int, last-first+1)
	for i := range all {
		all[i] = first + i
	}
	return all
}

// match returns the columns whose names fit a pattern, in the order of the file.
func (l *Layout) match(pattern string) ([]int, *Error) {
	var all []int
	for c, name := range l.Names {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, failf(ErrColumn, "%q is not a valid pattern of names", pattern)
		}
		if ok {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, l.unknown(pattern)
	}
	slices.Sort(all)
	return all, nil
}

package client

import (
	"fmt"
	"strings"
)

// A recordsError says what is wrong with the records of a request, by masks for each fetch. It
// says which fetches, and not which records.
type recordsError struct {
	absent     []uint64 // there is no record of the number
	impossible []uint64 // the record cannot be as long as it says
}

func (e *recordsError) Error() string {
	var lines []string
	for i := range e.absent {
		switch {
		case e.absent[i] != 0:
			lines = append(lines, fmt.Sprintf("client: fetch %d: %v: the server has no record of this row", i, ErrRecord))
		case e.impossible[i] != 0:
			lines = append(lines, fmt.Sprintf("client: fetch %d: %v", i, errRecordData))
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the sentinels of what is wrong.
func (e *recordsError) Unwrap() (all []error) {
	for i := range e.absent {
		switch {
		case e.absent[i] != 0:
			all = append(all, ErrRecord)
		case e.impossible[i] != 0:
			all = append(all, errRecordData)
		}
	}
	return all
}

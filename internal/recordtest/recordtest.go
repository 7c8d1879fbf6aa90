// Package recordtest has records for tests of mode sealed.
package recordtest

import "iter"

// InMemory returns records as NewRecords of package retrieval/sealed/server takes them.
func InMemory(records [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

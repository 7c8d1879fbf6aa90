package server_test

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A client fetches the records of two rows, and a third one that is a dummy: the server sees three
// fetches and cannot tell which is which.
func ExampleNewRecords() {
	ctx, gallery := context.Background(), wire.Hash{1} // the epoch of a gallery
	texts := func(yield func([]byte, error) bool) {
		for _, text := range []string{"a pine", "an oak", "a beech", "an elm"} {
			if !yield([]byte(text), nil) {
				return
			}
		}
	}
	records, err := server.NewRecords(ctx, gallery, texts, server.RecordsSettings{Rows: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fetcher, err := client.NewRecords(records.Manifest(), records.Hint(), client.RecordsSettings{Gallery: gallery, UnconfirmedEpoch: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fetching, err := fetcher.Fetch(ctx, []uint32{2, 0, wire.Padding})
	if err != nil {
		fmt.Println(err)
		return
	}
	answers, err := records.Answer(ctx, fetching.Request())
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := fetcher.Open(fetching, answers[0])
	fmt.Printf("%q %v\n", got, err)
	// Output: ["a beech" "a pine" ""] <nil>
}

package wire_test

import (
	"fmt"
	"log"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A message travels as one frame. It is read whole or not at all.
func Example() {
	frame, err := (&wire.CellsRequest{Codebook: wire.Hash{1}, Cells: []uint32{2, 7}}).MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var request wire.CellsRequest
	if err := request.UnmarshalBinary(frame); err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Cells)

	frame[len(frame)-1]++ // an accident on the way
	fmt.Println(request.UnmarshalBinary(frame))
	// Output:
	// [2 7]
	// wire: checksum does not match: the message was changed
}

package session

import (
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Result is what a run has found, and what it has spent.
type Result struct {
	K        int
	Hash     wire.Hash            // of the codebook, or the epoch in mode Sealed
	Codebook *wire.Codebook       // nil in mode Sealed
	Manifest *wire.SealedManifest // nil in other modes

	// IDs and Distances have K entries for each row that was answered: -1 and +Inf where there are
	// fewer rows.
	IDs       []int32
	Distances []float32
	Queries   []Query

	// Of mode Cells.
	Spent      int         // records that have spent
	Remembered int         // rows that have not
	Resent     int         // rows that were sent the set of another row of their name
	Changed    int         // of those that have spent, rows of names that had another before
	Equal      int         // rows that are equal to one before
	NewUnits   int         // that the ledger did not know before the run
	Replaced   []wire.Hash // codebooks that were replaced in the middle of the run
	Wasted     int         // spends under those

	// Of mode Sealed.
	Bound    float64  // of the error of a squared distance from a row of length 1
	NewEpoch bool     // one came in the middle of the run, and all rows were encrypted again
	Records  [][]byte // that were fetched, K for each row; nil where there is none
}

// A Query is how many rows came for one row.
type Query struct {
	Lists, Base int  // in the lists, and in the base sample
	Ranked      int  // that differ; in mode Sealed slots, empty ones among them
	Resent      bool // the set of another row of the name was sent
}

// begin forgets what was found and spent under a codebook or an epoch that was replaced.
func (r *Result) begin() {
	r.IDs, r.Distances, r.Queries, r.Records = nil, nil, nil, nil
	r.Spent, r.Remembered, r.Resent, r.Changed = 0, 0, 0, 0
}

// keep adds the matches of the next query. Another request may follow: distances that would be
// subnormal in float32, for which processors take longer, are 0.
func (r *Result) keep(matches []client.Match, came Query) {
	const leastNormal = 0x1p-126
	for i := range r.K {
		id, distance := int32(-1), float32(math.Inf(1)) // so is wire.Padding
		if i < len(matches) {                           // a public number
			id, distance = int32(matches[i].ID), float32(sametime.DropSmall(matches[i].Distance, leastNormal))
		}
		r.IDs, r.Distances = append(r.IDs, id), append(r.Distances, distance)
	}
	r.Queries = append(r.Queries, came)
}

// Found returns how many rows query q has.
func (r *Result) Found(q int) int {
	if i := slices.Index(r.IDs[q*r.K:(q+1)*r.K], -1); i >= 0 {
		return i
	}
	return r.K
}

// Missing returns how many records of matches the server does not have, or that are malformed. It is
// known when everything was sent, and is not an error: a server can cause it for some rows only, and a
// user who asks again after an error would show the server which.
func (r *Result) Missing() (n int) {
	for at, record := range r.Records {
		if record == nil && r.IDs[at] != -1 {
			n++
		}
	}
	return n
}

package measure

import (
	"context"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
)

// A Case is one line of a suite's table.
type Case struct {
	Name    string // key=value pairs, the same in every revision
	N, D, K int
	Workers int
	Full    bool // only in the long form
	// Setup makes what the operation needs. It is called once, untimed, when
	// the cases before it have been measured for the first time.
	Setup func(ctx context.Context, l *Lab) (*Subject, error)
}

// A Subject is what a case measures.
type Subject struct {
	// Run is the operation.
	Run func(ctx context.Context) error
	// NNZ and bytes are those of one operation; they, eta and etaP99 are read
	// after it, so run may set them.
	NNZ, Bytes  int64
	Eta, EtaP99 float64 // NaN when there is none
	Products    int     // of a method that takes as many as it needs
	Pairs       bool    // the rate is one of pairs found, not of entries used
	Madds       float64 // multiply-adds, 0: not counted
	Roof        Roof
	// Memory asks for a run of its own on fresh memory, whose peak is the
	// operation's.
	Memory bool
	// Latency asks for the slowest operations and the memory of each.
	Latency bool
	Search  graphstats.Search // what filters left, of a search in many dimensions
	Stores  bool              // the entries stay: peak memory is given per entry
	Gather  float64           // rows per second of this case's table, for RoofGather
	Choice  *record.Choice    // suite plan
	// Settings are those of suite levels.
	Settings *record.Choice
	Equal    []record.Equality // searches whose pairs were compared
	Sealed   *record.SealedFigures
	Ranks    *record.RankFigures // suite ranks
	Peak     float64             // multiply-adds of bytes a second, for RoofWords
}

// A Roof is the limit a case is held against.
type Roof string

const (
	RoofRead   Roof = "read"        // bytes over the bandwidth of reading
	RoofGather Roof = "gather"      // entries over the rate of random rows
	RoofMadd   Roof = "scalar madd" // multiply-adds over that of scalar Go
	RoofWords  Roof = "read, madd"  // bytes over the bandwidth or multiply-adds of bytes over their peak, the slower
)

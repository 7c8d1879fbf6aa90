package main

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/graphstats"
)

// A benchCase is one line of a suite's table.
type benchCase struct {
	name    string // key=value pairs, the same in every revision
	n, d, k int
	workers int
	full    bool // only in the long form
	// setup makes what the operation needs. It is called once, untimed, when
	// the cases before it have been measured for the first time.
	setup func(ctx context.Context, l *lab) (*subject, error)
}

// A subject is what a case measures.
type subject struct {
	// run is the operation.
	run func(ctx context.Context) error
	// nnz and bytes are those of one operation; they, eta and etaP99 are read
	// after it, so run may set them.
	nnz, bytes  int64
	eta, etaP99 float64 // NaN when there is none
	products    int     // of a method that takes as many as it needs
	pairs       bool    // the rate is one of pairs found, not of entries used
	madds       float64 // multiply-adds, 0: not counted
	roof        roof
	// memory asks for a run of its own on fresh memory, whose peak is the
	// operation's.
	memory bool
	// latency asks for the slowest operations and the memory of each.
	latency bool
	search  graphstats.Search // what filters left, of a search in many dimensions
	stores  bool              // the entries stay: peak memory is given per entry
	gather  float64           // rows per second of this case's table, for roofGather
	choice  *Choice           // suite plan
	// settings are those of suite levels.
	settings *Choice
	equal    []Equality // searches whose pairs were compared
	sealed   *SealedFigures
	ranks    *RankFigures // suite ranks
	peak     float64      // multiply-adds of bytes a second, for roofWords
}

// A roof is the limit a case is held against.
type roof string

const (
	roofRead   roof = "read"        // bytes over the bandwidth of reading
	roofGather roof = "gather"      // entries over the rate of random rows
	roofMadd   roof = "scalar madd" // multiply-adds over that of scalar Go
	roofWords  roof = "read, madd"  // bytes over the bandwidth or multiply-adds of bytes over their peak, the slower
)

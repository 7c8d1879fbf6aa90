// Package record is what pmbench measures and keeps: measurements (Record), ratios to peers
// (Ratio), and the machine they were made on. It names and writes recordings, reads them, and
// sums them up. A recording is a file of JSON objects, one a line.
package record

import (
	"time"
)

// A Record is one measurement, the object of run -json. Numbers that do not
// exist for a case are null.
type Record struct {
	Suite   string `json:"suite"`
	Case    string `json:"case"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	K       int    `json:"k"`
	NNZ     int64  `json:"nnz"`
	Workers int    `json:"workers"`
	Level   string `json:"level"`
	// Seconds of one operation, the median of Iterations; Spread is the
	// distance between their quartiles relative to it. With -calm they are those of the
	// stretch of YardsPerOp.
	Seconds    float64 `json:"seconds"`
	Iterations int     `json:"iterations"`
	Spread     float64 `json:"spread"`
	// SecondsP99 is what one operation in a hundred exceeds, HeapBytes the memory that
	// one takes from the heap; both where somebody waits for each operation.
	SecondsP99 *float64 `json:"seconds_p99,omitempty"`
	HeapBytes  *float64 `json:"heap_bytes,omitempty"`
	// YardsPerOp is the time of one operation in units of the yardstick, in the
	// calmest stretch of the measurement: its fastest one where both readings around
	// it were near the least. YardSeconds is the slower of these two readings,
	// LeastYardSeconds the least so far in this process.
	YardsPerOp       *float64 `json:"yards_per_op"`
	YardSeconds      *float64 `json:"yard_seconds"`
	LeastYardSeconds *float64 `json:"least_yard_seconds"`
	// CPUSeconds of one operation, all workers together, the mean; null where
	// the system does not report it.
	CPUSeconds *float64 `json:"cpu_seconds"`
	// CPUYardsPerOp are CPUSeconds in units of CPUYardSeconds, the processor seconds of a
	// reading of the yardstick: the median of the readings of the measurement. Both are
	// left out where the system does not report it.
	CPUYardsPerOp  *float64 `json:"cpu_yards_per_op,omitempty"`
	CPUYardSeconds *float64 `json:"cpu_yard_seconds,omitempty"`
	// Stolen is which share of the time that the processors of this machine wanted to work the
	// host of a virtual machine had them wait, during the operations that count; null where the
	// system does not report it.
	Stolen *float64 `json:"stolen"`
	// Products is how many an iterative method took.
	Products int `json:"products,omitempty"`
	// Bytes the model of the case says are moved.
	Bytes      int64    `json:"bytes"`
	GnnzPerS   *float64 `json:"gnnz_per_s,omitempty"`
	PairsPerS  *float64 `json:"pairs_per_s,omitempty"`
	NsPerPoint float64  `json:"ns_per_point"`
	NsPerNNZ   *float64 `json:"ns_per_nnz"`
	// RoofFraction is the time the limit named by Roof allows over Seconds.
	Roof         string   `json:"roof"`
	RoofFraction *float64 `json:"roof_fraction"`
	// MaddPerS are multiply-adds per second.
	MaddPerS *float64 `json:"madd_per_s"`
	// Eta is the certified error of the worst row; EtaP99 is that of all but one
	// in a hundred.
	Eta    *float64 `json:"eta"`
	EtaP99 *float64 `json:"eta_p99"`
	// RSSBytes is the largest resident memory of the process while it measured,
	// PeakBytes what of it was not there before.
	RSSBytes  int64 `json:"rss_bytes"`
	PeakBytes int64 `json:"peak_bytes"`
	// PeakPerNNZ is PeakBytes of a build per entry built.
	PeakPerNNZ   *float64 `json:"peak_bytes_per_nnz"`
	Instructions *float64 `json:"instructions"`
	// Depth of the codes of a search in many dimensions, and the shares of pairs whose
	// codes were compared, whose distance was measured, and that are neighbours.
	Depth    int      `json:"depth,omitempty"`
	Compared *float64 `json:"compared,omitempty"`
	Measured *float64 `json:"measured,omitempty"`
	Found    *float64 `json:"found,omitempty"`
	// Equal are the radii at which the pairs of a search are those of all distances.
	Equal []Equality `json:"equal,omitempty"`
	Plan  *Choice    `json:"plan,omitempty"` // suite plan
	// Settings are the levels and choices that a loop of suite levels was run at, with the
	// least seconds of one run.
	Settings *Choice        `json:"settings,omitempty"`
	Sealed   *SealedFigures `json:"sealed,omitempty"` // suite sealed
	Ranks    *RankFigures   `json:"ranks,omitempty"`  // suite ranks
	// EndedEarly says that the run ended before all rounds of the suite were measured.
	EndedEarly bool     `json:"ended_early,omitempty"`
	Command    string   `json:"command,omitempty"`
	Commit     string   `json:"commit"`
	Time       string   `json:"time"`
	Machine    *Machine `json:"machine,omitempty"`

	// File is the number of the recording that a report has read it from.
	File int `json:"-"`
}

// Now is the time of a record.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }

// An Equality says that a search found the pairs within a radius, all of them and no
// others, by the float64 distances of all pairs.
type Equality struct {
	// Degree is the mean number of neighbours within Radius, which is the distance of
	// one of the Pairs, so that equality is put to the test where it is decided.
	Degree float64 `json:"degree"`
	Radius float64 `json:"radius"`
	Pairs  int     `json:"pairs"`
}

// A Choice says how what was picked compares with the others: an operator in suite plan, a
// level with its choices in suite levels.
type Choice struct {
	Pick string `json:"pick"` // "" where no operator was built
	Best string `json:"best"`
	// Ratio is the time of the pick over that of the fastest.
	Ratio float64 `json:"ratio"`
	// Seconds are those of each operator forced, from points to the last step,
	// but for those that cannot serve or were estimated to take too long.
	Seconds map[string]float64 `json:"seconds"`
	// Failed: no operator was built though another serves when forced.
	Failed bool `json:"failed"`
}

// SealedFigures are what suite sealed has besides seconds.
type SealedFigures struct {
	Queries int `json:"queries"` // of one operation
	Cells   int `json:"cells"`
	Length  int `json:"length"` // slots of a cell
	Probes  int `json:"probes"`
	// Bytes of the binary forms: of a query up and down, and of what a client takes once. The
	// manifest has norms and centres.
	UpBytes       int64 `json:"up_bytes"`
	DownBytes     int64 `json:"down_bytes"`
	HintBytes     int64 `json:"hint_bytes"`
	ManifestBytes int64 `json:"manifest_bytes"`
	// BuildSeconds is how long the server took to lay out the gallery, HintSeconds how much of
	// that the hint took, both with BuildWorkers.
	BuildSeconds float64 `json:"build_seconds"`
	HintSeconds  float64 `json:"hint_seconds"`
	BuildWorkers int     `json:"build_workers"`
	// Overlap is the share of the 8 exact neighbours that are found.
	Overlap *float64 `json:"overlap,omitempty"`
}

// RankFigures are the bytes that ranks receive in one operation, all ranks together.
type RankFigures struct {
	Ranks int `json:"ranks"`
	// Exchanged are those of rows that one rank sends another, Gathered those of what
	// every rank gets from every other one.
	Exchanged int64 `json:"exchanged_bytes"`
	Gathered  int64 `json:"gathered_bytes"`
	// Allgatherv is what a step would take that gathers the whole iterate.
	Allgatherv int64 `json:"allgatherv_bytes,omitempty"`
	// MeasuredRounds are the rounds of the case, including those that are not reported.
	MeasuredRounds int `json:"measured_rounds,omitempty"`
}

package record

// An Equality says that a search found the pairs within a radius, all of them and no
// others, as the float64 distances of all pairs tell.
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
	Pick string `json:"pick"` // "" where none was built
	Best string `json:"best"`
	// Ratio is the time of the pick over that of the fastest.
	Ratio float64 `json:"ratio"`
	// Seconds are those of each operator forced, from points to the last step,
	// but for those that cannot serve or were estimated to take too long.
	Seconds map[string]float64 `json:"seconds"`
	// Failed: no operator was built though another serves when forced.
	Failed bool `json:"failed"`
}

// SealedFigures are what suite sealed has beside seconds.
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
	// MeasuredRounds are the rounds of the case, those included that are not told.
	MeasuredRounds int `json:"measured_rounds,omitempty"`
}

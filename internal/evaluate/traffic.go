package evaluate

// Traffic is how many bytes a client takes from a server in their binary form.
type Traffic struct {
	Query float64 `json:"query,omitempty"` // for each query
	Once  float64 `json:"once,omitempty"`  // whatever is asked: codebook, base sample, gallery
}

// A Volume says what a mode sends, with rows in both encodings. It is zero for modes that send
// nothing but matches.
type Volume struct {
	Float32 Traffic `json:"float32,omitzero"`
	Int8    Traffic `json:"int8,omitzero"`
	// AllRows is what mode all takes once of the same gallery, for no epsilon.
	AllRows float64 `json:"all,omitempty"`
	// Sealed is what a mode exchanges whose queries are encrypted.
	Sealed Exchange `json:"sealed,omitzero"`
}

// An Exchange is what a mode takes whose server computes on encrypted queries: bytes in their
// binary form, and the time of the server.
type Exchange struct {
	Up   float64 `json:"up,omitempty"`   // bytes that a client sends for each query
	Down float64 `json:"down,omitempty"` // bytes that it gets back
	Once float64 `json:"once,omitempty"` // bytes that it takes whatever it asks: hint, norms, centres
	// Seconds of the server for each query, asked one by one.
	Seconds float64 `json:"seconds,omitempty"`
}

// each returns the volume whose numbers f makes of those of v and w.
func (v Volume) each(w Volume, f func(a, b float64) float64) Volume {
	of := func(a, b Traffic) Traffic { return Traffic{Query: f(a.Query, b.Query), Once: f(a.Once, b.Once)} }
	a, b := v.Sealed, w.Sealed
	return Volume{
		Float32: of(v.Float32, w.Float32), Int8: of(v.Int8, w.Int8), AllRows: f(v.AllRows, w.AllRows),
		Sealed: Exchange{Up: f(a.Up, b.Up), Down: f(a.Down, b.Down), Once: f(a.Once, b.Once), Seconds: f(a.Seconds, b.Seconds)},
	}
}

// plus returns the sum of two volumes.
func (v Volume) plus(w Volume) Volume {
	return v.each(w, func(a, b float64) float64 { return a + b })
}

// over returns a volume divided by n.
func (v Volume) over(n float64) Volume {
	return v.each(v, func(a, _ float64) float64 { return a / n })
}

package evaluate

// Traffic is how many bytes a client takes from a server in their binary form.
type Traffic struct {
	Query float64 `json:"query,omitempty"` // for each query
	Once  float64 `json:"once,omitempty"`  // whatever is asked: codebook, base sample, gallery
}

// A Volume says what a mode sends, with rows in both forms. It is zero for modes that send
// nothing but matches.
type Volume struct {
	Float32 Traffic `json:"float32,omitzero"`
	Int8    Traffic `json:"int8,omitzero"`
	// TakeAll is what mode take-all takes once of the same gallery, for no epsilon.
	TakeAll float64 `json:"take-all,omitempty"`
}

// add adds a part of another volume, for means.
func (v *Volume) add(other Volume, part float64) {
	v.Float32.Query += other.Float32.Query * part
	v.Float32.Once += other.Float32.Once * part
	v.Int8.Query += other.Int8.Query * part
	v.Int8.Once += other.Int8.Once * part
	v.TakeAll += other.TakeAll * part
}

package host

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A sealedSource says what a sealed gallery was made from: the map and the rows of a model,
// and the settings. A model that has grown has the same map, and its first rows are the same.
type sealedSource struct {
	Map    string `json:"map"`  // SHA-256 of its JSON form
	Rows   int    `json:"rows"` // that the hash is of
	Hash   string `json:"hash"` // SHA-256 of the rows
	Cells  int    `json:"cells"`
	Probes int    `json:"probes"`
	Seed   uint64 `json:"seed"`
}

// sourceOf returns that of a model.
func (h *Host) sourceOf(model *supervised.Model) (out sealedSource, err error) {
	chart, err := publishedMap(model)
	if err != nil {
		return out, err
	}
	sum := sha256.Sum256(chart)
	return sealedSource{
		Map: hex.EncodeToString(sum[:]), Rows: model.X.Rows, Hash: hashRows(model.X, model.X.Rows),
		Cells: h.settings.SealedCells, Probes: h.settings.Probes, Seed: h.settings.Seed,
	}, nil
}

// publishedMap returns the map of a model as it is published. It refuses one that clients refuse.
func publishedMap(model *supervised.Model) ([]byte, error) {
	if _, err := model.Map.Guard(); err != nil {
		return nil, err
	}
	return json.Marshal(model.Map)
}

// String returns the form that a gallery keeps.
func (s sealedSource) String() string {
	data, err := json.Marshal(s)
	if err != nil { // strings and numbers have a JSON form
		return ""
	}
	return string(data)
}

// parseSealedSource reads the form that a gallery keeps; ok is false where it is malformed.
func parseSealedSource(text string) (s sealedSource, ok bool) {
	return s, json.Unmarshal([]byte(text), &s) == nil
}

// continues reports whether a model is the earlier one with more rows at its end.
func (s sealedSource) continues(before sealedSource, model *supervised.Model) bool {
	same := before
	same.Rows, same.Hash = s.Rows, s.Hash
	return same == s && before.Rows > 0 && before.Rows < s.Rows && before.Hash == hashRows(model.X, before.Rows)
}

// hashRows returns the SHA-256 of the first rows.
func hashRows(x blas32.General, rows int) string {
	h := sha256.New()
	bytes := make([]byte, 0, 4*x.Cols)
	for i := range rows {
		bytes = bytes[:0]
		for _, v := range x.Data[i*x.Stride:][:x.Cols] {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
		}
		h.Write(bytes) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

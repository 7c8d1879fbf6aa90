package wire

import (
	"crypto/sha256"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A Codebook is what a server publishes about its gallery before any query: the
// centres of its cells, how much an answer holds, and what compact rows refer to. Clients
// choose among the centres, so one codebook goes to all of them, and a change of it is a
// new version with another hash.
type Codebook struct {
	Version   uint64    // counts up
	Rows      int       // of the gallery
	Size      int       // how many cells a request names, 1 to Cells()-1
	Length    int       // of the list of each cell, padded
	Dimension int       // of the centres
	Ranking   int       // dimension of the rows that are returned
	Centres   []float32 // one centre a row
	// Scale and Anchors are what compact rows are written by: see Compact. Anchors are
	// rotated rows, one behind the other, of dimension Ranking.
	Scale   float32
	Anchors []float32
}

// Cells returns the number of centres.
func (c *Codebook) Cells() int {
	if c.Dimension < 1 {
		return 0
	}
	return len(c.Centres) / c.Dimension
}

// AnchorCount returns the number of anchors.
func (c *Codebook) AnchorCount() int {
	if c.Ranking < 1 {
		return 0
	}
	return len(c.Anchors) / c.Ranking
}

// Check returns nil, or an *Error for the first field that is wrong.
func (c *Codebook) Check() error {
	switch cells := c.Cells(); {
	case c.Rows < 1 || c.Rows > limits.MaxRows:
		return refuse("rows", "%d, want 1 to %d", c.Rows, limits.MaxRows)
	case c.Dimension < 1 || c.Dimension > limits.MaxDimension:
		return refuse("dimension", "%d, want 1 to %d", c.Dimension, limits.MaxDimension)
	case c.Ranking < 1 || c.Ranking > limits.MaxDimension:
		return refuse("ranking", "%d, want 1 to %d", c.Ranking, limits.MaxDimension)
	case cells < 2 || cells > limits.MaxCells || cells*c.Dimension != len(c.Centres):
		return refuse("centres", "%d numbers of dimension %d, want 2 to %d centres", len(c.Centres), c.Dimension, limits.MaxCells)
	case c.Size < 1 || c.Size >= cells:
		return refuse("size", "%d of %d cells", c.Size, cells)
	case c.Length < 1 || c.Length > c.Rows:
		return refuse("length", "%d of %d rows", c.Length, c.Rows)
	case max(c.answerSize(Float32), c.answerSize(Int8)) > maxMessage:
		return refuse("length", "%d for each of %d cells, of dimension %d: an answer is no message", c.Length, c.Size, c.Ranking)
	case !allFinite(c.Centres):
		return refuse("centres", "a number is not finite")
	case !(c.Scale >= 0 && c.Scale <= math.MaxFloat32):
		return refuse("scale", "want a finite number that is not negative")
	}
	if anchors := c.AnchorCount(); anchors < 1 || anchors > limits.MaxAnchors || anchors*c.Ranking != len(c.Anchors) {
		return refuse("anchors", "%d numbers of dimension %d, want 1 to %d anchors", len(c.Anchors), c.Ranking, limits.MaxAnchors)
	}
	if !allFinite(c.Anchors) {
		return refuse("anchors", "a number is not finite")
	}
	return nil
}

// answerSize returns the length of the body of a CellsAnswer. It is exact far
// beyond what a message may hold.
func (c *Codebook) answerSize(encoding Encoding) float64 {
	places, lengths, row := float64(c.Size)*float64(c.Length), 1., 4*float64(c.Ranking)
	if encoding == Int8 {
		lengths, row = 3, 2+2+float64(c.Ranking)
	}
	return sha256.Size + 8*(4+lengths) + 4*float64(c.Size) + places*(4+row)
}

// AnswerBytes returns the length of the binary form of an answer, which is the same for
// every request: what a server may announce and a client should expect. It is 0 for a
// codebook or an encoding that is not valid.
func (c *Codebook) AnswerBytes(encoding Encoding) int64 {
	if c.Check() != nil || encoding.Check() != nil {
		return 0
	}
	return int64(headSize+crcPairSize) + int64(c.answerSize(encoding))
}

// BaseBytes returns the length of the binary form of a base sample of that many rows. It is
// 0 for a codebook or an encoding that is not valid, and for rows that the gallery does not
// have.
func (c *Codebook) BaseBytes(encoding Encoding, rows int) int64 {
	if c.Check() != nil || encoding.Check() != nil || rows < 0 || rows > c.Rows {
		return 0
	}
	return int64(frameSize+len(Hash{})+2*8) + 4*int64(rows) + encoding.rowsSize(int64(rows), int64(c.Ranking))
}

// AllRowsBytes returns the length of the binary form of the whole gallery. It is 0 for a
// codebook that is not valid.
func (c *Codebook) AllRowsBytes() int64 {
	if c.Check() != nil {
		return 0
	}
	return allRowsHead + int64(crcPairSize) + Int8.rowsSize(int64(c.Rows), int64(c.Ranking))
}

// Hash returns the SHA-256 that identifies the codebook, the one its binary form
// ends with, and the error of Check when there is one.
func (c *Codebook) Hash() (h Hash, err error) {
	return endOf(c)
}

func (c *Codebook) format() format { return format{kindCodebook, codebookVersion, newSHA256} }

func (c *Codebook) fields() (int64, func(*encoder), error) {
	sizes := c.sizes()
	numbers := int64(len(c.Centres)) + 1 + int64(len(c.Anchors))
	return int64(8+8*len(sizes)+2*8) + 4*numbers, func(e *encoder) {
		e.uint64(c.Version)
		for _, v := range sizes {
			e.uint64(uint64(*v.at))
		}
		encodeSlice(e, c.Centres)
		encodeNumbers(e, []float32{c.Scale})
		encodeSlice(e, c.Anchors)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (c *Codebook) MarshalBinary() ([]byte, error) { return appendFrame(nil, c) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (c *Codebook) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, c) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (c *Codebook) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, c) }

// UnmarshalBinary reads the binary form. When it fails, c stays as it was.
func (c *Codebook) UnmarshalBinary(frame []byte) error {
	d, err := open(c.format(), frame)
	if err != nil {
		return err
	}
	out := Codebook{Version: d.uint64("version")}
	for _, v := range out.sizes() {
		*v.at = d.whole(v.name, limits.MaxRows)
	}
	out.Centres = decodeSlice[float32](d, "centres")
	var scale [1]float32
	decodeInto(d, "scale", scale[:])
	out.Scale = scale[0]
	out.Anchors = decodeSlice[float32](d, "anchors")
	return finish(d, c, &out, out.Check)
}

type size struct {
	name string
	at   *int
}

func (c *Codebook) sizes() []size {
	return []size{{"rows", &c.Rows}, {"size", &c.Size}, {"length", &c.Length}, {"dimension", &c.Dimension}, {"ranking", &c.Ranking}}
}

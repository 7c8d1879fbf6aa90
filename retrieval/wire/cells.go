package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math"
)

// The messages of mode cells, in the order in which they travel.
const (
	KindCodebook Kind = 16 + iota
	KindBase
	KindCellsRequest
	KindCellsAnswer
)

const (
	cellsVersion  = 1
	answerVersion = 3 // of a CellsAnswer; 1 had no mask, 2 another one and SHA-256
)

// Limits of the messages of mode cells.
const (
	MaxCells     = 1 << 20       // centres of a codebook
	MaxDimension = 1 << 16       // of a space
	MaxRows      = math.MaxInt32 // of a gallery
)

// Padding is the number of no row. It fills a list up to the length that all
// lists have, so that the size of an answer does not tell which were sent.
const Padding = math.MaxUint32

// A Hash is a SHA-256.
type Hash = [sha256.Size]byte

// A Codebook is what a server publishes about its gallery before any query: the
// centres of its cells and how much an answer holds. Clients choose among the
// centres, so one codebook goes to all of them, and a change of it is a new
// version with another hash.
type Codebook struct {
	Version   uint64    // counts up
	Rows      int       // of the gallery
	Size      int       // how many cells a request names, 1 to Cells()-1
	Length    int       // of the list of each cell, padded
	Dimension int       // of the centres
	Ranking   int       // dimension of the rows that are returned
	Centres   []float32 // one centre a row
}

// Cells returns the number of centres.
func (c *Codebook) Cells() int {
	if c.Dimension < 1 {
		return 0
	}
	return len(c.Centres) / c.Dimension
}

// Check returns nil, or an *Error for the first field that is wrong.
func (c *Codebook) Check() error {
	switch cells := c.Cells(); {
	case c.Rows < 1 || c.Rows > MaxRows:
		return refuse("rows", "%d, want 1 to %d", c.Rows, MaxRows)
	case c.Dimension < 1 || c.Dimension > MaxDimension:
		return refuse("dimension", "%d, want 1 to %d", c.Dimension, MaxDimension)
	case c.Ranking < 1 || c.Ranking > MaxDimension:
		return refuse("ranking", "%d, want 1 to %d", c.Ranking, MaxDimension)
	case cells < 2 || cells > MaxCells || cells*c.Dimension != len(c.Centres):
		return refuse("centres", "%d numbers of dimension %d, want 2 to %d centres", len(c.Centres), c.Dimension, MaxCells)
	case c.Size < 1 || c.Size >= cells:
		return refuse("size", "%d of %d cells", c.Size, cells)
	case c.Length < 1 || c.Length > c.Rows:
		return refuse("length", "%d of %d rows", c.Length, c.Rows)
	case c.answerSize() > maxMessage:
		return refuse("length", "%d for each of %d cells, of dimension %d: an answer is no message", c.Length, c.Size, c.Ranking)
	case !allFinite(c.Centres):
		return refuse("centres", "a number is not finite")
	}
	return nil
}

// answerSize returns the length of the body of a CellsAnswer. It is exact far
// beyond what a message may hold.
func (c *Codebook) answerSize() float64 {
	const fixed = sha256.Size + 5*8
	return fixed + 4*float64(c.Size)*(1+float64(c.Length)*(1+float64(c.Ranking)))
}

// AnswerBytes returns the length of the binary form of an answer, which is the same for
// every request: what a server may announce and a client should expect. It is 0 for a
// codebook that is not valid.
func (c *Codebook) AnswerBytes() int64 {
	if c.Check() != nil {
		return 0
	}
	return int64(headSize+crcPairSize) + int64(c.answerSize())
}

// Hash returns the SHA-256 that identifies the codebook, the one its binary form
// ends with, and the error of Check when there is one.
func (c *Codebook) Hash() (h Hash, err error) {
	frame, err := c.MarshalBinary()
	if err != nil {
		return h, err
	}
	return Hash(frame[len(frame)-len(h):]), nil
}

func (c *Codebook) format() format { return format{KindCodebook, cellsVersion, newSHA256} }

func (c *Codebook) fields() (int64, func(*encoder), error) {
	sizes := c.sizes()
	return int64(8+8*len(sizes)+8) + 4*int64(len(c.Centres)), func(e *encoder) {
		e.uint64(c.Version)
		for _, v := range sizes {
			e.uint64(uint64(*v.at))
		}
		encodeSlice(e, c.Centres)
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
		*v.at = d.whole(v.name, MaxRows)
	}
	out.Centres = decodeSlice[float32](d, "centres")
	return finish(d, c, &out, out.Check)
}

type size struct {
	name string
	at   *int
}

func (c *Codebook) sizes() []size {
	return []size{{"rows", &c.Rows}, {"size", &c.Size}, {"length", &c.Length}, {"dimension", &c.Dimension}, {"ranking", &c.Ranking}}
}

// A Base is a random sample of the gallery, the same for every client and every
// query. It says nothing about a query, so clients take it once and keep it.
type Base struct {
	Codebook  Hash      // of the codebook it goes with
	Dimension int       // of the rows
	IDs       []uint32  // of the rows, rising
	Rows      []float32 // one a row
}

// Check returns nil, or an *Error for the first field that is wrong.
func (b *Base) Check() error {
	if !risingRows(b.IDs) {
		return refuse("ids", "want rising numbers below %d", MaxRows)
	}
	return checkRows(b.Dimension, len(b.IDs), b.Rows)
}

func (b *Base) format() format { return format{KindBase, cellsVersion, newSHA256} }

func (b *Base) fields() (int64, func(*encoder), error) {
	size := int64(len(b.Codebook)) + 3*8 + 4*int64(len(b.IDs)) + 4*int64(len(b.Rows))
	return size, func(e *encoder) {
		e.fixed(b.Codebook[:])
		e.uint64(uint64(b.Dimension))
		encodeSlice(e, b.IDs)
		encodeSlice(e, b.Rows)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (b *Base) MarshalBinary() ([]byte, error) { return appendFrame(nil, b) }

// AppendBinary appends the binary form to dst, which is returned as it was after an
// error of Check.
func (b *Base) AppendBinary(dst []byte) ([]byte, error) { return appendFrame(dst, b) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (b *Base) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, b) }

// UnmarshalBinary reads the binary form. When it fails, b stays as it was.
func (b *Base) UnmarshalBinary(frame []byte) error {
	d, err := open(b.format(), frame)
	if err != nil {
		return err
	}
	var out Base
	d.fixed("codebook", out.Codebook[:])
	out.Dimension = d.whole("dimension", MaxDimension)
	out.IDs = decodeSlice[uint32](d, "ids")
	out.Rows = decodeSlice[float32](d, "rows")
	return finish(d, b, &out, out.Check)
}

// A CellsRequest is a query: the set of cells that a client has released. There
// is nothing else in it. A payer's requests for one record under one codebook and one
// epsilon are equal.
type CellsRequest struct {
	Codebook Hash     // of the codebook that was chosen from
	Cells    []uint32 // rising
}

// Check returns nil, or an *Error for the first field that is wrong.
func (r *CellsRequest) Check() error { return checkCells(r.Cells) }

func (r *CellsRequest) format() format { return format{KindCellsRequest, cellsVersion, newSHA256} }

func (r *CellsRequest) fields() (int64, func(*encoder), error) {
	return int64(len(r.Codebook)+8) + 4*int64(len(r.Cells)), func(e *encoder) {
		e.fixed(r.Codebook[:])
		encodeSlice(e, r.Cells)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (r *CellsRequest) MarshalBinary() ([]byte, error) { return appendFrame(nil, r) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (r *CellsRequest) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, r) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (r *CellsRequest) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, r) }

// UnmarshalBinary reads the binary form. When it fails, r stays as it was.
func (r *CellsRequest) UnmarshalBinary(frame []byte) error {
	d, err := open(r.format(), frame)
	if err != nil {
		return err
	}
	var out CellsRequest
	d.fixed("codebook", out.Codebook[:])
	out.Cells = decodeSlice[uint32](d, "cells")
	return finish(d, r, &out, out.Check)
}

// A CellsAnswer holds the lists of the cells of a request, one after the other:
// the number and the row of each member, in rising order of the numbers, then
// padding up to the length of all lists. In the binary form the lists do not
// compress.
type CellsAnswer struct {
	Codebook  Hash
	Cells     []uint32  // those of the request
	Length    int       // of each list
	Dimension int       // of the rows
	IDs       []uint32  // len(Cells) x Length numbers of rows, or Padding
	Rows      []float32 // one a number; beside Padding they mean nothing, and are finite
}

// Check returns nil, or an *Error for the first field that is wrong.
func (a *CellsAnswer) Check() error {
	if err := a.checkLists(); err != nil {
		return err
	}
	return checkRows(a.Dimension, len(a.IDs), a.Rows)
}

// checkLists looks at all fields but Dimension and Rows.
func (a *CellsAnswer) checkLists() error {
	if err := checkCells(a.Cells); err != nil {
		return err
	}
	if a.Length < 1 || a.Length > MaxRows || uint64(len(a.IDs)) != uint64(len(a.Cells))*uint64(a.Length) {
		return refuse("ids", "%d for %d lists of %d", len(a.IDs), len(a.Cells), a.Length)
	}
	for i := range a.Cells {
		if !risingRows(a.List(i)) {
			return refuse("ids", "list %d: want rising numbers below %d", i, MaxRows)
		}
	}
	return nil
}

// List returns the numbers of the rows of list i, without the padding. The slice
// belongs to a.
func (a *CellsAnswer) List(i int) []uint32 {
	list := a.IDs[i*a.Length : (i+1)*a.Length]
	for len(list) > 0 && list[len(list)-1] == Padding {
		list = list[:len(list)-1]
	}
	return list
}

func (a *CellsAnswer) format() format { return format{KindCellsAnswer, answerVersion, newCRCPair} }

func (a *CellsAnswer) fields() (int64, func(*encoder), error) {
	return a.fieldsWith(int64(len(a.Rows)), func(e *encoder) { encodeNumbers(e, a.Rows) })
}

// fieldsWith returns the fields of an answer whose rows are encoded by a function.
func (a *CellsAnswer) fieldsWith(numbers int64, rows func(*encoder)) (int64, func(*encoder), error) {
	asked := a.asked()
	return int64(len(asked)) + 2*8 + 4*int64(len(a.IDs)) + 4*numbers, func(e *encoder) {
		e.fixed(asked)
		e.cover(newMask(asked))
		encodeSlice(e, a.IDs)
		e.uint64(uint64(numbers))
		rows(e)
	}, nil
}

// asked returns the first bytes of the body, which say what the request and the
// codebook say too.
func (a *CellsAnswer) asked() []byte {
	b := append(make([]byte, 0, len(a.Codebook)+3*8+4*len(a.Cells)), a.Codebook[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(a.Cells)))
	for _, cell := range a.Cells {
		b = binary.LittleEndian.AppendUint32(b, cell)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(a.Length))
	return binary.LittleEndian.AppendUint64(b, uint64(a.Dimension))
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (a *CellsAnswer) MarshalBinary() ([]byte, error) { return appendFrame(nil, a) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (a *CellsAnswer) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, a) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (a *CellsAnswer) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, a) }

// UnmarshalBinary reads the binary form. When it fails, a stays as it was.
func (a *CellsAnswer) UnmarshalBinary(frame []byte) error {
	d, err := open(a.format(), frame)
	if err != nil {
		return err
	}
	body := d.left
	var out CellsAnswer
	d.fixed("codebook", out.Codebook[:])
	out.Cells = decodeSlice[uint32](d, "cells")
	out.Length = d.whole("length", MaxRows)
	out.Dimension = d.whole("dimension", MaxDimension)
	d.mask = newMask(body[:len(body)-len(d.left)])
	out.IDs = decodeSlice[uint32](d, "ids")
	out.Rows = decodeSlice[float32](d, "rows")
	return finish(d, a, &out, out.Check)
}

// checkCells is for a set of cells, which has no order of its own: any other
// order than the rising one could tell which was the private one.
func checkCells(cells []uint32) error {
	if len(cells) < 1 || len(cells) >= MaxCells || !rising(cells) || cells[len(cells)-1] >= MaxCells {
		return refuse("cells", "%d numbers, want at least one, in rising order, below %d", len(cells), MaxCells)
	}
	return nil
}

func checkRows(dimension, n int, rows []float32) error {
	if err := checkDimension(dimension); err != nil {
		return err
	}
	switch {
	case uint64(len(rows)) != uint64(n)*uint64(dimension):
		return refuse("rows", "%d numbers for %d rows of dimension %d", len(rows), n, dimension)
	case !allFinite(rows):
		return refuse("rows", "a number is not finite")
	}
	return nil
}

func checkDimension(dimension int) error {
	if dimension < 1 || dimension > MaxDimension {
		return refuse("dimension", "%d, want 1 to %d", dimension, MaxDimension)
	}
	return nil
}

// risingRows tells whether these can be the numbers of rows, each once.
func risingRows(ids []uint32) bool {
	return rising(ids) && (len(ids) == 0 || ids[len(ids)-1] < MaxRows)
}

// rising tells whether each number is above the one before it.
func rising(v []uint32) bool {
	for i := 1; i < len(v); i++ {
		if v[i] <= v[i-1] {
			return false
		}
	}
	return true
}

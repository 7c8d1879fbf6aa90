package cluster

import "encoding/binary"

// calls records what a rank has done together with the others, in a form that two ranks can
// compare: the number of its calls, and a hash of them, the mark. A rank that waits in a call
// which the others do not make is alive and not silent, but its mark differs.
type calls struct {
	count uint64
	marks [1024]uint64 // after each of the last calls, by the number of the call
}

// A kind is a kind of call that all ranks make.
type kind uint64

const (
	gathering kind = iota + 1
	exchanging
	ending // without an error; a rank that has failed may end at any call
)

// add notes a call, with numbers that are the same on all ranks.
func (c *calls) add(what kind, numbers []int) {
	const prime = 1099511628211 // of the hash of Fowler, Noll and Vo
	mark := (c.mark() ^ uint64(what)) * prime
	for _, n := range numbers {
		mark = (mark ^ uint64(n)) * prime
	}
	c.count++
	c.marks[c.count%uint64(len(c.marks))] = mark
}

// mark returns the mark of the calls so far.
func (c *calls) mark() uint64 { return c.marks[c.count%uint64(len(c.marks))] }

// callBytes is the number of bytes that put writes.
const callBytes = 16

// put writes the number of calls and the mark, for another rank to compare.
func (c *calls) put(block []byte) {
	binary.LittleEndian.PutUint64(block, c.count)
	binary.LittleEndian.PutUint64(block[8:], c.mark())
}

// differs reports whether the rank that wrote block made other calls than this one. It
// cannot tell for calls that this rank has not made yet, or made long ago.
func (c *calls) differs(block []byte) bool {
	count, mark := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
	if count > c.count || c.count-count >= uint64(len(c.marks)) {
		return false
	}
	return c.marks[count%uint64(len(c.marks))] != mark
}

package cluster

import "encoding/binary"

// calls are what a rank has done together with the others, in a form that two ranks can
// compare: how many calls it has made, and a mark of what they were. A rank that waits in a
// call which the others do not make lives, so its silence does not betray it, but its mark does.
type calls struct {
	count uint64
	marks [1024]uint64 // after each of the last calls, by its number
}

// A kind is one of the calls that all ranks make.
type kind uint64

const (
	gathering kind = iota + 1
	exchanging
	ending // without an error; a rank that has failed may end at any call
)

// add notes a call, with numbers that are the same on all ranks.
func (c *calls) add(what kind, numbers []int) {
	const prime = 1099511628211 // of the sums of Fowler, Noll and Vo
	mark := (c.mark() ^ uint64(what)) * prime
	for _, n := range numbers {
		mark = (mark ^ uint64(n)) * prime
	}
	c.count++
	c.marks[c.count%uint64(len(c.marks))] = mark
}

// mark is that of the calls until now.
func (c *calls) mark() uint64 { return c.marks[c.count%uint64(len(c.marks))] }

// callBytes is the size of what put writes.
const callBytes = 16

// put writes what another rank compares with its own.
func (c *calls) put(block []byte) {
	binary.LittleEndian.PutUint64(block, c.count)
	binary.LittleEndian.PutUint64(block[8:], c.mark())
}

// differs tells whether the rank that wrote block made other calls than this one. It tells
// nothing of calls that this rank has not made yet, or long ago.
func (c *calls) differs(block []byte) bool {
	count, mark := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
	if count > c.count || c.count-count >= uint64(len(c.marks)) {
		return false
	}
	return c.marks[count%uint64(len(c.marks))] != mark
}

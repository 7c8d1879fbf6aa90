package client

import (
	"encoding/binary"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// choices are the records that a request fetches. They are secret: all that is done with them,
// up to records, has no branch and no place in memory that depends on them.
type choices struct {
	ids       []uint32
	parts     []uint32 // of the columns that have the records
	there     []uint64 // masks: there is such a record
	perColumn int
}

func newChoices(m *wire.SealedRecords, ids []uint32) *choices {
	c := &choices{ids: slices.Clone(ids), parts: make([]uint32, len(ids)), there: make([]uint64, len(ids)), perColumn: m.PerColumn}
	for i, id := range c.ids {
		c.there[i] = sametime.Less(uint64(id), uint64(m.Records))
	}
	// A division would take a time that depends on the number.
	for i := range c.ids {
		for column := range m.Columns() {
			mask, part := c.inColumn(i, column)
			c.parts[i] |= uint32(mask) & part
		}
	}
	return c
}

// inColumn returns a mask, whether the record of a fetch is in a column, and which of its records
// it is there. Without such a record it is in none.
func (c *choices) inColumn(fetch, column int) (mask uint64, part uint32) {
	from := uint64(c.ids[fetch]) - uint64(column)*uint64(c.perColumn) // wraps for columns behind it
	return c.there[fetch] & sametime.Less(from, uint64(c.perColumn)), uint32(from)
}

// add adds the scale to the column that has the record of a fetch, by a mask over all columns. A
// dummy adds nothing.
func (c *choices) add(words []uint32, fetch, first int) {
	for i := range words {
		mask, _ := c.inColumn(fetch, first+i)
		words[i] += uint32(mask) & (1 << scheme.RecordBits)
	}
}

// padded returns the record of a fetch as it is stored, out of decrypted words of all parts of
// its column, by a mask over the parts. The words of the fetches of a row are side by side.
func (c *choices) padded(words []uint32, fetch, length int) []byte {
	out, fetches := make([]byte, length), len(c.ids)
	for number := range c.perColumn {
		mask := byte(sametime.Equal(c.parts[fetch], uint32(number)))
		for j := range out {
			word := words[(number*length+j)*fetches+fetch]
			out[j] |= mask & byte((word+1<<(scheme.RecordBits-1))>>scheme.RecordBits)
		}
	}
	return out
}

// records returns the records of all fetches and, when all are there, what is wrong with
// some of them. The next fetch may follow, so that the same work is done whatever they are:
// what is wrong is put into words when somebody reads it.
func (c *choices) records(words []uint32, length int) ([][]byte, error) {
	out := make([][]byte, len(c.ids))
	for i := range out {
		out[i] = c.padded(words, i, length)
	}
	wrong := &recordsError{absent: make([]uint64, len(out)), impossible: make([]uint64, len(out))}
	var bad uint64
	for i, padded := range out {
		content := padded[scheme.RecordPrefix:]
		n := uint64(binary.LittleEndian.Uint16(padded))
		dummy := sametime.Equal(c.ids[i], wire.Padding)
		wrong.absent[i] = ^(c.there[i] | uint64(dummy)<<32 | uint64(dummy))
		wrong.impossible[i] = c.there[i] & sametime.Less(uint64(len(content)), n)
		bad |= wrong.absent[i] | wrong.impossible[i]
		n &= c.there[i] &^ wrong.impossible[i]
		out[i] = content[:n:n]
		if c.there[i]&^wrong.impossible[i] == 0 {
			out[i] = nil
		}
	}
	if bad == 0 {
		return out, nil
	}
	return out, wrong
}

// forget overwrites the choices.
func (c *choices) forget() {
	clear(c.ids)
	clear(c.parts)
	clear(c.there)
}

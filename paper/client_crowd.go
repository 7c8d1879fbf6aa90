package paper

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// system is where randomness comes from.
var system io.Reader = entropy.System{}

// A crowd is what a record hides in.
type crowd struct {
	dummies []int  // rows of the public set in the order they are shown
	place   int    // of the record among them, 0 .. len(dummies)
	seed    uint64 // of the public start
}

// hide draws a crowd: a row of every class that the public set has rows of, but
// for skip if that is a class, in uniform random order. It does not get to see
// the record.
func hide(public *Public, skip int) (*crowd, error) {
	c := new(crowd)
	for class := range public.Classes() {
		rows := public.OfClass(class)
		if len(rows) == 0 || class == skip {
			continue
		}
		i, err := uniform(len(rows))
		if err != nil {
			return nil, err
		}
		c.dummies = append(c.dummies, rows[i])
	}
	for i := len(c.dummies) - 1; i > 0; i-- {
		j, err := uniform(i + 1)
		if err != nil {
			return nil, err
		}
		c.dummies[i], c.dummies[j] = c.dummies[j], c.dummies[i]
	}
	var err error
	if c.place, err = uniform(len(c.dummies) + 1); err != nil {
		return nil, err
	}
	word := make([]byte, 8)
	if _, err := io.ReadFull(system, word); err != nil {
		return nil, fmt.Errorf("paper: %w: %w", mechanism.ErrEntropy, err)
	}
	c.seed = binary.LittleEndian.Uint64(word)
	return c, nil
}

// places returns the rows the record may stand in: all hidden ones.
func (c *crowd) places() []int {
	rows := make([]int, len(c.dummies)+1)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// uniform returns a random number below n.
func uniform(n int) (int, error) {
	v, err := rand.Int(system, big.NewInt(int64(n)))
	if err != nil {
		return 0, fmt.Errorf("paper: %w: %w", mechanism.ErrEntropy, err)
	}
	return int(v.Int64()), nil
}

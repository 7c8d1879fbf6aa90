package formats

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// Labels are the classes of rows.
type Labels struct {
	Class []int32  // of each row, -1 for none
	Names []string // of classes 0, 1 and so on in sorted order, if the file has names; nil if it has numbers
}

// Missing counts the rows without a label.
func (l *Labels) Missing() (n int) {
	for _, c := range l.Class {
		if c == -1 {
			n++
		}
	}
	return n
}

// classes collects the labels of a file that may be numbers or names. Each distinct text is kept
// once.
type classes struct {
	ids   map[string]int32
	texts []string
	first []int64 // where each text occurs first: a line counted from 1, or a row
	rows  []int32 // the text of each row, -1 for no label
	byRow bool    // messages name rows, not lines
}

// add takes the label of a row. at is a line, or a row of an array.
func (c *classes) add(text []byte, at int64) {
	text = bytes.TrimSpace(text)
	if isMissing(text) {
		c.rows = append(c.rows, -1)
		return
	}
	id, ok := c.ids[string(text)]
	if !ok {
		if c.ids == nil {
			c.ids = make(map[string]int32)
		}
		id = int32(len(c.texts))
		own := string(text)
		c.ids[own] = id
		c.texts, c.first = append(c.texts, own), append(c.first, at)
	}
	c.rows = append(c.rows, id)
}

// labels turns texts into numbers: into their values if all are numbers, otherwise, if names
// are allowed, into their places in sorted order. The text -1 means no label in either case.
func (c *classes) labels(names bool) (*Labels, *Error) {
	numbers := make([]int32, len(c.texts))
	var bad *Error
	for id, text := range c.texts {
		v, err := parseLabel([]byte(text))
		if err == nil {
			numbers[id] = v
			continue
		}
		if names && !isNumber(text) {
			return c.named()
		}
		if bad == nil {
			bad = c.at(id, err)
		}
	}
	if bad != nil {
		return nil, bad
	}
	return &Labels{Class: c.numbered(numbers)}, nil
}

// at adds the place of a text to an error.
func (c *classes) at(id int, err *Error) *Error {
	if c.byRow {
		return err.atRow(int(c.first[id]))
	}
	return err.atLine(c.first[id])
}

// named numbers the names in sorted order.
func (c *classes) named() (*Labels, *Error) {
	names := make([]string, 0, len(c.texts))
	for id, text := range c.texts {
		if !utf8.ValidString(text) {
			return nil, c.at(id, failf(ErrFormat, "the label is not text in UTF-8; save the file as that"))
		}
		if text != "-1" {
			names = append(names, text)
		}
	}
	slices.Sort(names)
	numbers := make([]int32, len(c.texts))
	for id, text := range c.texts {
		numbers[id] = -1
		if text != "-1" {
			at, _ := slices.BinarySearch(names, text)
			numbers[id] = int32(at)
		}
	}
	return &Labels{Class: c.numbered(numbers), Names: names}, nil
}

// numbered replaces texts by their numbers.
func (c *classes) numbered(numbers []int32) []int32 {
	for i, id := range c.rows {
		if id >= 0 {
			c.rows[i] = numbers[id]
		}
	}
	return c.rows
}

// parseLabel reads an integer, or a decimal number with an integral value.
func parseLabel(field []byte) (int32, *Error) {
	v, err := parseFloat(field)
	switch {
	case err == ErrFormat || v != math.Trunc(v):
		return 0, failf(ErrFormat, "the label is not an integer")
	case err != nil || v < math.MinInt32 || v > math.MaxInt32:
		return 0, failf(errRange, "the label does not fit in int32")
	}
	return int32(v), nil
}

package formats

import (
	"bytes"
	"unicode/utf8"
)

// readNPYLabels reads labels of a .npy array: numbers, or text where names are allowed.
func readNPYLabels(s *source, names bool) (*Labels, error) {
	d, err := readNPYDict(s)
	if err != nil {
		return nil, err
	}
	width, dt := textType(d.descr)
	if width == 0 || !names {
		a, err := d.array()
		if err != nil {
			return nil, err
		}
		return readLabelArray(s, a)
	}
	if err := oneColumn(array{shape: d.shape}); err != nil {
		return nil, err
	}
	// Text of a fixed width is an array with one more dimension.
	a := array{shape: append(d.shape[:len(d.shape):len(d.shape)], width), dtype: dt}
	if _, err := s.claim(a); err != nil {
		return nil, err
	}
	return readTexts(s, d.shape[0], width, dt)
}

// textType returns the width of a type of text and the type of its characters: bytes for S, code
// points for U. The width is 0 for any other type.
func textType(descr string) (width uint64, dt dtype) {
	if len(descr) < 3 || (descr[1] != 'S' && descr[1] != 'U') {
		return 0, dt
	}
	width, _ = parseUint([]byte(descr[2:]))
	if descr[1] == 'S' {
		return width, dtype{kind: u1}
	}
	return width, dtype{u4, descr[0] == '>' || descr[0] == '=' && hostBig}
}

// readTexts reads n texts of the given width, which claim has checked, as labels.
func readTexts(s *source, n, width uint64, dt dtype) (*Labels, error) {
	c := classes{byRow: true}
	if err := eachText(s, n, width, dt, func(row int, text []byte) { c.add(text, int64(row)) }); err != nil {
		return nil, err
	}
	l, err := c.labels(true)
	if err != nil {
		return nil, err
	}
	return l, s.end()
}

// eachText reads n texts of the given width. take must not keep them.
func eachText(s *source, n, width uint64, dt dtype, take func(row int, text []byte)) error {
	points := make([]uint32, min(width, bufferSize))
	scratch := newScratch(min(bufferSize, len(points)*dt.kind.size()))
	var text []byte
	for row := range n {
		text = text[:0]
		for left := width; left > 0; {
			part := points[:min(left, uint64(len(points)))]
			if _, err := fill(s, part, dt, scratch); err != nil {
				return err
			}
			left -= uint64(len(part))
			for _, p := range part {
				if dt.kind == u1 {
					text = append(text, byte(p))
				} else if !utf8.ValidRune(rune(p)) || p > utf8.MaxRune {
					return failf(ErrFormat, "the text has an invalid character").atRow(int(row))
				} else {
					text = utf8.AppendRune(text, rune(p))
				}
			}
		}
		take(int(row), bytes.TrimRight(text, "\x00")) // NumPy pads with zeros
	}
	return nil
}

package formats

import (
	"context"
	"slices"
	"unicode/utf8"
)

// ReadColumnNames reads names of columns from a file, for a matrix whose own file has none. The
// file is text with a name per line, or a .npy or .npz with a one-dimensional array of text. Of
// a .npz it reads the array called columns, column_names or feature_names; a name such as
// x.npz:names selects another. A first line "column" or "columns" is a header.
func ReadColumnNames(ctx context.Context, path string) (names []string, err error) {
	table := slices.Concat(textFormats, []format{{".npy", npyFamily, noKind}})
	err = withArray(path, table, columnArrays, func(s *source, f format) error {
		if f.family == textFamily {
			names, err = readNameLines(ctx, newRecords(s, f.suffix))
		} else {
			names, err = readNameArray(s)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// readNameLines reads a name per line.
func readNameLines(ctx context.Context, r *records) (names []string, err error) {
	for {
		more, err := r.next()
		if !more || err != nil {
			return names, err
		}
		if len(r.fields) != 1 {
			return nil, failf(ErrFormat, "%d fields, want one name per line", len(r.fields)).atLine(r.line)
		}
		name := string(r.fields[0])
		switch {
		case !utf8.ValidString(name):
			return nil, failf(ErrFormat, "the name is not text in UTF-8; save the file as that").atLine(r.line)
		case len(names) == maxColumns:
			return nil, failf(ErrUnsupported, "more than %d names", maxColumns).atLine(r.line)
		case names == nil && isOneOf(name, []string{"column", "columns"}):
			names = []string{}
		default:
			names = append(names, name)
		}
		if len(names)%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// readNameArray reads an array of text.
func readNameArray(s *source) ([]string, error) {
	d, err := readNPYDict(s)
	if err != nil {
		return nil, err
	}
	width, dt := textType(d.descr)
	switch {
	case width == 0:
		return nil, failf(ErrUnsupported, "names of columns must be an array of text").in("header")
	case len(d.shape) != 1:
		return nil, failf(errShape, "%d dimensions, but names of columns have one", len(d.shape)).in("shape")
	case d.shape[0] > maxColumns:
		return nil, failf(ErrUnsupported, "more than %d names", maxColumns).in("shape")
	}
	if _, err := s.claim(array{shape: []uint64{d.shape[0], width}, dtype: dt}); err != nil {
		return nil, err
	}
	names := make([]string, 0, d.shape[0])
	valid := true
	err = eachText(s, d.shape[0], width, dt, func(_ int, text []byte) {
		names = append(names, string(text))
		valid = valid && utf8.Valid(text)
	})
	switch {
	case err != nil:
		return nil, err
	case !valid:
		return nil, failf(ErrFormat, "a name is not text in UTF-8")
	}
	return names, s.end()
}

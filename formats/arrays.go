package formats

import (
	"io"
	"os"
	"slices"
	"strings"
)

var (
	// featureArrays and labelArrays are the names of the arrays that are read from a .npz by
	// default. The first one found is read.
	featureArrays = []string{"features", "X", "x", "data", "arr_0"}
	labelArrays   = []string{"labels", "label", "y", "target"}
	// columnArrays are the possible names of the array with the names of columns.
	columnArrays = []string{"columns", "column_names", "feature_names"}
)

// Archive describes the contents of a .npz file of numpy.savez.
type Archive struct {
	Arrays   []string // the names of its arrays, sorted
	Features string   // the array that ReadMatrix reads, "" for none
	Labels   string   // the array with a name for labels, "" for none
	Columns  string   // the array with a name for the names of columns, "" for none
}

// ReadArchive reads the directory of a .npz file.
func ReadArchive(path string) (*Archive, error) {
	var a *Archive
	err := withFile(path, func(f *os.File, size int64) error {
		z, err := openNPZ(f, size)
		if err == nil {
			a, err = z.archive()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// SplitArray splits a name such as x.npz:features into the names of the file and of the array
// in it. The array is "" for any other name, and where a file with the whole name exists.
func SplitArray(path string) (file, array string) {
	i := strings.LastIndex(strings.ToLower(path), ".npz:")
	if i < 0 {
		return path, ""
	}
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	end := i + len(".npz")
	return path[:end], path[end+1:]
}

// archive lists the arrays.
func (z *npzArchive) archive() (*Archive, error) {
	a := new(Archive)
	for name := range z.members {
		if array, ok := strings.CutSuffix(name, ".npy"); ok {
			a.Arrays = append(a.Arrays, array)
		}
	}
	slices.Sort(a.Arrays)
	has := func(name string) bool { return slices.Contains(a.Arrays, name) }
	if has("format") && has("shape") && has("data") {
		return nil, failf(ErrUnsupported, "a sparse matrix of scipy; save its toarray()")
	}
	first := func(names []string) string {
		if i := slices.IndexFunc(names, has); i >= 0 {
			return names[i]
		}
		return ""
	}
	a.Features, a.Labels, a.Columns = first(featureArrays), first(labelArrays), first(columnArrays)
	if a.Features == "" && a.Labels == "" && len(a.Arrays) == 1 {
		a.Features = a.Arrays[0]
	}
	return a, nil
}

// pick returns the member to read: the given array, the only one, or one with a known name.
func (z *npzArchive) pick(array string, known []string) (string, error) {
	a, err := z.archive()
	if err != nil {
		return "", err
	}
	switch {
	case array != "" && !slices.Contains(a.Arrays, array):
		return "", failf(ErrColumn, "the archive has no array of that name, but %d others", len(a.Arrays))
	case array != "":
		return array + ".npy", nil
	case len(a.Arrays) == 1:
		return a.Arrays[0] + ".npy", nil
	}
	for _, name := range known {
		if slices.Contains(a.Arrays, name) {
			return name + ".npy", nil
		}
	}
	return "", failf(ErrColumn, "none of the %d arrays of the archive is called %s; name the array to read after the file, as in x.npz:NAME",
		len(a.Arrays), strings.Join(known, ", "))
}

// withArray opens a file in one of the formats of table and passes its bytes to read. known are
// the possible names of an array of a .npz.
func withArray(path string, table []format, known []string, read func(*source, format) error) error {
	file, array := SplitArray(path)
	if !strings.HasSuffix(strings.ToLower(file), ".npz") {
		return withSource(path, func(s *source) error {
			f, err := chooseFormat(table, path, s)
			if err != nil {
				return err
			}
			return read(s, f)
		})
	}
	err := withFile(file, func(f *os.File, size int64) error { return readMember(f, size, array, known, read) })
	return named(path, err)
}

// readMember passes the bytes of an array to read.
func readMember(r io.ReaderAt, size int64, array string, known []string, read func(*source, format) error) error {
	z, err := openNPZ(r, size)
	if err != nil {
		return err
	}
	member, err := z.pick(array, known)
	if err != nil {
		return err
	}
	return z.readNamed(member, "array", func(s *source) error { return read(s, format{".npy", npyFamily, noKind}) })
}

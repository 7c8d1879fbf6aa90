package mem

import (
	"io/fs"
	"strings"
)

// A mount is a file system, or a part of one, that is mounted at a place.
type mount struct {
	kind    string   // the type of the file system
	root    string   // the folder of the file system that is mounted
	place   string   // where, without the leading slash
	options []string // of the file system
}

// readMounts returns what /proc/self/mountinfo lists. Its lines read
//
//	ID PARENT DEVICE ROOT PLACE OPTIONS [MORE...] - KIND SOURCE OPTIONS
//
// and other lines are skipped.
func readMounts(root fs.FS) (mounts []mount) {
	file, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(file)) {
		first, second, ok := strings.Cut(line, " - ")
		where, what := strings.Fields(first), strings.Fields(second)
		if !ok || len(where) < 6 || len(what) < 3 {
			continue
		}
		place := strings.TrimPrefix(escapes.Replace(where[4]), "/")
		if fs.ValidPath(place) {
			mounts = append(mounts, mount{kind: what[0], root: escapes.Replace(where[3]), place: place, options: strings.Split(what[2], ",")})
		}
	}
	return mounts
}

// escapes are the forms in which mountinfo writes characters that would end a word or a line.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

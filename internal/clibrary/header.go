package clibrary

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	function = regexp.MustCompile(`\b(pm_[a-z0-9_]+)\s*\(`)
	version  = regexp.MustCompile(`(?m)^#define PM_VERSION "([0-9]+\.[0-9]+\.[0-9]+)"$`)
	major    = regexp.MustCompile(`(?m)^#define PM_ABI_MAJOR ([0-9]+)$`)
)

// errHeader reports a header that lacks something the build needs.
var errHeader = errors.New("not the header of the library")

// A header is the part of pm.h that the build needs.
type header struct {
	functions []string // their names, sorted
	version   string   // of the library
	major     string   // version of the interface
}

// soname is the name by which programs find the shared library.
func (h *header) soname() string { return "libprivatemail.so." + h.major }

// readHeader reads the text of pm.h.
func readHeader(text []byte) (h header, err error) {
	text = comment.ReplaceAll(text, nil)
	for _, m := range function.FindAllSubmatch(text, -1) {
		h.functions = append(h.functions, string(m[1]))
	}
	slices.Sort(h.functions)
	h.functions = slices.Compact(h.functions)
	v, a := version.FindSubmatch(text), major.FindSubmatch(text)
	if len(h.functions) == 0 || v == nil || a == nil {
		return h, fmt.Errorf("pm.h: %w: %d functions; want functions, PM_VERSION and PM_ABI_MAJOR", errHeader, len(h.functions))
	}
	h.version, h.major = string(v[1]), string(a[1])
	return h, nil
}

//go:build cgo

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every function of pm.h that enters Go begins with PMC_ENTER: it checks whether the process
// was forked, since Go would wait for ever in a forked one, and sets the floating-point mode.
func TestEveryFunctionEnters(t *testing.T) {
	files, err := filepath.Glob("shim*.c")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v: %v", files, err)
	}
	function := regexp.MustCompile(`(?ms)^pm_status (pm_\w+)\(.*?^}$`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			want := "PMC_ENTER();"
			if strings.HasSuffix(m[1], "_free") {
				want = "PMC_ENTER_FREE();"
			}
			looks, enters := strings.Index(m[0], want), strings.Index(m[0], "pmgo_")
			if looks < 0 || enters < looks {
				t.Errorf("%s: %s does not begin with %s", file, m[1], want)
			}
			found++
		}
		for _, at := range regexp.MustCompile(`pmgo_\w+`).FindAllIndex(text, -1) { // also those of other types
			begin := max(bytes.LastIndex(text[:at[0]], []byte("\n}\n")), 0)
			if !bytes.Contains(text[begin:at[0]], []byte("PMC_ENTER")) {
				t.Errorf("%s: %s is called without PMC_ENTER", file, text[at[0]:at[1]])
			}
		}
	}
	header, err := os.ReadFile("pm.h")
	if err != nil {
		t.Fatal(err)
	}
	if declared := len(regexp.MustCompile(`(?m)^pm_status pm_\w+\(`).FindAll(header, -1)); found != declared {
		t.Errorf("%d functions in %v, %d in pm.h", found, files, declared)
	}
}

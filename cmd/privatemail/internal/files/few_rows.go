package files

import (
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/formats"
)

// RefuseNoRows refuses a file without rows, and says what the file has.
func RefuseNoRows(path string, rows int) error {
	if rows > 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", path, WhyNoRows(path))
}

// WhyNoRows says what a file without rows is.
func WhyNoRows(path string) string {
	file, _ := formats.SplitArray(path)
	if info, err := os.Stat(file); err == nil && info.Size() == 0 {
		return "the file is empty"
	}
	if l, err := new(formats.TableSettings).ReadLayout(path); err == nil && l != nil && l.Names != nil {
		return fmt.Sprintf("a header in line %d, and no rows", l.Line)
	}
	return "there are no rows in it"
}

// RefuseOneRow is for verbs that look at how rows lie to each other.
func RefuseOneRow(path string, rows int) error {
	if rows == 1 {
		return fmt.Errorf("%s: one row, and at least two are needed", path)
	}
	return nil
}

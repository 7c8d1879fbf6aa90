package host

import (
	"errors"
	"fmt"
	"io/fs"
)

// errRecordsFile reports a text file of records with the name of the file that records are kept in.
var errRecordsFile = errors.New("the records are kept in a file of this name: give their text file another name")

// A SourceError reports a file that was made of another model or with other settings. It is not replaced.
type SourceError struct {
	File    string
	Sealed  bool // it is a sealed gallery
	Earlier bool // an earlier version has made it, and what of is not known
}

// Error implements error.
func (e *SourceError) Error() string {
	came, costs := "came from another model or other settings", "A new codebook costs every client its epsilon again"
	if e.Earlier {
		came = "was made by an earlier version, which did not verify the model first"
	}
	if e.Sealed {
		costs = "A new epoch costs every client a download"
	}
	return fmt.Sprintf("%s %s. %s", e.File, came, costs)
}

// A LabelsError is about the labels that are to be published.
type LabelsError struct {
	Err     error
	Refused bool // they were read, and do not go with the gallery
}

// Error implements error.
func (e *LabelsError) Error() string { return fmt.Sprintf("labels: %v", e.Err) }

// Unwrap returns what is wrong.
func (e *LabelsError) Unwrap() error { return e.Err }

// missing says that a file does not exist.
func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}

package main

import (
	"fmt"
	"io"
	"strings"
)

// SealedFigures are what suite sealed has beside seconds.
type SealedFigures struct {
	Queries int `json:"queries"` // of one operation
	Cells   int `json:"cells"`
	Length  int `json:"length"` // slots of a cell
	Probes  int `json:"probes"`
	// Bytes of the binary forms: of a query up and down, and of what a client takes once. The
	// manifest has norms and centres.
	UpBytes       int64 `json:"up_bytes"`
	DownBytes     int64 `json:"down_bytes"`
	HintBytes     int64 `json:"hint_bytes"`
	ManifestBytes int64 `json:"manifest_bytes"`
	// BuildSeconds is how long the server took to lay out the gallery, HintSeconds how much of
	// that the hint took, both with BuildWorkers.
	BuildSeconds float64 `json:"build_seconds"`
	HintSeconds  float64 `json:"hint_seconds"`
	BuildWorkers int     `json:"build_workers"`
	// Overlap is the share of the 8 exact neighbours that are found.
	Overlap *float64 `json:"overlap,omitempty"`
}

// sealedLines says what the cases of suite sealed came to.
func sealedLines(all []summary) (out []string) {
	reading := map[string]float64{} // seconds of op=read, by the rest of the name
	for _, s := range all {
		if rest, ok := strings.CutPrefix(s.Case, "op=read/"); ok && s.Sealed != nil {
			reading[rest] = s.Seconds
		}
	}
	for _, s := range all {
		f := s.Sealed
		if f == nil {
			continue
		}
		op, rest, _ := strings.Cut(strings.TrimPrefix(s.Case, "op="), "/")
		switch {
		case f.Overlap != nil:
			out = append(out, fmt.Sprintf("%s: %d probes of %d cells find %.4f of the %d nearest rows, %d queries", s.Case, f.Probes, f.Cells, *f.Overlap, nearestOverlap, f.Queries))
		case op == "one" || strings.HasPrefix(op, "waiting"):
			out = append(out, fmt.Sprintf("%s: %.4g queries a second and core", s.Case, float64(f.Queries)/s.Seconds/float64(s.Workers)))
			if read := reading[rest]; read > 0 && op == "one" {
				out = append(out, fmt.Sprintf("%s: reading as many bytes takes %.2f of its time, in the same rounds", s.Case, read/s.Seconds))
			}
		case op == "bytes":
			out = append(out, fmt.Sprintf("%s: %d bytes up and %d down a query; once a hint of %d bytes, and %d of norms and centres", s.Case, f.UpBytes, f.DownBytes, f.HintBytes, f.ManifestBytes))
			out = append(out, fmt.Sprintf("%s: laid out in %s with %d workers, of which the hint took %s", s.Case, duration(f.BuildSeconds), f.BuildWorkers, duration(f.HintSeconds)))
		}
	}
	return out
}

// writeSealed prints the figures of suite sealed.
func writeSealed(w io.Writer, all []summary) error {
	for _, line := range sealedLines(all) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// settingsOf returns the settings of a call of an engine.
func settingsOf(p *C.pm_settings) (*privatemail.Settings, error) {
	if p == nil {
		return nil, argument("settings is NULL")
	}
	s, err := sized(p, unsafe.Sizeof(*p), "pm_settings")
	if err != nil {
		return nil, err
	}
	out := &privatemail.Settings{
		MeanNeighbours: float64(s.mean_neighbours), CutoffWeight: float64(s.cutoff_weight), CutoffRadius: float64(s.radius),
		Tolerance: float64(s.tolerance), NormalizeRows: s.normalize_rows != 0, AllowUnlabelled: s.allow_unlabelled != 0,
		Coefficient: float64(s.coefficient), SigmaQ: float64(s.sigma_q), Seed: uint64(s.seed), StopTolerance: float64(s.stop),
	}
	if out.Bandwidth, err = bandwidthOf(float64(s.sigma), float64(s.gamma)); err != nil {
		return nil, err
	}
	if err := setCounts([]countField{
		{"neighbours", s.neighbours, &out.Neighbours}, {"columns", s.columns, &out.Columns}, {"steps", s.steps, &out.Steps},
	}); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name string
		text *C.char
		set  func(name string) error
	}{
		{"op", s.op, func(name string) error { out.Operator = name; return nil }},
		{"isolated", s.isolated, func(name string) (err error) { out.Isolated, err = kernel.IsolatedByName(name); return err }},
		{"form", s.form, func(name string) (err error) { out.Form, err = formByName(name); return err }},
		{"normalize", s.normalize, func(name string) (err error) { out.Normalize, err = iterate.NormalizationByName(name); return err }},
		{"table", s.table, func(name string) (err error) { out.Table, err = kernel.TableByName(name, out.Bandwidth); return err }},
	} {
		name, err := textOf(c.text, c.name)
		if err == nil && name != "" {
			err = c.set(name)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.start != nil {
		if out.Start, err = rowsOf(s.start, "start"); err != nil {
			return nil, err
		}
		out.Start = given(out.Start)
	}
	return out, nil
}

// bandwidthOf returns the bandwidth that one of sigma and gamma gives, none where both are 0.
func bandwidthOf(sigma, gamma float64) (b kernel.Bandwidth, err error) {
	switch {
	case sigma != 0 && gamma != 0:
		return b, fmt.Errorf("%w: sigma and gamma both give the bandwidth", kernel.ErrOption)
	case sigma != 0:
		return kernel.Sigma(sigma), nil
	case gamma != 0:
		return kernel.Gamma(gamma), nil
	}
	return b, nil
}

// countOf returns a number of things that is not negative.
func countOf(n int64, name string) (int, error) {
	if n < 0 || n > math.MaxInt {
		return 0, fmt.Errorf("%w: %s is %d", kernel.ErrOption, name, n)
	}
	return int(n), nil
}

// A countField is a field of a struct that counts something, and where it goes.
type countField struct {
	name  string
	value C.int64_t
	to    *int
}

// setCounts copies fields that count something.
func setCounts(fields []countField) (err error) {
	for _, f := range fields {
		if *f.to, err = countOf(int64(f.value), f.name); err != nil {
			return err
		}
	}
	return nil
}

func formByName(name string) (kernel.Form, error) {
	for _, f := range []kernel.Form{kernel.Paper, kernel.Attract} {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w: no form %q; there are %s and %s", kernel.ErrOption, name, kernel.Paper, kernel.Attract)
}

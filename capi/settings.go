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
	if err := checkFinite(kernel.ErrOption, []numberField{
		{"sigma", s.sigma}, {"gamma", s.gamma}, {"mean_neighbours", s.mean_neighbours}, {"radius", s.radius}, {"cutoff_weight", s.cutoff_weight},
		{"tolerance", s.tolerance}, {"coefficient", s.coefficient}, {"sigma_q", s.sigma_q}, {"stop", s.stop},
	}); err != nil {
		return nil, err
	}
	out := &privatemail.Settings{
		Graph: privatemail.Graph{
			MeanNeighbours: float64(s.mean_neighbours), CutoffWeight: float64(s.cutoff_weight), CutoffRadius: float64(s.radius), Tolerance: float64(s.tolerance),
		},
		Coefficient: float64(s.coefficient), SigmaQ: float64(s.sigma_q), Seed: uint64(s.seed), StopTolerance: float64(s.stop),
	}
	if err := setFlags([]flagField{
		{"normalize_rows", s.normalize_rows, &out.NormalizeRows}, {"allow_unlabelled", s.allow_unlabelled, &out.AllowUnlabelled},
	}); err != nil {
		return nil, err
	}
	if out.Bandwidth, err = bandwidthOf(float64(s.sigma), float64(s.gamma)); err != nil {
		return nil, err
	}
	if err := setCounts([]countField{
		{"neighbours", s.neighbours, &out.Neighbours}, {"dim", s.dim, &out.Dim}, {"steps", s.steps, &out.Steps},
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

// convergeSettings returns the settings that apply to eigenvectors.
func convergeSettings(s *privatemail.Settings) (*privatemail.ConvergeSettings, error) {
	if s.Form != kernel.Attract {
		return nil, fmt.Errorf("%w: form is %v, want %v for eigenvectors", kernel.ErrOption, s.Form, kernel.Attract)
	}
	return &privatemail.ConvergeSettings{
		Graph: s.Graph, Coefficient: s.Coefficient, Table: s.Table, AllowUnlabelled: s.AllowUnlabelled,
		Dim: s.Dim, StopTolerance: s.StopTolerance, Into: s.Into,
	}, nil
}

// mapSettings returns the settings that apply to a map.
func mapSettings(s *privatemail.Settings) (*privatemail.MapSettings, error) {
	if s.Coefficient != 0 || s.Start.Data != nil {
		return nil, fmt.Errorf("%w: a map has no label term and no start", kernel.ErrOption)
	}
	return &privatemail.MapSettings{Graph: s.Graph, Dim: s.Dim, StopTolerance: s.StopTolerance, Into: s.Into}, nil
}

// bandwidthOf returns the bandwidth given by sigma or gamma, or none if both are 0.
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

// countOf returns a count, which must not be negative.
func countOf(n int64, name string) (int, error) {
	if n < 0 || n > math.MaxInt {
		return 0, fmt.Errorf("%w: %s is %d", kernel.ErrOption, name, n)
	}
	return int(n), nil
}

// A numberField is a field of a struct that is a number.
type numberField struct {
	name  string
	value C.double
}

// checkFinite refuses fields that are NaN or infinite, with an error that matches refused.
func checkFinite(refused error, fields []numberField) error {
	for _, f := range fields {
		if v := float64(f.value); v-v != 0 {
			return fmt.Errorf("%w: %s is %v, want a finite number", refused, f.name, v)
		}
	}
	return nil
}

// A flagField is a field of a struct that is 0 or 1, and its destination.
type flagField struct {
	name  string
	value C.int32_t
	to    *bool
}

// setFlags copies fields that are 0 or 1. Other numbers are refused, since a later version may
// give them a meaning.
func setFlags(fields []flagField) error {
	for _, f := range fields {
		if f.value != 0 && f.value != 1 {
			return fmt.Errorf("%w: %s is %d, want 0 or 1", kernel.ErrOption, f.name, int32(f.value))
		}
		*f.to = f.value == 1
	}
	return nil
}

// A countField is a field of a struct that is a count, and its destination.
type countField struct {
	name  string
	value C.int64_t
	to    *int
}

// setCounts copies fields that are counts.
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

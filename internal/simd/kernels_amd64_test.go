//go:build gc && !noasm && !purego

package simd

import (
	"reflect"
	"slices"
	"testing"
)

// Choices of a level differ in the loops below, whose tests run with all choices. If
// another loop starts to differ, its tests must do that too.
func TestLoopsThatChoicesChange(t *testing.T) {
	want := []string{"gather", "mulSparse", "mulSparseOffsets", "mulSparseOffsets16", "finishStep"}
	for _, level := range []Level{AVX512, AVX512VNNI, AMX} {
		on, off := reflect.ValueOf(*tableOf(level, true)), reflect.ValueOf(*tableOf(level, false))
		var differ []string
		for i := range on.NumField() {
			a, b := on.Field(i), off.Field(i)
			if a.Kind() == reflect.Func && a.Pointer() != b.Pointer() || a.Kind() != reflect.Func && !a.Equal(b) {
				differ = append(differ, on.Type().Field(i).Name)
			}
		}
		if !slices.Equal(differ, want) {
			t.Errorf("%v: choices differ in %v, want %v", level, differ, want)
		}
	}
	for _, level := range []Level{Generic, AVX2} {
		if tableOf(level, true) != tableOf(level, false) {
			t.Errorf("%v has choices", level)
		}
	}
}

// Every table has all functions, except for the one that may be missing.
func TestTablesAreWhole(t *testing.T) {
	for level := Generic; level <= AMX; level++ {
		for _, gather := range []bool{false, true} {
			s := reflect.ValueOf(*tableOf(level, gather))
			for i := range s.NumField() {
				name := s.Type().Field(i).Name
				if f := s.Field(i); f.Kind() == reflect.Func && f.IsNil() && name != "mulSparseOffsets16" {
					t.Errorf("%v, gather %v: no %s", level, gather, name)
				}
			}
		}
	}
}

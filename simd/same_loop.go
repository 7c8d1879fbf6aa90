package simd

import (
	"reflect"
	"strings"
)

// SameLoop tells whether a method, given by its name, runs the same loop of both kernels:
// most loops are those of several levels. Benchmarks use it, which would find one loop
// slower than itself by chance. A name that no method has is that of different loops.
func (s *Kernels) SameLoop(other *Kernels, method string) bool {
	if method == "" {
		return false
	}
	names := []string{strings.ToLower(method[:1]) + method[1:]} // fields are named for methods
	if method == "MulSparseOffsets16" {                         // what it is put together from
		names = append(names, "mulSparseOffsets", "float32s")
	}
	a, b := reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem()
	for _, name := range names {
		x, y := a.FieldByName(name), b.FieldByName(name)
		if x.Kind() != reflect.Func || x.Pointer() != y.Pointer() {
			return false
		}
	}
	return true
}

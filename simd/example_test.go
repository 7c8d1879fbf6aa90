package simd_test

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/simd"
)

// Plain Go, which every machine has.
func Example() {
	kernels := simd.At(simd.Generic)
	fmt.Println(kernels.Level(), simd.Levels()[0])
	// Output: generic generic
}

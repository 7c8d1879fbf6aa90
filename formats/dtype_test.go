package formats

import (
	"math"
	"testing"
)

func TestFits(t *testing.T) {
	check := func(name string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("int64 to int32, largest", fits[int32](int64(math.MaxInt32)), true)
	check("int64 to int32, above", fits[int32](int64(math.MaxInt32)+1), false)
	check("int64 to int32, smallest", fits[int32](int64(math.MinInt32)), true)
	check("int64 to int32, below", fits[int32](int64(math.MinInt32)-1), false)
	check("uint32 to int32, above", fits[int32](uint32(math.MaxUint32)), false)
	check("uint64 to int32, wrapping", fits[int32](uint64(math.MaxUint64)), false)
	check("int32 to uint32, negative", fits[uint32](int32(-1)), false)
	check("int64 to uint64, negative", fits[uint64](int64(-1)), false)
	check("int64 to uint32, wrapping", fits[uint32](int64(1)<<32), false)
	check("uint64 to float32", fits[float32](uint64(math.MaxUint64)), true)
	check("float64 to float32, largest", fits[float32](float64(math.MaxFloat32)), true)
	check("float64 to float32, rounds down", fits[float32](float64(math.MaxFloat32)*(1+0x1p-26)), true)
	check("float64 to float32, overflows", fits[float32](float64(math.MaxFloat32)*(1+0x1p-24)), false)
	check("float64 to float32, infinite", fits[float32](math.Inf(-1)), true)
	check("float64 to float32, NaN", fits[float32](math.NaN()), true)
	check("float64 to float32, tiny", fits[float32](0x1p-1074), true)
	check("float32 to float64, NaN", fits[float64](float32(math.NaN())), true)
}

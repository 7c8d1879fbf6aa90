package mem

import (
	"testing"
	"unsafe"
)

func TestOutside(t *testing.T) {
	for _, size := range []int{1, 4095, 5 << 20} {
		data, release, err := Outside(size)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != size || uintptr(unsafe.Pointer(&data[0]))%8 != 0 {
			t.Errorf("%d bytes, want %d, or they are not aligned", len(data), size)
		}
		data[0], data[size-1] = 1, 1 // it is writable
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := Outside(AddressSpace); err == nil {
		t.Error("more than any machine has")
	}
}

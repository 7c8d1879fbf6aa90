//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"math"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// withRelease calls do with a release.
func withRelease(id C.uintptr_t, do func(r *release.Release) error) error {
	r, done, err := use[*release.Release](&handles, uintptr(id), "release")
	if err != nil {
		return err
	}
	defer done()
	return do(r)
}

//export pmgo_release_write
func pmgo_release_write(id C.uintptr_t, buffer unsafe.Pointer, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_release_write", func() error {
		return withRelease(id, func(r *release.Release) error {
			data, err := r.MarshalBinary()
			if err != nil {
				return err
			}
			return giveBytes(data, buffer, size, needed)
		})
	})
}

//export pmgo_release_read
func pmgo_release_read(bytes unsafe.Pointer, size C.size_t, id *C.uintptr_t) C.pm_status {
	return guard("pm_release_read", func() error {
		if id == nil {
			return argument("release is NULL")
		}
		data, err := array((*byte)(bytes), int64(min(uint64(size), math.MaxInt64)), "bytes")
		if err != nil {
			return err
		}
		r := new(release.Release)
		if err := r.UnmarshalBinary(data); err != nil {
			return err
		}
		*id = C.uintptr_t(handles.add(r))
		return nil
	})
}

//export pmgo_release_size
func pmgo_release_size(id C.uintptr_t, rows, columns *C.int64_t) C.pm_status {
	return guard("pm_release_size", func() error {
		return withRelease(id, func(r *release.Release) error {
			return giveNumbers(number{"rows", rows, r.Rows}, number{"columns", columns, r.Columns})
		})
	})
}

//export pmgo_release_points
func pmgo_release_points(id C.uintptr_t, to *C.double) C.pm_status {
	return guard("pm_release_points", func() error {
		return withRelease(id, func(r *release.Release) error {
			into, err := array((*float64)(to), int64(r.Rows)*int64(r.Columns), "points")
			if err != nil {
				return err
			}
			m, err := post.Points(context.Background(), r)
			if err != nil {
				return err
			}
			for i := range r.Rows {
				points.ReadRow(into[i*r.Columns:][:r.Columns], m.RawMatrix(), i)
			}
			return nil
		})
	})
}

//export pmgo_release_describe
func pmgo_release_describe(id C.uintptr_t, buffer *C.char, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_release_describe", func() error {
		return withRelease(id, func(r *release.Release) error {
			text, err := r.Summary()
			if err != nil {
				return err
			}
			return giveText(text, buffer, size, needed)
		})
	})
}

//export pmgo_release_free
func pmgo_release_free(id C.uintptr_t) C.pm_status {
	return guard("pm_release_free", func() error { return free[*release.Release](&handles, uintptr(id), "release") })
}

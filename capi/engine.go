//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// level is the name of the highest level, in memory of C that is never freed.
var level = sync.OnceValue(func() *C.char { return C.CString(simd.Best().String()) })

//export pmgo_simd_level
func pmgo_simd_level() *C.char { return level() }

//export pmgo_engine_new
func pmgo_engine_new(options *C.pm_engine_options, id *C.uintptr_t) C.pm_status {
	return guard("pm_engine_new", func() error {
		if id == nil {
			return argument("engine is NULL")
		}
		opts, err := engineOptions(options)
		if err != nil {
			return err
		}
		if err := checkAddressSpace(); err != nil {
			return err
		}
		e, err := privatemail.New(opts...)
		if err != nil {
			return err
		}
		*id = C.uintptr_t(handles.add(e))
		return nil
	})
}

// engineOptions returns the options of an engine; NULL stands for the defaults.
func engineOptions(p *C.pm_engine_options) (opts []privatemail.Option, err error) {
	var o C.pm_engine_options
	if p != nil {
		if o, err = sized(p, unsafe.Sizeof(o), "pm_engine_options"); err != nil {
			return nil, err
		}
	}
	if o.workers != 0 {
		opts = append(opts, privatemail.WithWorkers(int(o.workers)))
	}
	if o.max_memory != 0 {
		opts = append(opts, privatemail.WithMaxMemory(int64(o.max_memory)))
	}
	measure := false
	if err := setFlags([]flagField{{"measure", o.measure, &measure}}); err != nil {
		return nil, err
	}
	if !measure {
		opts = append(opts, privatemail.WithCalibration(kernel.Calibration{}))
	}
	name, err := textOf(o.level, "level")
	if err != nil {
		return nil, err
	}
	if name != "" {
		l, err := levelByName(name)
		if err != nil {
			return nil, err
		}
		opts = append(opts, privatemail.WithLevel(l))
	}
	return opts, nil
}

func levelByName(name string) (simd.Level, error) {
	for l := simd.Generic; l <= simd.NEON; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("%w: no level %q", kernel.ErrOption, name)
}

//export pmgo_engine_workers
func pmgo_engine_workers(id C.uintptr_t, workers *C.int32_t) C.pm_status {
	return guard("pm_engine_workers", func() error {
		e, done, err := use[*privatemail.Engine](&handles, uintptr(id), "engine")
		if err != nil {
			return err
		}
		defer done()
		if workers == nil {
			return argument("workers is NULL")
		}
		*workers = C.int32_t(e.Workers())
		return nil
	})
}

//export pmgo_engine_free
func pmgo_engine_free(id C.uintptr_t, caller C.pmc_caller) C.pm_status {
	return guard("pm_engine_free", func() error {
		if id == 0 {
			return nil
		}
		e, done, err := use[*privatemail.Engine](&handles, uintptr(id), "engine")
		if err != nil {
			return err
		}
		defer done()
		if err := checkReentrant(caller, id); err != nil {
			return err // the handle stays
		}
		if err := e.Close(); err != nil {
			return err
		}
		return free[*privatemail.Engine](&handles, uintptr(id), "engine")
	})
}

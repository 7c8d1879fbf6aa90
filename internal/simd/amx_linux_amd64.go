//go:build gc && !noasm && !purego

package simd

import (
	"syscall"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// tilesPermitted asks Linux to let this process use tiles, and reports whether it may. Tiles
// make the state of a thread 8 KiB larger, so a process gets them only on request: without
// it, the first tile instruction kills the process. Linux grants the request for all
// threads, also later ones. It refuses where it does not know tiles, or where a thread has
// too little memory for its signals.
func tilesPermitted() bool {
	const (
		tileStates       = 1<<17 | 1<<18 // shapes and contents
		requestPermitted = 0x1023        // ARCH_REQ_XCOMP_PERM
	)
	if asm.SavedByOS()&tileStates != tileStates {
		return false
	}
	_, _, errno := syscall.Syscall(syscall.SYS_ARCH_PRCTL, requestPermitted, 18, 0)
	return errno == 0
}

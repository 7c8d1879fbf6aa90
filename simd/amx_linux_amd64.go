//go:build gc && !noasm && !purego

package simd

import (
	"syscall"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

// tilesPermitted asks Linux for the use of tiles by this process. They make the
// state of a thread 8 KiB larger, so a process gets them on request only: the
// first tile instruction of one that has not asked kills it. The request is
// granted to all threads, those to come included, and refused where a kernel
// does not know of tiles or a thread has too little memory for its signals.
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

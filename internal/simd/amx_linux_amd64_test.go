//go:build gc && !noasm && !purego

package simd

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// permitted returns the parts of a thread's state that Linux permits this process.
func permitted() (parts uint64) {
	const get = 0x1022 // ARCH_GET_XCOMP_PERM
	if _, _, errno := syscall.Syscall(syscall.SYS_ARCH_PRCTL, get, uintptr(unsafe.Pointer(&parts)), 0); errno != 0 {
		return 0
	}
	return parts
}

// The level is AMX where Linux permits tiles and nowhere else. Without this test, the
// tests of every level would pass if the request were wrong.
func TestTilesOnlyWithPermission(t *testing.T) {
	level := host()
	if got, want := level == AMX, permitted()&(1<<18) != 0; got != want {
		t.Errorf("level %v, permission %v", level, want)
	}
}

// refusing is set in a process that Linux refuses the use of tiles.
const refusing = "PM_TEST_REFUSE_TILES"

// Where Linux refuses the request, the level below is used, and works.
func TestTilesRefused(t *testing.T) {
	if os.Getenv(refusing) == "" {
		out, err := childtest.Again(t, refusing+"=1")
		switch {
		case strings.Contains(out, "--- SKIP"): // skip here too: the output of that process is not shown
			t.Skipf("%s", out)
		case err != nil || !strings.Contains(out, "--- PASS: TestTilesRefused"):
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	runtime.LockOSThread()
	if err := refuseArchPrctl(); err != nil {
		t.Skipf("no filter for system calls here: %v", err)
	}
	if got := host(); got > AVX512VNNI {
		t.Fatalf("level %v without permission", got)
	}
	a, panel, mask := make([]int8, 64), make([]uint8, 64*64), make([]uint64, 1)
	bias := make([]int32, 64)
	bias[5] = 1
	if At(AMX).ByteDotsAbove(mask, a, panel, 64, bias, []int32{1}); mask[0] != 1<<5 {
		t.Errorf("mask %x", mask)
	}
}

// refuseArchPrctl makes this thread's calls of arch_prctl fail.
func refuseArchPrctl() error {
	const (
		noNewPrivileges = 38 // PR_SET_NO_NEW_PRIVS
		setFilter       = 22 // PR_SET_SECCOMP
		filterMode      = 2  // SECCOMP_MODE_FILTER

		loadWord    = 0x20 // BPF_LD | BPF_W | BPF_ABS, at 0: the number of the call
		jumpIfEqual = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
		result      = 0x06 // BPF_RET | BPF_K
		fail        = 0x00050000 | uint32(syscall.EPERM)
		allow       = 0x7fff0000
	)
	program := []syscall.SockFilter{
		{Code: loadWord},
		{Code: jumpIfEqual, Jf: 1, K: syscall.SYS_ARCH_PRCTL},
		{Code: result, K: fail},
		{Code: result, K: allow},
	}
	filter := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setFilter, filterMode, uintptr(unsafe.Pointer(&filter)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

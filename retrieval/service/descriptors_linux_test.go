package service

import (
	"log/slog"
	"os"
	"syscall"
	"testing"
)

// The admin listener takes connections when there are no descriptors left, with those that it keeps,
// and has them again when such a connection ends.
func TestAdminHasDescriptors(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	g := newGate(listen(t), "admin", 8, 1, slog.New(slog.DiscardHandler))
	plain := newGate(listen(t), "public", 8, 1, slog.New(slog.DiscardHandler))
	g.reserve = new(reserve)
	g.reserve.fill()
	defer g.reserve.close()
	for range 2 { // they wait to be accepted
		dial(t, g.Addr().String(), "")
		dial(t, plain.Addr().String(), "")
	}
	few := before
	few.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break // no descriptor is left
		}
		defer f.Close()
	}
	if _, err := plain.Accept(); !noDescriptor(err) || plain.failed.Load() != 1 {
		t.Fatalf("there are descriptors: %v", err)
	}
	for range 2 {
		c, err := g.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		for i, f := range g.reserve.files {
			if f == nil {
				t.Errorf("descriptor %d is not kept any more", i)
			}
		}
	}
	// Nobody waits: the descriptors stay where they are.
	if _, err := g.Accept(); !noDescriptor(err) || g.reserve.files[0] == nil {
		t.Errorf("%v, and descriptors are given away for nobody", err)
	}
	if left := descriptorsLeft(); left != 256-descriptorsKept {
		t.Errorf("%d connections with 256 descriptors", left)
	}
}

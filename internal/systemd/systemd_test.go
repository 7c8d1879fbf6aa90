//go:build unix

package systemd

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// The states arrive as one message, RELOADING together with the clock.
func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	clock := ""
	if runtime.GOOS == "linux" {
		clock = `\nMONOTONIC_USEC=[1-9][0-9]*`
	}
	for _, c := range []struct {
		states []string
		want   string
	}{
		{[]string{Ready}, `READY=1`},
		{[]string{Ready, Status("two\nlines")}, `READY=1\nSTATUS=two lines`},
		{[]string{Reloading}, `RELOADING=1` + clock},
		{[]string{Stopping}, `STOPPING=1`},
	} {
		if err := Notify(c.states...); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 1000)
		n, err := l.Read(got)
		if err != nil || !regexp.MustCompile(`^`+c.want+`$`).Match(got[:n]) {
			t.Errorf("%q: %q, %v", c.states, got[:n], err)
		}
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if err := Notify(Ready); err == nil {
		t.Error("a socket that is not there")
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := Notify(Ready); err != nil {
		t.Error(err)
	}
}

// takeOver is the other process of TestListeners: it gets two sockets, answers on each and ends.
func takeOver(t *testing.T) {
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	found, err := Listeners()
	if err != nil || len(found) != 2 || found["public"] == nil || found["admin"] == nil {
		t.Fatalf("%v, %v", found, err)
	}
	if v, ok := os.LookupEnv("LISTEN_FDS"); ok {
		t.Errorf("LISTEN_FDS is still %s", v)
	}
	for _, name := range []string{"public", "admin"} { // in the order in which the other process connects
		c, err := found[name].Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(name)); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	if again, err := Listeners(); err != nil || again != nil {
		t.Errorf("sockets are taken twice: %v, %v", again, err)
	}
}

// Another process answers on sockets that this process has opened.
func TestListeners(t *testing.T) {
	if os.Getenv("PM_TAKE_OVER") != "" {
		takeOver(t)
		return
	}
	child := childtest.Command(t, []string{"PM_TAKE_OVER=1", "LISTEN_FDS=2", "LISTEN_FDNAMES=public:admin"}, "-test.run=^TestListeners$", "-test.count=1")
	var names = []string{"public", "admin"}
	var addresses []string
	for range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		child.ExtraFiles = append(child.ExtraFiles, f)
		addresses = append(addresses, l.Addr().String())
	}
	var out []byte
	ended := make(chan error, 1)
	go func() {
		var err error
		out, err = child.CombinedOutput()
		ended <- err
	}()
	for i, name := range names {
		c, err := net.Dial("tcp", addresses[i])
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		n, err := c.Read(got)
		c.Close()
		if string(got[:n]) != name {
			t.Errorf("%s: %q, %v", name, got[:n], err)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Meaningless variables are an error; variables for another process are ignored.
func TestListenersRefused(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, c := range []struct{ pid, count, names string }{
		{own, "", ""}, {own, "0", ""}, {own, "-1", "a"}, {own, "x", "a"}, {own, "1000000000", "a"},
		{own, "1", ""}, {own, "2", "a"}, {own, "1", "a:b"}, {own, "1", "closed"},
	} {
		t.Setenv("LISTEN_PID", c.pid)
		t.Setenv("LISTEN_FDS", c.count)
		t.Setenv("LISTEN_FDNAMES", c.names)
		if found, err := listeners(1 << 16); !errors.Is(err, ErrSockets) {
			t.Errorf("%v: %v, %v", c, found, err)
		}
	}
	t.Setenv("LISTEN_PID", "1")
	t.Setenv("LISTEN_FDS", "1")
	if found, err := Listeners(); found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

//go:build unix

package privatemail_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// The commands of README that make a model, serve it and query the server work unchanged,
// except for the port: two programs, two modes, one server.
func TestServiceOfTheReadme(t *testing.T) {
	longtest.Only(t)
	tools, folder := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", tools, "./cmd/privatemail").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Private queries")
	section, _, _ = strings.Cut(section, "\n## ")
	command := func(line string) *exec.Cmd {
		c := exec.Command("sh", "-e", "-c", "exec "+line)
		c.Dir = folder
		c.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+folder)
		return c
	}
	address, blocks := "", ""
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "    ") { // commands within sentences are for the reader's files, or take long
			blocks += line
		}
	}
	seen := map[string]int{}
	for _, line := range commandsOf(blocks) {
		verb := strings.Fields(line)[1]
		seen[verb]++
		if verb == "serve" {
			address = startServer(t, command(line+" -listen 127.0.0.1:0 -admin 127.0.0.1:0"))
			continue
		}
		out, err := command(strings.ReplaceAll(line, "http://127.0.0.1:8480", address)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", line, err, out)
		}
		if verb == "query" {
			if !strings.Contains(string(out), "wrote         ids.npy, 1797 x 8 row numbers") {
				t.Errorf("%s\n%s", line, out)
			}
			if err := os.Remove(filepath.Join(folder, "ids.npy")); err != nil {
				t.Error(err)
			}
		}
	}
	if seen["fit"] != 1 || seen["serve"] != 1 || seen["query"] != 3 {
		t.Errorf("the section has %v", seen)
	}
}

// startServer starts a server and returns its address. It is told to end with the test, and
// has to end without an error.
func startServer(t *testing.T, c *exec.Cmd) (address string) {
	t.Helper()
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "listening on ")
	}
	drained := make(chan struct{})
	go func() { // a server with an unread log would wait
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-drained // Wait closes the pipe
		if err := c.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	if address == "" {
		t.Fatal("the server does not say where it listens")
	}
	return address
}

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
)

// A shardProcess is a process that serves a shard, at an address that stays when the process ends
// and another one takes its place.
type shardProcess struct {
	args    []string
	command *exec.Cmd
	log     *clitest.Buffer
	at      atomic.Pointer[string] // where the process listens
	gate    atomic.Pointer[gate]   // holds requests for cells back; nil for none
	address string                 // where it is reached
}

// serveChild starts serve in another process and returns it with what it prints.
func serveChild(t *testing.T, log io.Writer, verb string, args ...string) (*exec.Cmd, *served) {
	t.Helper()
	c := childtest.Command(t, []string{asCommand + "=1"}, append([]string{verb, "-json", "-listen", "127.0.0.1:0", "-admin", "127.0.0.1:0"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // both fail where the test has waited for its end
		c.Process.Kill()
		c.Wait()
	})
	s := new(served)
	if line := bufio.NewScanner(out); !line.Scan() || json.Unmarshal(line.Bytes(), s) != nil {
		t.Fatalf("%s %q does not start", verb, args)
	}
	return c, s
}

// startShard serves a shard behind an address of its own.
func startShard(t *testing.T, file string) *shardProcess {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &shardProcess{args: []string{file}, log: new(clitest.Buffer), address: "http://" + l.Addr().String()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go s.pass(from)
		}
	}()
	s.start(t)
	return s
}

// pass carries bytes between a connection and the process, and ends it where there is none.
func (s *shardProcess) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", strings.TrimPrefix(*s.at.Load(), "http://"))
	if err != nil {
		return
	}
	go func() {
		io.Copy(to, heldReader{from, s})
		to.Close()
	}()
	io.Copy(from, to)
}

// A gate reports that a request for cells has come, and holds it back until it is opened.
type gate struct{ came, open chan struct{} }

// A heldReader reads what is sent to a shard.
type heldReader struct {
	io.Reader
	shard *shardProcess
}

// Read implements io.Reader.
func (h heldReader) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if g := h.shard.gate.Load(); g != nil && bytes.HasPrefix(p[:n], []byte("POST /v1/shard/cells")) {
		close(g.came)
		<-g.open
	}
	return n, err
}

func (s *shardProcess) start(t *testing.T) {
	t.Helper()
	c, served := serveChild(t, s.log, "serve", s.args...)
	s.command = c
	s.at.Store(&served.Listening)
}

// kill ends the process without a warning.
func (s *shardProcess) kill() {
	s.command.Process.Kill()
	s.command.Wait()
}

// Three processes serve shards, and a fourth is the front end. One of the three is killed: requests
// fail and name it, and are answered again when it is back. At the end the front end ends in order.
func TestServeShardsKilled(t *testing.T) {
	_, gallery, paths := splitToy(t)
	one := serveOn(t, gallery)
	var shards []*shardProcess
	var addresses []string
	for _, file := range paths {
		s := startShard(t, file)
		shards, addresses = append(shards, s), append(addresses, s.address)
	}
	log := new(clitest.Buffer)
	front, all := serveChild(t, log, "front", addresses...)
	all.await(t, true)
	sameAnswers(t, all, one)
	for i, s := range shards {
		s.kill()
		refusal := all.cells(t, 503, 1, "int8")
		if !bytes.Contains(refusal, []byte("shard "+string(rune('1'+i))+" of 3")) {
			t.Errorf("%s", refusal)
		}
		all.await(t, false)
		get(t, 200, all.Listening+"/v1/base") // any shard has it
		s.start(t)
		all.await(t, true)
	}
	sameAnswers(t, all, one)
	if err := front.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := front.Wait(); err != nil {
		t.Errorf("the front end: %v\n%s", err, log.String())
	}
	if text := log.String(); !strings.Contains(text, `reason="it does not answer"`) || strings.Contains(text, "cells=") {
		t.Errorf("log of the front end:\n%s", text)
	}
}

// A request that runs when the front end gets the signal to end is answered before it ends.
func TestServeShardsDrains(t *testing.T) {
	_, gallery, _ := splitToy(t)
	folder := t.TempDir()
	succeed(t, "split", gallery, "-into", "1", "-out", folder)
	shard := startShard(t, filepath.Join(folder, "toy.1of1.shard"))
	log := new(clitest.Buffer)
	front, all := serveChild(t, log, "front", shard.address, "-timeout", "5m", "-limits", textFile(t, `{"shutdown": "5m"}`))
	all.await(t, true)
	want := all.cells(t, 200, 1, "float32")
	g := &gate{make(chan struct{}), make(chan struct{})}
	shard.gate.Store(g)
	answer := make(chan []byte)
	go func() { answer <- all.cells(t, 200, 1, "float32") }()
	<-g.came
	if err := front.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	all.await(t, false)
	close(g.open)
	if !bytes.Equal(<-answer, want) {
		t.Error("another answer")
	}
	if err := front.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
}

// A front end publishes labels as a server with all rows does, and says what is wrong with a file of
// them.
func TestFrontPublishesLabels(t *testing.T) {
	folder, gallery, paths := splitToy(t)
	labels, short := filepath.Join(folder, "labels.npy"), filepath.Join(folder, "short.npy")
	writeLabels(t, labels, make([]int32, 300))
	writeLabels(t, short, make([]int32, 299))
	one := serveOn(t, gallery, "-labels", labels)
	var addresses []string
	for _, file := range paths {
		addresses = append(addresses, startShard(t, file).address)
	}
	_, all := serveChild(t, io.Discard, "front", append(addresses, "-labels", labels)...)
	all.await(t, true)
	want, got := get(t, 200, one.Listening+"/v1/labels"), get(t, 200, all.Listening+"/v1/labels")
	if !bytes.Equal(got, want) || !bytes.HasPrefix(got, []byte(`{"labels":[0,0,`)) {
		t.Fatalf("%.100s, want %.100s", got, want)
	}
	log := new(clitest.Buffer)
	_, few := serveChild(t, log, "front", append(addresses, "-labels", short)...)
	few.await(t, false)
	for until := time.Now().Add(time.Minute); !strings.Contains(log.String(), "-labels"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no word of -labels in %q", log.String())
		}
	}
}

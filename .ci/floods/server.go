package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// prepare makes the files that are served. A server makes its galleries of them once.
func prepare(program, folder string) error {
	for _, args := range [][]string{
		{"generate", "-kind", "classes", "-n", "60000", "-d", "128", "-classes", "20", "-out", filepath.Join(folder, "rows") + "/", "-quiet"},
		{"fit", filepath.Join(folder, "rows") + "/", "-recipe", "raw", "-model", filepath.Join(folder, "g.model"), "-quiet"},
	} {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	var records bytes.Buffer
	for i := range 60000 {
		fmt.Fprintf(&records, "record %d of a gallery that is flooded\n", i)
	}
	return os.WriteFile(filepath.Join(folder, "records.txt"), records.Bytes(), 0o600)
}

// A server is a process with its addresses and the requests that it answers.
type server struct {
	cmd           *exec.Cmd
	public, admin string
	log           *os.File
	cells         []byte // a request of mode cells
	ask           []byte // of mode sealed
	fetch         []byte // for a record
	longest       []byte // for as many records as a request may fetch
}

// freeAddress returns an address that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// startServer starts a server and waits until it is ready.
func startServer(program, folder string, files int, flags []string) (*server, error) {
	s := new(server)
	var err error
	if s.public, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddress(); err != nil {
		return nil, err
	}
	args := append([]string{"serve", filepath.Join(folder, "g.model"), "-epsilon", "4", "-sealed", "-records", filepath.Join(folder, "records.txt"), "-listen", s.public, "-admin", s.admin, "-log-level", "warn"}, flags...)
	s.cmd = exec.Command(program, args...)
	if files > 0 {
		s.cmd = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, files), program}, args...)...)
	}
	if s.log, err = os.Create(filepath.Join(folder, "log")); err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if answer, err := http.Get("http://" + s.admin + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			s.stop()
			text, _ := os.ReadFile(s.log.Name())
			return nil, fmt.Errorf("the server is not ready: %s", text)
		}
	}
	if err := s.learn(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// stop ends the process.
func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.log.Close()
}

// fetched returns what a path has.
func (s *server) fetched(path string) ([]byte, error) {
	answer, err := http.Get("http://" + s.public + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d", path, answer.StatusCode)
	}
	return body, err
}

// learn makes requests that the server answers. What is in them is of no matter to it.
func (s *server) learn() error {
	var about struct {
		Codebook string
		Size     int
		Sealed   struct {
			Epoch   string
			Records struct {
				Epoch string
				Most  int
			}
		}
	}
	text, err := s.fetched("/v1/gallery")
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return err
	}
	book, err := s.fetched("/v1/codebook")
	if err != nil {
		return err
	}
	cells := wire.CellsRequest{Codebook: wire.Hash(book[len(book)-len(wire.Hash{}):]), Cells: make([]uint32, about.Size)}
	for i := range cells.Cells {
		cells.Cells[i] = uint32(i)
	}
	if s.cells, err = cells.MarshalBinary(); err != nil {
		return err
	}
	var manifest wire.SealedManifest
	if text, err = s.fetched("/v1/sealed/manifest"); err == nil {
		err = manifest.UnmarshalBinary(text)
	}
	if err != nil {
		return err
	}
	var records wire.SealedRecords
	if text, err = s.fetched("/v1/sealed/records/manifest"); err == nil {
		err = records.UnmarshalBinary(text)
	}
	if err != nil {
		return err
	}
	if s.ask, err = ciphertexts(about.Sealed.Epoch, manifest.Probes, manifest.Columns(), 3); err != nil {
		return err
	}
	if s.fetch, err = ciphertexts(about.Sealed.Records.Epoch, 1, records.Columns(), 4); err != nil {
		return err
	}
	s.longest, err = ciphertexts(about.Sealed.Records.Epoch, about.Sealed.Records.Most, records.Columns(), 4)
	return err
}

// ciphertexts returns a request of mode sealed.
func ciphertexts(epoch string, count, columns, width int) ([]byte, error) {
	hash, err := hex.DecodeString(epoch)
	if err != nil {
		return nil, err
	}
	r := wire.SealedRequest{Epoch: wire.Hash(hash), Count: count, Columns: columns, Width: width, Bytes: make([]byte, count*columns*width)}
	for i := range r.Bytes {
		r.Bytes[i] = byte(i * 7919 >> 3)
	}
	return r.MarshalBinary()
}

// metric returns a value that the admin listener has.
func (s *server) metric(name string) (float64, error) {
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 3 * time.Second}).Get("http://" + s.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, nil
}

// resident returns the memory of the process, in MB.
func (s *server) resident() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			return kb / 1000
		}
	}
	return 0
}

package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// retrievalCases ask the service for answers over the loopback, from clients in a second
// process. Next to each case is a plain file server of net/http that sends as many bytes. An
// operation is one query of each client, all at once; memory from the heap is that of the
// server's side.
func retrievalCases(l *measure.Lab) (out []measure.Case) {
	for _, rows := range []int{200_000, 1_000_000} {
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			for _, clients := range []int{1, 16} {
				for _, side := range []string{"service", "files"} {
					out = append(out, retrievalCase(l.Size(rows), 64, encoding, clients, side, rows == 1_000_000))
				}
			}
		}
	}
	return out
}

func retrievalCase(n, d int, encoding wire.Encoding, clients int, side string, full bool) measure.Case {
	return measure.Case{
		Name: fmt.Sprintf("server=%s/form=%s/clients=%d/n=%d/d=%d", side, encoding, clients, n, d), N: n, D: d, Workers: 1, Full: full,
		Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
			s, err := measure.Shared(l, fmt.Sprint("retrieval ", n), func() (*retrievalSetting, error) { return newRetrievalSetting(ctx, l, n, d) })
			if err != nil {
				return nil, err
			}
			return s.subject(ctx, side, encoding, clients)
		},
	}
}

// A retrievalSetting is a service of a gallery and a plain file server.
type retrievalSetting struct {
	lab      *measure.Lab
	cells    *server.Cells
	service  string // its URL
	files    string
	folder   string
	children map[string]*measure.Child // by what they ask for
}

func newRetrievalSetting(ctx context.Context, l *measure.Lab, n, d int) (*retrievalSetting, error) {
	x, _, err := synth.Classes(n, d, 100, 1)
	if err != nil {
		return nil, err
	}
	s := &retrievalSetting{lab: l, children: map[string]*measure.Child{}}
	if s.cells, err = server.NewCells(ctx, x, x, server.CellsSettings{Epsilon: 4, Encoded: 2 << 30, Workers: l.Workers(measure.AllWorkers())}); err != nil {
		return nil, err
	}
	answers, err := service.New(service.Settings{})
	if err != nil {
		return nil, err
	}
	if err := answers.Publish(service.Offer{Name: "benchmark", Cells: s.cells}); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "pmbench-retrieval-"); err != nil {
		return nil, err
	}
	l.AtClose(func() { os.RemoveAll(s.folder) })
	s.service, err = s.listen(func(ctx context.Context, l net.Listener) error {
		defer answers.Close()
		return answers.Run(ctx, service.Listeners{Public: l})
	})
	if err != nil {
		return nil, err
	}
	s.files, err = s.listen(func(ctx context.Context, l net.Listener) error {
		bare := &http.Server{Handler: http.FileServer(http.Dir(s.folder)), ReadHeaderTimeout: time.Minute}
		stop := context.AfterFunc(ctx, func() { bare.Close() })
		defer stop()
		return bare.Serve(l)
	})
	return s, err
}

// listen serves on a port of the loopback until the suite ends.
func (s *retrievalSetting) listen(serve func(context.Context, net.Listener) error) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		serve(ctx, l) // clients notice when it fails
	}()
	s.lab.AtClose(func() {
		cancel()
		<-ended
	})
	return "http://" + l.Addr().String(), nil
}

// subject is one query of each client.
func (s *retrievalSetting) subject(ctx context.Context, side string, encoding wire.Encoding, clients int) (*measure.Subject, error) {
	bytes := s.cells.Codebook().AnswerBytes(encoding)
	c, err := s.child(ctx, side, encoding)
	if err != nil {
		return nil, err
	}
	return &measure.Subject{
		Run: func(context.Context) error {
			_, err := c.Round(clients, clients, 0, "")
			return err
		},
		NNZ: int64(clients) * int64(s.cells.Codebook().Length), Pairs: true, Roof: measure.RoofRead, Bytes: int64(clients) * bytes, Latency: true, Eta: math.NaN(), EtaP99: math.NaN(),
	}, nil
}

// child returns the process of the clients of a server.
func (s *retrievalSetting) child(ctx context.Context, side string, encoding wire.Encoding) (*measure.Child, error) {
	key := side + " " + encoding.String()
	if c, ok := s.children[key]; ok {
		return c, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args, address := []string{program, "load", "-wait", "-encoding", encoding.String()}, s.service
	if side == "files" {
		name := "answer-" + encoding.String()
		if err := s.writeAnswer(filepath.Join(s.folder, name), encoding); err != nil {
			return nil, err
		}
		args, address = append(args, "-get"), s.files+"/"+name
	}
	c, err := measure.StartChild(ctx, args, address)
	if err != nil {
		return nil, err
	}
	s.lab.AtClose(func() { c.Close() })
	s.children[key] = c
	return c, nil
}

// writeAnswer writes the file that the bare server sends.
func (s *retrievalSetting) writeAnswer(name string, encoding wire.Encoding) error {
	hash, err := s.cells.Codebook().Hash()
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = s.cells.WriteAnswer(f, &wire.CellsRequest{Codebook: hash, Cells: []uint32{0}}, encoding)
	return errors.Join(err, f.Close())
}

// writeServiceRatios prints what the service reaches of a plain file server, in the same run.
func writeServiceRatios(w io.Writer, all []record.Summary) error {
	files := map[string]float64{}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Case, "server=files/"); ok && s.Suite == "retrieval" {
			files[name] = s.Seconds
		}
	}
	for _, s := range all {
		name, ok := strings.CutPrefix(s.Case, "server=service/")
		if !ok || s.Suite != "retrieval" || files[name] == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %.0f MB/s, %.2f of a plain file server\n", name, float64(s.Bytes)/s.Seconds/1e6, files[name]/s.Seconds); err != nil {
			return err
		}
	}
	return nil
}

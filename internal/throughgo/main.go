// Command throughgo is through_c.cpp in Go: it embeds points, or places rows by a model
// from a second file, in a process that does nothing else. pmbench starts both, so that they
// differ only by the C interface. Questions, answers and files are those of peer.hpp, which is with it in cmd/pmbench/internal/peers/programs.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strings"
	"time"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: throughgo embed|apply FILE; pmbench peers -suite linked calls it")
	}
	if err := serve(os.Args[1] == "apply", os.Args[2], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// A player runs the operations.
type player struct {
	x          blas32.General
	neighbours float64
	model      *supervised.Map // nil if points are embedded

	engine *privatemail.Engine
	out    blas32.General
}

// serve answers questions until there are no more.
func serve(apply bool, file string, in io.Reader, out io.Writer) error {
	p, err := newPlayer(apply, file)
	if err != nil {
		return err
	}
	defer p.close()
	answers := json.NewEncoder(out)
	if err := answers.Encode(map[string]string{"version": "Go"}); err != nil {
		return err
	}
	questions := bufio.NewScanner(in)
	for questions.Scan() {
		seconds, err := p.answer(questions.Text())
		if err != nil {
			return err
		}
		if err := answers.Encode(map[string][]float64{"seconds": seconds}); err != nil {
			return err
		}
	}
	return questions.Err()
}

// newPlayer maps the rows, as the command does: then they are not on the heap of Go, as with
// rows of C, and garbage collections are as frequent.
func newPlayer(apply bool, file string) (*player, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head struct {
		Rows, Cols uint64
		Neighbours float64
	}
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil {
		return nil, err
	}
	n, d, size := int(head.Rows), int(head.Cols), binary.Size(head)
	bytes, _, err := disk.Load(f, size+4*n*d) // until the process ends
	if err != nil {
		return nil, err
	}
	p := &player{
		x:          blas32.General{Rows: n, Cols: d, Stride: d, Data: unsafe.Slice((*float32)(unsafe.Pointer(&bytes[size])), n*d)},
		neighbours: head.Neighbours,
	}
	if apply {
		p.model, err = supervised.OpenMap(file + ".model")
	}
	return p, err
}

func (p *player) close() {
	if p.engine != nil {
		p.engine.Close()
	}
}

// answer runs a question. It has columns, workers, seconds to fill and, perhaps, a file for
// the result of one operation. answer returns the seconds of each operation.
func (p *player) answer(question string) (seconds []float64, err error) {
	var columns, workers int
	var duration float64
	words := strings.SplitN(question, " ", 4)
	if _, err := fmt.Sscan(strings.Join(words[:min(3, len(words))], " "), &columns, &workers, &duration); err != nil {
		return nil, fmt.Errorf("cannot read the question: %w", err)
	}
	if err := p.prepare(columns, workers); err != nil {
		return nil, err
	}
	check := len(words) == 4
	for total := 0.0; len(seconds) == 0 || total < duration && !check; {
		began := time.Now()
		if err := p.play(); err != nil {
			return nil, err
		}
		seconds = append(seconds, time.Since(began).Seconds())
		total += seconds[len(seconds)-1]
	}
	if check {
		err = p.write(words[3])
	}
	return seconds, err
}

// prepare makes the same engine as pm_engine_new, and memory for results.
func (p *player) prepare(columns, workers int) (err error) {
	if p.engine == nil || p.engine.Workers() != workers {
		p.close()
		if p.engine, err = privatemail.New(privatemail.WithWorkers(workers), privatemail.WithCalibration(kernel.Calibration{})); err != nil {
			return err
		}
	}
	if p.out.Cols != columns {
		p.out = blas32.General{Rows: p.x.Rows, Cols: columns, Stride: columns, Data: make([]float32, p.x.Rows*columns)}
	}
	return nil
}

func (p *player) play() error {
	ctx := context.Background()
	if p.model != nil {
		return p.model.PlaceInto(ctx, p.engine, p.out, p.x)
	}
	_, err := p.engine.Embed(ctx, p.x, nil, &privatemail.Settings{
		Graph: privatemail.Graph{MeanNeighbours: p.neighbours, Operator: "csr"}, Dim: p.out.Cols, Steps: 5, Seed: 1, Into: p.out,
	})
	return err
}

// write writes the result.
func (p *player) write(file string) error {
	b := make([]byte, 0, 4*len(p.out.Data))
	for _, v := range p.out.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return os.WriteFile(file, b, 0o600)
}

package peers

import (
	"bufio"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/sparse"
)

//go:embed programs
var peerSources embed.FS

// A peer is another program or library that does the same.
type peer struct {
	name     string
	suite    string
	source   string   // under programs
	compile  []string // flags; nil when it is a Python program
	modules  string   // that a Python program imports
	argument string   // of a program that is several peers
	linked   bool     // it is linked with the shared library of this repository
	ranks    int      // that mpirun starts; 0: it is one process
	library  string   // of a peer on ranks, as pkg-config knows it
	// approximate says that the result may differ: its share is given.
	approximate bool
	pairing     func(workers int) bool
	packages    string // what to install
}

func peerTable() []peer {
	any := func(int) bool { return true }
	return []peer{
		{name: "GraphBLAS", suite: "spmm", source: "graphblas.cpp", compile: []string{"-lgraphblas"}, pairing: any, packages: "g++ libgraphblas-dev"},
		{name: "Eigen", suite: "spmm", source: "eigen.cpp", compile: []string{"-fopenmp", "-I/usr/include/eigen3"}, pairing: any, packages: "g++ libeigen3-dev"},
		{name: "scipy", suite: "spmm", source: "scipy_spmm.py", modules: "scipy.sparse", pairing: serial, packages: "python3-scipy"},
		{name: "cKDTree", suite: "cells", source: "ckdtree.py", modules: "scipy.spatial", pairing: serial, packages: "python3-scipy"},
		{name: "nanoflann", suite: "cells", source: "nanoflann.cpp", compile: []string{"-pthread"}, pairing: any, packages: "g++ libnanoflann-dev"},
		{name: "numpy", suite: "wide", source: "numpy_wide.py", modules: "numpy", pairing: any, packages: "python3-numpy"},
		{name: "scikit-learn", suite: "iterate", source: "sklearn_spectral.py", modules: "sklearn.manifold, threadpoolctl", pairing: any, packages: "python3-sklearn"},
		{name: "scikit-learn SpectralEmbedding", suite: "embedding", source: "sklearn_embedding.py", modules: "sklearn.manifold, threadpoolctl", pairing: any, packages: "python3-sklearn"},
		{name: "FAISS", suite: "search", source: "search.py", argument: "faiss", modules: "faiss, threadpoolctl", pairing: any, packages: "python3-faiss python3-threadpoolctl"},
		{name: "numpy", suite: "search", source: "search.py", argument: "numpy", modules: "numpy, threadpoolctl", pairing: any, packages: "python3-numpy python3-threadpoolctl"},
		{name: "scikit-learn brute", suite: "search", source: "search.py", argument: "sklearn", modules: "sklearn.neighbors, threadpoolctl", pairing: any, packages: "python3-sklearn"},
		{name: "cKDTree", suite: "nearest", source: "nearest.py", argument: "ckdtree", modules: "scipy.spatial, threadpoolctl", pairing: any, packages: "python3-scipy python3-threadpoolctl"},
		{name: "FAISS", suite: "nearest features", source: "nearest.py", argument: "faiss", modules: "faiss, threadpoolctl", pairing: any, packages: "python3-faiss python3-threadpoolctl"},
		{name: "scikit-learn brute", suite: "nearest features", source: "nearest.py", argument: "sklearn", modules: "sklearn.neighbors, threadpoolctl", pairing: any, packages: "python3-sklearn"},
		{name: "C loop", suite: "sealed", source: "sealed.cpp", compile: []string{}, pairing: serial, packages: "g++"},
		{name: throughC, suite: "linked", source: "through_c.cpp", argument: "embed", linked: true, pairing: any, packages: linkedPackages},
		{name: throughC, suite: "linked apply", source: "through_c.cpp", argument: "apply", linked: true, pairing: any, packages: linkedPackages},
		{name: "FAISS IVFFlat", suite: "search", source: "search.py", argument: "faiss_ivf", modules: "faiss, threadpoolctl", approximate: true, pairing: any, packages: "python3-faiss python3-threadpoolctl"},
		{name: "PETSc", suite: ranksSuite(1), source: "petsc.cpp", ranks: 1, library: "PETSc", pairing: any, packages: "petsc-dev openmpi-bin pkg-config"},
		{name: "PETSc", suite: ranksSuite(2), source: "petsc.cpp", ranks: 2, library: "PETSc", pairing: any, packages: "petsc-dev openmpi-bin pkg-config"},
	}
}

// serial pairs a peer that knows one thread with one worker.
func serial(workers int) bool { return workers == 1 }

// opponent is a peer that is ready: it has the data and does rounds.
type opponent interface {
	// Round repeats the operation for some seconds, at least once, and returns
	// the seconds of each. With a file name it does the operation once and
	// writes the result there.
	Round(k, workers int, duration float64, check string) ([]float64, error)
	Version() string
	Close() error
}

// build compiles the peer or finds its interpreter and returns the command to
// start it with. An error says what is missing.
func (p *peer) build(ctx context.Context, folder string) ([]string, error) {
	source := filepath.Join(folder, "programs", p.source)
	if p.ranks > 0 {
		return p.buildOnRanks(ctx, folder, source)
	}
	if p.compile == nil && !p.linked {
		python, err := findPython(ctx, p.modules)
		if err != nil {
			return nil, err
		}
		args := []string{python, source}
		if p.argument != "" {
			args = append(args, p.argument)
		}
		return args, nil
	}
	compiler := os.Getenv("CXX")
	if compiler == "" {
		compiler = "g++"
	}
	program := filepath.Join(folder, p.name+measure.ExeSuffix())
	flags := p.compile
	if p.linked {
		var err error
		if flags, err = buildLibrary(ctx, folder); err != nil {
			return nil, err
		}
	}
	args := append([]string{"-O3", "-march=native", "-std=c++17", "-o", program, source}, flags...)
	if _, err := measure.Command(ctx, folder, compiler, args...); err != nil {
		return nil, err
	}
	if p.argument != "" {
		return []string{program, p.argument}, nil
	}
	return []string{program}, nil
}

// findPython returns a Python that has the modules: that of PYTHON, the
// system's, or the first of the path.
func findPython(ctx context.Context, modules string) (string, error) {
	var err error
	for _, python := range []string{os.Getenv("PYTHON"), "/usr/bin/python3", "python3"} {
		if python == "" {
			continue
		}
		if _, err = measure.Command(ctx, "", python, "-c", "import "+modules); err == nil {
			return python, nil
		}
	}
	return "", err
}

func readFloats(path string, count int) ([]float32, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) != 4*count {
		return nil, fmt.Errorf("%s: %d bytes, want %d", filepath.Base(path), len(b), 4*count)
	}
	v := make([]float32, count)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

// writeGraph writes a matrix as peer.hpp reads it.
func writeGraph(path string, a *sparse.CSR) error {
	ptr := make([]uint64, 1, a.Rows()+1)
	ind := make([]uint32, 0, a.NNZ())
	val := make([]float32, 0, a.NNZ())
	var buffer sparse.RowBuffer
	for i := range a.Rows() {
		columns, values := a.Row(i, &buffer)
		ind, val = append(ind, columns...), append(val, values...)
		ptr = append(ptr, uint64(len(ind)))
	}
	return writeLittle(path, []uint64{uint64(a.Rows()), uint64(a.NNZ())}, ptr, ind, val)
}

// writePoints writes points and a radius as the peers read them.
func writePoints(path string, s *suites.PointSet) error {
	return writeLittle(path, []uint64{uint64(s.Points.Rows), uint64(s.Points.Cols)}, []float64{s.Radius}, s.Points.Data)
}

// writeLittle writes numbers to a file between two processes, which is read when it is
// complete and removed in the end.
func writeLittle(path string, parts ...any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	for _, p := range parts {
		if err == nil {
			err = binary.Write(b, binary.LittleEndian, p)
		}
	}
	if err == nil {
		err = b.Flush()
	}
	return errors.Join(err, f.Close())
}

// repeat does an operation for that many seconds, at least once.
func repeat(duration float64, operation func() error) (seconds []float64, err error) {
	for total := 0.0; total < duration || len(seconds) == 0; {
		from := time.Now()
		if err := operation(); err != nil {
			return nil, err
		}
		took := time.Since(from).Seconds()
		seconds, total = append(seconds, took), total+took
	}
	return seconds, nil
}

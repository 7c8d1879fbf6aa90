package peers

import (
	"runtime/debug"
	"strings"

	jbsparse "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// ownPeer comes with this program, which the others do not.
const ownPeer = "james-bowman/sparse"

// moduleVersion returns the version of a module this program was linked with.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				version := m.Version
				if at := strings.LastIndexByte(version, '-'); at >= 0 {
					version = version[at+1:] // of a pseudo-version the commit
				}
				return version
			}
		}
	}
	return ""
}

// jamesBowman is the peer within this process.
type jamesBowman struct {
	a    *jbsparse.CSR
	x, y *mat.Dense
}

func (*jamesBowman) Version() string { return moduleVersion("github.com/james-bowman/sparse") }

func (*jamesBowman) Close() error { return nil }

func (j *jamesBowman) Round(k, _ int, duration float64, check string) ([]float64, error) {
	n, _ := j.a.Dims()
	if j.x == nil || j.x.RawMatrix().Cols != k || check != "" {
		x := suites.Block(n, k)
		j.x, j.y = mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
		for e, v := range x.Data {
			j.x.RawMatrix().Data[e] = float64(v)
		}
	}
	if check != "" {
		duration = 0
	}
	seconds, err := repeat(duration, func() error {
		jbsparse.MulMatMat(false, 1, j.a, j.x, j.y)
		return nil
	})
	if err != nil || check == "" {
		return seconds, err
	}
	y := make([]float32, n*k)
	for e, v := range j.y.RawMatrix().Data {
		y[e] = float32(v)
	}
	return seconds, writeLittle(check, y)
}

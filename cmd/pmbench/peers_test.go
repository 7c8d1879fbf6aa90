package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/peers"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// Searches for nearest neighbours have the distances of the peers that are installed.
func TestNearestAgainstPeers(t *testing.T) {
	played(t, 3, "-suite", "nearest", "-n", "2000", "-case", "kind=(clustered/.*d=3|hard).*workers=1$")
}

// played runs the peers of a suite on small data and returns what is said of those that
// are installed, each with a ratio. PM_PEERS says that all are: CI sets it. contests is
// the number of cases times that of peers.
func played(t *testing.T, contests int, args ...string) (out []map[string]any) {
	t.Helper()
	longtest.Only(t)
	code, stdout, stderr := call(append([]string{"peers", "-no-limits", "-slice", "1ms", "-json"}, args...)...)
	if code != cli.OK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if lines := strings.Count(stdout, "\n"); lines != contests {
		t.Errorf("%d contests, want %d:\n%s", lines, contests, stdout)
	}
	for line := range strings.Lines(stdout) {
		v := object(t, line)
		why, missing := v["missing"]
		switch {
		case missing && os.Getenv("PM_PEERS") == "":
			t.Logf("%v is missing: %v", v["peer"], why)
		case missing || v["ratio"] == nil || v["rounds"].(float64) < peers.MinRounds || v["version"] == "":
			t.Errorf("%s", line)
		default:
			out = append(out, v)
		}
	}
	return out
}

// The peers that are installed give our results, and a ratio.
func TestPeersOnSmallData(t *testing.T) {
	seen := map[any]int{}
	for _, v := range played(t, 16, "-n", "3000", "-case", "k=[18]/layout=plain/workers=1|kind=[a-z]*/n=3000/d=[23]/workers=1") {
		seen[v["peer"]]++
	}
	if seen["james-bowman/sparse"] != 2 { // it comes with this program
		t.Errorf("%v", seen)
	}
}

// scikit-learn finds our eigenvalues, from a graph and from points, where it is installed;
// CI sees to it that it is.
func TestEigenvectorsAgainstAPeer(t *testing.T) {
	// The weights of a graph, and two sets of points.
	for _, v := range played(t, 3, "-suite", "iterate", "-n", "400", "-case", "workers=1") {
		if strings.HasPrefix(v["case"].(string), "op=embedding/") && (v["residual"].(float64) > 1e-5 || v["peer_residual"].(float64) > 1e-4) {
			t.Errorf("residuals %v and %v", v["residual"], v["peer_residual"])
		}
	}
}

// Other searches find our neighbours where they are installed; CI sees to it that
// they are.
func TestSearchesAgainstPeers(t *testing.T) {
	played(t, 8, "-suite", "search", "-n", "1500", "-case", "d=64/.*workers=1")
}

// A peer that is not installed is named; that is not an error.
func TestMissingPeer(t *testing.T) {
	t.Setenv("CXX", filepath.Join(t.TempDir(), "no-compiler"))
	code, stdout, stderr := call("peers", "-suite", "spmm", "-n", "500", "-no-limits", "-slice", "1ms", "-case", "k=2/layout=plain/workers=1")
	if code != cli.OK || !strings.Contains(stderr, "GraphBLAS is missing") || !strings.Contains(stderr, "libgraphblas-dev") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, peer := range []string{"GraphBLAS", "Eigen"} {
		found := false
		for line := range strings.Lines(stdout) {
			found = found || strings.Contains(line, peer) && strings.Contains(line, "missing")
		}
		if !found {
			t.Errorf("%s is not in the table:\n%s", peer, stdout)
		}
	}
	if !strings.Contains(stdout, "james-bowman/sparse") {
		t.Errorf("%s", stdout)
	}
}

func TestPeersWithoutACase(t *testing.T) {
	refuse(t, cli.Usage, []string{"peers", "-no-limits", "-quiet", "-case", "zebra"}, "zebra")
}

// numpy's step is ours where it is installed, and its time is extrapolated.
func TestWideAgainstAPeer(t *testing.T) {
	for _, v := range played(t, 1, "-suite", "wide", "-n", "600", "-case", "d=64/.*workers=1") {
		if v["peer_n"] != 600.0 {
			t.Errorf("extrapolated from %v rows", v["peer_n"])
		}
	}
}

// PETSc's product is ours on one rank and on two, where it is installed; CI sees to it that
// it is.
func TestRanksAgainstAPeer(t *testing.T) {
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	seen := ""
	for _, v := range played(t, 2, "-suite", "ranks", "-n", "3000") {
		if v["difference"].(float64) > 1e-5 || v["peer"] != "PETSc" {
			t.Errorf("%v", v)
		}
		seen += v["case"].(string)
	}
	if os.Getenv("PM_PEERS") != "" && (!strings.Contains(seen, "ranks=1/") || !strings.Contains(seen, "ranks=2/")) {
		t.Errorf("%s", seen)
	}
}

// Without the compiler of an MPI the peer is missing, and the message says what to install.
func TestMissingPeerOnRanks(t *testing.T) {
	t.Setenv("MPICXX", filepath.Join(t.TempDir(), "no-compiler"))
	code, stdout, stderr := call("peers", "-suite", "ranks", "-n", "500", "-no-limits", "-slice", "1ms")
	if code != cli.OK || !strings.Contains(stderr, "PETSc is missing") || !strings.Contains(stderr, "petsc-dev") || strings.Count(stdout, "missing") != 2 {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// What comes through the C interface has the bits of the Engine: a case whose result differs
// would have no ratio. The process reports its memory.
func TestThroughC(t *testing.T) {
	for _, v := range played(t, 3, "-suite", "linked", "-n", "700", "-case", "workers=1") {
		if v["peer"] != "through C" || v["difference"] != 0.0 || v["peer_peak_bytes"] == nil {
			t.Errorf("%v", v)
		}
	}
}

// The plain loop of C has our words, where a compiler is installed; CI sees to it that one is.
func TestSealedAgainstAPeer(t *testing.T) {
	played(t, 1, "-suite", "sealed", "-n", "600", "-case", "workers=1")
}

// Only the peers asked for play.
func TestChosenPeers(t *testing.T) {
	for pattern, name := range map[string]string{"JAMES": "james-bowman/sparse", "^eigen$": "Eigen"} {
		for _, v := range played(t, 1, "-n", "3000", "-peer", pattern, "-case", "k=8/layout=plain/workers=1") {
			if v["peer"] != name {
				t.Errorf("%v plays for %s", v["peer"], pattern)
			}
		}
	}
}

package peers

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Suite is one that others can play.
type Suite struct {
	Name string
	// About says in lines for the help what is played, and against whom; Note is for
	// those who play.
	About, Note string
	Rows        int // of the largest case, unless -n asks for others
	play        func(c *contest, ctx context.Context, n int, work measure.Portion) error
}

// Suites lists what peers can play.
func Suites() []Suite {
	return []Suite{
		{
			Name: "spmm", Rows: suites.DefaultRows, play: (*contest).spmm,
			About: `Y += A X, a million rows of 32 entries in curve order, k = 1, 2, 8, 32:
SuiteSparse:GraphBLAS, Eigen (row-major), james-bowman/sparse, scipy.`,
		},
		{
			Name: "cells", Rows: suites.DefaultRows, play: (*contest).cells,
			About: `All neighbours within a radius, a million points with 32 neighbours on
average: scipy's cKDTree.query_pairs, nanoflann. Theirs is the time of the
tree and the search; ours has the weights and the certificate in it too.`,
		},
		{
			Name: "wide", Rows: suites.DefaultRows, play: (*contest).wide,
			About: `A step of the full kernel of unit features, a million in 64 and 200,000 in
512 dimensions, sigma 6: numpy in blocks of rows. Theirs is measured with
20,000 rows and multiplied by (n/20,000)^2.`,
			Note: "Not among the default suites.",
		},
		{
			Name: "iterate", Rows: mostEmbeddedRows, play: (*contest).iterate,
			About: `The 32 leading eigenvectors of a graph of 10,000 points to a residual of
1e-5 (op=converge): scikit-learn's spectral_embedding by LOBPCG, on the same
weights. And from points to eigenvectors (op=embedding), the search included:
20,000 points, 32 nearest neighbours, against its SpectralEmbedding by LOBPCG,
or by AMG where pyamg is installed and that is faster. There one-sided pairs
weigh half with theirs, so that values differ a little; the residual of either
side is given.`,
			Note: "Not among the default suites: it takes minutes a round.",
		},
		{
			Name: "search", Rows: 100_000, play: (*contest).search,
			About: `All neighbours within a radius, 20,000 features, and 100,000 unless -n
says less, of 200 classes in 64 and 512 dimensions with 48 neighbours on
average (or PM_FEATURES): FAISS IndexFlatL2.range_search, numpy by
symmetric blocks, scikit-learn's brute force, and FAISS IVFFlat with
nprobe 4, whose recall is given. They decide in float32; up to 1 in 100
rows may differ. Ours has the weights and the certificate in it too.`,
			Note: `Not among the default suites: the largest takes minutes a round; -n 20000
leaves it out.`,
		},
		{
			Name: "nearest", Rows: suites.DefaultRows, play: (*contest).nearest,
			About: `The 10 nearest neighbours of every row by kernel.EachNearest, with their
distances. A million points in 2 and 3 dimensions: scipy's cKDTree.query.
20,000 features in 64: FAISS IndexFlatL2.search, scikit-learn's brute
force, which compute in float32. The difference is the largest of two
squared distances, relative to ours. Times have the index in them.`,
			Note: "Not among the default suites: it takes half a minute a round.",
		},
		{
			Name: "sealed", Rows: suites.DefaultRows, play: (*contest).sealed,
			About: `The product of a gallery with the 8 ciphertexts of an encrypted query, modulo
2^32, a million rows of 64 bytes: a plain C loop of 32-bit multiply-adds on the same
matrix, one thread, as the compiler makes it vectors. Ours has reading the request and
writing the answer in it. All words are the same.`,
			Note: "Not among the default suites: the gallery is made first.",
		},
		{
			Name: "linked", Rows: mostLinkedRows, play: (*contest).linked,
			About: `This library through its C interface compared with the same program in Go, either in
a process of its own: embeddings of up to 200,000 points in 2 dimensions and
20,000 in 64, and rows of 512 columns placed by a model. Results have the same
bits. The ratio is what the interface costs, and the peak of the last case
shows that rows are not copied: -n 524288 makes them 1 GiB.`,
			Note: "Not among the default suites: it builds the library, within the repository.",
		},
		{
			Name: "ranks", Rows: suites.DefaultRows, play: (*contest).ranks,
			About: `A step of the graph of a million points in the plane with 32 neighbours, two
columns, by 1 and 2 ranks with a worker each, compared with the product that it contains:
PETSc's MATMPIAIJ in double, under mpirun, by MatMult for each column or by
MatMatMult, whichever is faster. Ours has the new iterate and its sums in it too.`,
			Note: `Not among the default suites: every round builds the graph. Our ranks are
goroutines unless this program was built with -tags mpi. MPICXX and MPIRUN name
the commands of the MPI that PETSc has.`,
		},
	}
}

// SuiteNames are the names of all suites.
func SuiteNames() (names []string) {
	for _, s := range Suites() {
		names = append(names, s.Name)
	}
	return names
}

// choosePeerSuites returns the suites that a flag names, separated by commas.
func choosePeerSuites(names string) (out []Suite, err error) {
	all, known := Suites(), SuiteNames()
	for _, name := range strings.Split(names, ",") {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, cli.Usagef("there are no peers for %q%s; want one of %s", name, cli.DidYouMean(name, known, ""), strings.Join(known, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// choosePeers returns what the names of peers have to match.
func choosePeers(pattern string) (*regexp.Regexp, error) {
	peers, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, cli.Usagef("-peer: %v", err)
	}
	names := []string{ownPeer}
	for _, p := range peerTable() {
		names = append(names, p.name)
	}
	if slices.ContainsFunc(names, peers.MatchString) {
		return peers, nil
	}
	slices.Sort(names)
	return nil, cli.Usagef("no peer matches %q; there are %s", pattern, strings.Join(slices.Compact(names), ", "))
}

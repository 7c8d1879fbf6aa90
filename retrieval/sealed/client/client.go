package client

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Settings of a client. One of Epoch and UnconfirmedEpoch is needed.
type Settings struct {
	// Epoch is the hash of the manifest that everybody has, from a second path: not from the
	// server that sent the manifest, but from a published page, another client, or a constant
	// of the program.
	Epoch wire.Hash
	// UnconfirmedEpoch goes without that hash. The server may then have made the manifest for
	// this client alone, and know the client by the hash that every request holds. What the
	// requests encrypt stays hidden all the same.
	UnconfirmedEpoch bool
	// Workers is how many goroutines a call of Ask or Rank uses; 0 means GOMAXPROCS.
	Workers int
}

// A Client asks in mode sealed. It is safe for concurrent use.
type Client struct {
	manifest wire.SealedManifest // a copy without Norms, which versions have
	epoch    wire.Hash
	matrix   *scheme.Matrix
	lengths  []float64 // squared lengths of the centres
	workers  int
	seeds    io.Reader // of secrets

	mu       sync.Mutex
	versions []*version // rising, at least one
}

// New returns a client of an epoch, whose manifest is copied. The words of the hint are kept and
// not copied: nobody may change them afterwards.
//
// Errors are wire.ErrMessage for an invalid message, also for a manifest with another scale
// than the one that follows from it (scheme.Kappa), and ErrEpoch for a manifest that does not
// have the hash expected, when no hash is expected and UnconfirmedEpoch does not say so, and
// for a hint of another epoch. All of them depend on public values alone.
func New(manifest *wire.SealedManifest, hint *wire.SealedHint, s Settings) (*Client, error) {
	if manifest == nil || hint == nil {
		return nil, fmt.Errorf("client: %w: there is no manifest, or no hint", ErrEpoch)
	}
	hash, err := confirm(manifest, s)
	if err != nil {
		return nil, err
	}
	if err := hint.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if hint.Epoch != hash || hint.Rows != manifest.Length {
		return nil, fmt.Errorf("client: the hint: %w", ErrEpoch)
	}
	c := &Client{manifest: *manifest, epoch: hash, matrix: scheme.NewMatrix(hash), workers: s.Workers, seeds: entropy.System{}}
	c.manifest.Centres = slices.Clone(manifest.Centres)
	c.manifest.Norms = nil
	c.lengths = make([]float64, manifest.Cells)
	for i := range c.lengths {
		for _, v := range c.centre(i) {
			c.lengths[i] += float64(float64(v) * float64(v)) // not fused: same bits everywhere
		}
	}
	first := &version{
		number: hint.Version,
		hint:   slices.Collect(slices.Chunk(hint.Words, scheme.SecretWords)),
		norms:  slices.Collect(slices.Chunk(slices.Clone(manifest.Norms), manifest.Length)),
	}
	if err := c.checkNorms(hint.Names, hint.Norms); err != nil {
		return nil, err
	}
	for i, name := range hint.Names {
		first.norms[int(name)/manifest.Length][int(name)%manifest.Length] = hint.Norms[i]
	}
	c.versions = []*version{first}
	return c, nil
}

// confirm returns the hash of a manifest that is the one expected, and whose scale is right.
func confirm(manifest *wire.SealedManifest, s Settings) (hash wire.Hash, err error) {
	if hash, err = manifest.Hash(); err != nil {
		return hash, fmt.Errorf("client: %w", err)
	}
	if err := confirmHash(hash, s.Epoch, s.UnconfirmedEpoch); err != nil {
		return hash, err
	}
	if want := scheme.Kappa(manifest.MaxNorm, manifest.Cells, manifest.Dimension); manifest.Kappa != want {
		return hash, fmt.Errorf("client: %w", &wire.Error{Field: "kappa", Detail: fmt.Sprintf("%d, and %d follows from the other fields", manifest.Kappa, want), Err: wire.ErrMessage})
	}
	return hash, nil
}

// confirmHash refuses a hash that is not the expected one, unless the caller says that there is
// none.
func confirmHash(hash, expected wire.Hash, unconfirmed bool) error {
	switch {
	case unconfirmed && expected != wire.Hash{}:
		return fmt.Errorf("client: %w: UnconfirmedEpoch, and a hash that confirms one", ErrEpoch)
	case unconfirmed:
	case expected == wire.Hash{}:
		return fmt.Errorf("client: %w: give the hash of the manifest from a second path, or say UnconfirmedEpoch", ErrEpoch)
	case expected != hash:
		return fmt.Errorf("client: %w: the manifest does not have the hash expected", ErrEpoch)
	}
	return nil
}

// centre returns a centre.
func (c *Client) centre(i int) []float32 {
	d := c.manifest.Dimension
	return c.manifest.Centres[i*d : (i+1)*d]
}

// norm returns the squared norm of a stored row.
func (c *Client) norm(v int16) float64 {
	return float64(c.manifest.NormBase + c.manifest.NormUnit*int64(v))
}

// Epoch returns the hash of the manifest, which names the epoch.
func (c *Client) Epoch() wire.Hash { return c.epoch }

// Bound returns the certificate of distances: how far the squared distance of a match may be
// from the true one between a query of unit length and the row as the server stores it. A
// distance is farther off with a chance of 2 exp(-50), 4e-22, at the most, whatever the query.
// Two rows whose squared distances differ by more than twice the bound are in the right order.
// For a query of another length it is Bound times that length, but for the part of norms that
// are not exact; the rounding of float64, some 1e-15 of the squared lengths of query and row,
// comes on top and counts where one of them is a hundred million times as long as the other. The
// chance is over secrets, errors and the public matrix: rows that somebody chose with the matrix
// in hand may be farther off.
func (c *Client) Bound() float64 {
	m := &c.manifest
	score := scheme.ScoreError(m.MaxNorm, m.Cells, m.Dimension) / float64(m.Kappa)
	norm := float64(m.NormUnit/2) / m.Scale / m.Scale
	return 2*score/m.Scale + norm
}

// Bounds of the entries of a row. Below largestEntry no sum of squares overflows. What is below
// smallestEntry counts as 0, and so does what is below smallestShare of the largest entry:
// processors take many times longer for subnormal numbers, and with these bounds none comes up
// whatever the row. The map that made the row may be the server's, which could otherwise see by
// the time how small a number of its choice is.
var (
	largestEntry  = math.Ldexp(1, 500)
	smallestEntry = math.Ldexp(1, -400)
	smallestShare = math.Ldexp(1, -100)
)

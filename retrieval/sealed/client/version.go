package client

import (
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// KeptVersions is how many versions a client keeps: an answer may be of a version before the
// newest one, because the gallery may grow while it is on its way.
const KeptVersions = 8

// A version is what a client knows of a gallery at one version. Versions share the rows and
// cells in which they agree.
type version struct {
	number uint64
	hint   [][]uint32 // rows of the hint
	norms  [][]int16  // by cell
	ids    [][]uint32 // by cell; nil where nobody gave them
}

// Version returns the newest version of the gallery that the client has.
func (c *Client) Version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.versions[len(c.versions)-1].number
}

// SetIDs gives the client the row numbers of the gallery, which Match.ID is then. The client
// has them for the version that they are of, and for those that Update adds to it; other
// versions are dropped. Errors are wire.ErrMessage, ErrEpoch, and *VersionError for a version
// that the client does not have.
func (c *Client) SetIDs(ids *wire.SealedIDs) error {
	if ids == nil {
		return fmt.Errorf("client: the ids: %w: there are none", ErrEpoch)
	}
	if err := ids.Check(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if ids.Epoch != c.epoch || len(ids.IDs) != c.manifest.Slots() {
		return fmt.Errorf("client: the ids: %w", ErrEpoch)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := c.at(ids.Version)
	if err != nil {
		return err
	}
	with := *v
	with.ids = slices.Collect(slices.Chunk(slices.Clone(ids.IDs), c.manifest.Length))
	c.versions = []*version{&with}
	return nil
}

// Update adds a version to those that the client has. Queries that were asked before stay
// valid. The client keeps the newest versions, and drops the oldest. Changes to a version that
// the client has do nothing.
//
// Errors are wire.ErrMessage, ErrEpoch for changes of another epoch, and *VersionError for
// changes since a version that the client does not have.
func (c *Client) Update(changes *wire.SealedChanges) error {
	if changes == nil {
		return fmt.Errorf("client: the changes: %w: there are none", ErrEpoch)
	}
	if err := changes.Check(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if n := len(changes.Rows); changes.Epoch != c.epoch || n > 0 && int(changes.Rows[n-1]) >= c.manifest.Length {
		return fmt.Errorf("client: the changes: %w", ErrEpoch)
	}
	if err := c.checkNorms(changes.Names, changes.Norms); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.at(changes.Version); err == nil {
		return nil
	}
	since, err := c.at(changes.Since)
	if err != nil {
		return err
	}
	place, _ := slices.BinarySearchFunc(c.versions, changes.Version, compareVersion)
	c.versions = slices.Insert(c.versions, place, since.changed(changes, c.manifest.Length))
	if len(c.versions) > KeptVersions {
		c.versions = slices.Delete(c.versions, 0, 1)
	}
	return nil
}

func compareVersion(v *version, number uint64) int {
	switch {
	case v.number < number:
		return -1
	case v.number > number:
		return 1
	}
	return 0
}

// at returns a version that the client has. The caller holds the lock.
func (c *Client) at(number uint64) (*version, error) {
	i, found := slices.BinarySearchFunc(c.versions, number, compareVersion)
	if !found {
		return nil, &VersionError{Have: c.versions[max(0, i-1)].number, Want: number}
	}
	return c.versions[i], nil
}

// changed returns the version after changes. v stays as it is, and what does not change is
// shared.
func (v *version) changed(changes *wire.SealedChanges, length int) *version {
	out := &version{number: changes.Version, hint: slices.Clone(v.hint), norms: slices.Clone(v.norms), ids: slices.Clone(v.ids)}
	for i, row := range changes.Rows {
		out.hint[row] = slices.Clone(changes.Words[i*scheme.SecretWords:][:scheme.SecretWords])
	}
	copied := -1 // names rise, so that those of a cell follow each other
	for i, name := range changes.Names {
		cell, slot := int(name)/length, int(name)%length
		if cell != copied {
			copied = cell
			out.norms[cell] = slices.Clone(out.norms[cell])
			if out.ids != nil {
				out.ids[cell] = slices.Clone(out.ids[cell])
			}
		}
		out.norms[cell][slot] = changes.Norms[i]
		if out.ids != nil {
			out.ids[cell][slot] = changes.IDs[i]
		}
	}
	return out
}

// checkNorms refuses names that the gallery does not have, and norms that no row can have.
func (c *Client) checkNorms(names []uint32, norms []int16) error {
	if n := len(names); n > 0 && int64(names[n-1]) >= int64(c.manifest.Slots()) {
		return fmt.Errorf("client: a slot that the gallery does not have: %w", ErrEpoch)
	}
	for i, v := range norms {
		if !c.manifest.FitsNorm(v) {
			return fmt.Errorf("client: %w", &wire.Error{Field: "norms", Detail: fmt.Sprintf("that of slot %d is outside of 0 to %d", names[i], c.manifest.MaxNorm), Err: wire.ErrMessage})
		}
	}
	return nil
}

package service

import (
	"encoding/hex"
	"net/http"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A key names versions of a gallery by the hash of something that they have.
type key struct {
	of   part
	hash wire.Hash
}

// A part is something of a version that has a hash.
type part int

const (
	codebookPart part = iota
	epochPart         // of mode sealed
	recordsEpoch      // of the records
	parts             // how many there are
)

// parameter is the name of a part in the query of a request, and in problems.
func (p part) parameter() string { return [...]string{"codebook", "epoch", "epoch"}[p] }

// hashOf returns the hash of a part, false where the version does not have it.
func (v *version) hashOf(p part) (hash wire.Hash, ok bool) {
	switch {
	case p == codebookPart && v.cells != nil:
		return v.cells.hash, true
	case p == epochPart && v.sealed != nil:
		return v.sealed.epoch, true
	case p == recordsEpoch && v.records != nil:
		return v.records.epoch, true
	}
	return hash, false
}

// longest returns the length of the longest request about a part, 0 where the version does not
// have it.
func (v *version) longest(p part) int64 {
	switch {
	case p == codebookPart && v.cells != nil:
		return v.cells.request
	case p == epochPart && v.sealed != nil:
		return v.sealed.sizes.RequestBytes()
	case p == recordsEpoch && v.records != nil:
		return v.records.sizes.RequestBytes(sealed.MaxFetches)
	}
	return 0
}

// replaces reports whether a version answers every request that an older one answers.
func (v *version) replaces(old *version) bool {
	for p := range parts {
		before, had := old.hashOf(p)
		if now, has := v.hashOf(p); had && (!has || now != before) {
			return false
		}
	}
	return true
}

// offers returns nil where a version has a part, and otherwise says that it does not.
func (v *version) offers(p part) *problem {
	if _, ok := v.hashOf(p); ok {
		return nil
	}
	return notOffered([...]string{
		"this service has no cells: it does not offer the modes cells and all",
		"this service does not offer mode sealed",
		"this service has no records to fetch",
	}[p])
}

// stale is the answer to a request that goes with another hash of a part than any that is
// served. v is the newest version.
func (v *version) stale(p part) *problem {
	if missing := v.offers(p); missing != nil {
		return missing
	}
	if p == codebookPart {
		out := newProblem(http.StatusConflict, "stale-codebook", "The request goes with a codebook that is not served any more",
			"the gallery was replaced: a query under the new codebook is a new release and spends epsilon again")
		out.Codebook, out.Version = v.says.Codebook, v.says.Version
		return out
	}
	out := newProblem(http.StatusConflict, "stale-epoch", "The request goes with an epoch that is not served any more",
		"the gallery was replaced: take the new manifest and hint, and encrypt again")
	hash, _ := v.hashOf(p)
	out.Epoch = hex.EncodeToString(hash[:])
	return out
}

// keyOf returns the key that a request has, nil for none.
func keyOf(r *http.Request, parts ...part) (*key, *problem) {
	var named *key
	for _, p := range parts {
		text := r.URL.Query().Get(p.parameter())
		if text == "" {
			continue
		}
		k := &key{of: p}
		if len(text) != hex.EncodedLen(len(k.hash)) {
			return nil, badParameter(p.parameter() + " is a hash of 64 hexadecimal digits")
		}
		if _, err := hex.Decode(k.hash[:], []byte(text)); err != nil {
			return nil, badParameter(p.parameter() + " is a hash of 64 hexadecimal digits")
		}
		if named != nil {
			return nil, badParameter("codebook or epoch, and not both")
		}
		named = k
	}
	return named, nil
}

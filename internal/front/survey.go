package front

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A survey is what shards say they have.
type survey struct {
	reasons []string        // why a shard is not ready; "" for one that is
	agreed  []*remote.Shard // what each says of the gallery that all have; nil for none
}

// each calls do for all shards at the same time.
func (f *Front) each(do func(i int, s *remote.Server)) {
	var all sync.WaitGroup
	for i, s := range f.shards {
		all.Go(func() { do(i, s) })
	}
	all.Wait()
}

// survey asks all shards for their newest gallery, and for the others that shards have, until
// there is one that all have, of the highest version.
func (f *Front) survey(ctx context.Context) survey {
	out := survey{reasons: make([]string, len(f.shards))}
	newest := f.describe(ctx, wire.Hash{}, out.reasons)
	var books []*remote.Shard
	for _, d := range newest {
		if d != nil && !slices.ContainsFunc(books, func(b *remote.Shard) bool { return b.Codebook == d.Codebook }) {
			books = append(books, d)
		}
	}
	if slices.Contains(newest, nil) {
		return out
	}
	slices.SortFunc(books, func(a, b *remote.Shard) int {
		return cmp.Or(cmp.Compare(b.Version, a.Version), bytes.Compare(a.Codebook[:], b.Codebook[:]))
	})
	var first []string // why the newest is not served
	for _, book := range books {
		reasons := make([]string, len(f.shards))
		all := newest
		if len(books) > 1 {
			all = f.describe(ctx, book.Codebook, reasons)
		}
		if !slices.Contains(all, nil) {
			differences(all, reasons)
		}
		if !slices.ContainsFunc(reasons, func(r string) bool { return r != "" }) {
			out.agreed = all
			return out
		}
		if first == nil {
			first = reasons
		}
	}
	out.reasons = first
	return out
}

// describe asks each shard for the gallery of a codebook, or the newest. The result is nil for a
// shard that has none, and then the reason says why.
func (f *Front) describe(ctx context.Context, codebook wire.Hash, reasons []string) []*remote.Shard {
	all := make([]*remote.Shard, len(f.shards))
	// A description is short: a shard that takes longer for it does not answer.
	ctx, cancel := context.WithTimeout(ctx, f.settings.Remote.Stall/2)
	defer cancel()
	f.each(func(i int, s *remote.Server) {
		d, err := s.DescribeShard(ctx, codebook)
		switch {
		case err != nil:
			reasons[i] = reason(err)
		case d.Index != i+1 || d.Count != len(f.shards):
			reasons[i] = fmt.Sprintf("it is shard %d of %d", d.Index, d.Count)
		default:
			all[i] = d
		}
	})
	return all
}

// differences sets the reasons of shards that do not have what the first one has.
func differences(all []*remote.Shard, reasons []string) {
	a := all[0]
	for i, b := range all {
		if a.Version != b.Version || a.Whole != b.Whole || !bytes.Equal(a.Checksum, b.Checksum) || a.Map != b.Map ||
			a.Base[wire.Float32] != b.Base[wire.Float32] || a.Base[wire.Int8] != b.Base[wire.Int8] {
			reasons[i] = "it has other rows, another base sample or another map than shard 1"
		}
	}
}

// Reasons why a shard cannot be used.
const (
	reasonStale  = "it has another gallery"
	reasonWrong  = "what it answers is not what is due"
	reasonSilent = "it does not answer"
)

// reason says in our words why a shard could not be used. What the shard says itself is not part
// of them: it may hold something of a request.
func reason(err error) string {
	if refused, ok := errors.AsType[*remote.RefusedError](err); ok {
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			return "it does not let us in"
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			return "it is busy or not ready"
		}
		return fmt.Sprintf("it refuses with status %d", refused.Status)
	}
	switch {
	case errors.Is(err, remote.ErrStale):
		return reasonStale
	case errors.Is(err, remote.ErrCertificate):
		return "this front end does not trust its certificate"
	case errors.Is(err, remote.ErrRefused): // over TLS
		return "it does not let us in"
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return reasonSilent
	}
	return reasonWrong
}

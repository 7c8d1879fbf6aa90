package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// mostManifest is the longest manifest, that of a hundred million slots.
const mostManifest = 256 << 20

// Names of what is kept of mode sealed, in messages and of files.
const (
	manifestName    = "manifest"
	hintName        = "hint"
	idsName         = "ids"
	sealedMapName   = "sealed-map"
	recordsHintName = "records-hint"
)

// SealedManifest returns the manifest of mode sealed. With Settings.Epoch it returns that of
// the epoch, from the cache where it is there, and otherwise the one that the server has now.
// Errors are ErrEpoch where the server has another one than that of the Settings,
// ErrUnreachable, ErrResponse, ErrTooLong and ErrRefused.
func (s *Server) SealedManifest(ctx context.Context) (*wire.SealedManifest, error) {
	want := s.settings.Epoch
	if want != (wire.Hash{}) {
		if m, err := s.manifest(want); err == nil {
			return m, nil
		}
	}
	m := new(wire.SealedManifest)
	o := &order{what: manifestName, path: "/v1/sealed/manifest", asked: want, frame: true, most: mostManifest, check: m.UnmarshalBinary}
	if want != (wire.Hash{}) {
		o.query = ofEpoch(want)
	}
	got := new(received)
	if err := s.fetch(ctx, o, got); err != nil {
		return nil, err
	}
	hash, err := m.Hash()
	if err != nil {
		return nil, fmt.Errorf("remote: %w: %w", ErrResponse, err)
	}
	if want != (wire.Hash{}) && hash != want {
		return nil, &EpochError{Asked: want, Current: hash}
	}
	s.cache.write(hash, manifestName, got.data)
	s.keepManifest(hash, m, int64(len(got.data)))
	return m, nil
}

// errOther is for a message that goes with another epoch, or another size, than it should.
var errOther = errors.New("it belongs to another epoch")

// manifest returns the manifest of an epoch, which this Server has seen or the cache holds.
func (s *Server) manifest(epoch wire.Hash) (*wire.SealedManifest, error) {
	if m, ok := s.manifests.find(epoch); ok {
		return m, nil
	}
	m := new(wire.SealedManifest)
	body, ok := s.cache.read(epoch, manifestName, mostManifest, s.Room(), func(body []byte) error {
		if err := m.UnmarshalBinary(body); err != nil {
			return err
		}
		if own, err := m.Hash(); err != nil || own != epoch {
			return errOther
		}
		return nil
	})
	if !ok {
		return nil, fmt.Errorf("remote: %w than any that was fetched: call SealedManifest first", ErrEpoch)
	}
	s.keepManifest(epoch, m, int64(len(body)))
	return m, nil
}

// keepManifest puts a manifest on the shelf, and counts it.
func (s *Server) keepManifest(epoch wire.Hash, m *wire.SealedManifest, length int64) {
	if gone, ok := s.manifests.add(epoch, m); ok {
		s.memory.hold(ofHash(manifestName, gone), 0)
	}
	s.memory.hold(ofHash(manifestName, epoch), heldFrame*length)
}

// ofEpoch names an epoch, so that everything is of one version.
func ofEpoch(epoch wire.Hash) url.Values {
	return url.Values{"epoch": {hex.EncodeToString(epoch[:])}}
}

// SealedHint returns the hint of an epoch, at the given version or a later one. A copy in
// the cache is taken where it is as new as that. The epoch is one whose manifest
// SealedManifest has returned, or the cache holds. Errors are ErrEpoch for any other, and
// those of SealedManifest.
func (s *Server) SealedHint(ctx context.Context, epoch wire.Hash, version uint64) (*wire.SealedHint, error) {
	m, err := s.manifest(epoch)
	if err != nil {
		return nil, err
	}
	hint := new(wire.SealedHint)
	err = s.newEnough(ctx, version, func() uint64 { return hint.Version }, &order{
		what: hintName, path: "/v1/sealed/hint", query: ofEpoch(epoch), asked: epoch, frame: true, most: m.MaxHintBytes(), long: true,
		check: func(body []byte) error {
			if err := hint.UnmarshalBinary(body); err != nil {
				return err
			}
			if hint.Epoch != epoch || hint.Rows != m.Length {
				return errOther
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return hint, nil
}

// SealedIDs returns the row numbers of an epoch, at the given version or a later one. The
// epoch, the cache and errors are as for SealedHint.
func (s *Server) SealedIDs(ctx context.Context, epoch wire.Hash, version uint64) (*wire.SealedIDs, error) {
	m, err := s.manifest(epoch)
	if err != nil {
		return nil, err
	}
	ids := new(wire.SealedIDs)
	err = s.newEnough(ctx, version, func() uint64 { return ids.Version }, &order{
		what: idsName, path: "/v1/sealed/ids", query: ofEpoch(epoch), asked: epoch, frame: true, exact: m.IDsBytes(), most: m.IDsBytes(), long: true,
		check: func(body []byte) error {
			if err := ids.UnmarshalBinary(body); err != nil {
				return err
			}
			if ids.Epoch != epoch {
				return errOther
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// newEnough gets what an order says, from the cache where it has the given version.
func (s *Server) newEnough(ctx context.Context, version uint64, has func() uint64, o *order) error {
	if err := s.kept(ctx, o); err != nil || has() >= version {
		return err
	}
	s.cache.forget(o.asked, o.what)
	if err := s.kept(ctx, o); err != nil || has() >= version {
		return err
	}
	return wrong(o, "it is older than an answer of the server")
}

// ForgetSealed removes the hint and the row numbers of an epoch from the cache. A caller does so
// where they are of no use: a server that was set back to an earlier version of its gallery has
// neither their version nor changes that lead from it.
func (s *Server) ForgetSealed(epoch wire.Hash) {
	s.cache.forget(epoch, hintName)
	s.cache.forget(epoch, idsName)
}

// SealedChanges returns what differs between two versions of an epoch. They are public: an
// answer names its version. Errors are ErrChanges where the server does not keep them, and
// those of SealedHint.
func (s *Server) SealedChanges(ctx context.Context, epoch wire.Hash, since, to uint64) (*wire.SealedChanges, error) {
	m, err := s.manifest(epoch)
	if err != nil {
		return nil, err
	}
	query := ofEpoch(epoch)
	query.Set("since", strconv.FormatUint(since, 10))
	query.Set("to", strconv.FormatUint(to, 10))
	changes := new(wire.SealedChanges)
	o := &order{
		what: "changes", path: "/v1/sealed/changes", query: query, asked: epoch, frame: true, most: m.MaxChangesBytes(),
		check: func(body []byte) error {
			if err := changes.UnmarshalBinary(body); err != nil {
				return err
			}
			if changes.Epoch != epoch || changes.Since != since || changes.Version != to {
				return errors.New("these are changes between other versions")
			}
			return nil
		},
	}
	err = s.fetch(ctx, o, new(received))
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Type == typeNoChanges {
		return nil, fmt.Errorf("remote: %w", ErrChanges)
	}
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// SealedMap returns the map that takes a row of features to where it is in the space of an
// epoch, nil where rows are there as they are. The manifest has its hash: where the epoch is
// confirmed, so is the map. The epoch and errors are as for SealedHint, and those of Map.
func (s *Server) SealedMap(ctx context.Context, epoch wire.Hash) (*supervised.Guarded, error) {
	manifest, err := s.manifest(epoch)
	if err != nil {
		return nil, err
	}
	if manifest.Map == (wire.Hash{}) {
		return nil, nil
	}
	var m *supervised.Guarded
	if err := s.kept(ctx, &order{
		what: sealedMapName, path: "/v1/map", query: ofEpoch(epoch), asked: epoch, most: mostMap,
		check: func(body []byte) (err error) {
			if sha256.Sum256(body) != manifest.Map {
				return errors.New("its hash is not that of the manifest")
			}
			m, err = openMap(body, manifest.Dimension)
			return err
		},
	}); err != nil {
		return nil, err
	}
	return m, nil
}

// SealedAsk sends a request of mode sealed. The same bytes are sent at each try. The epoch of
// the request and errors are as for SealedHint. What has come is an answer of the right
// length and epoch: the Rank of package retrieval/sealed/client looks at the rest.
func (s *Server) SealedAsk(ctx context.Context, request *wire.SealedRequest) (*wire.SealedAnswer, error) {
	if request == nil {
		return nil, fmt.Errorf("remote: %w: there is none", wire.ErrMessage)
	}
	m, err := s.manifest(request.Epoch)
	if err != nil {
		return nil, err
	}
	return s.sealed(ctx, "/v1/sealed/ask", request, m.AnswerBytes())
}

// sealed sends ciphertexts and returns the answer, which has the given length.
func (s *Server) sealed(ctx context.Context, path string, request *wire.SealedRequest, size int64) (*wire.SealedAnswer, error) {
	message, err := request.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	answer := new(wire.SealedAnswer)
	o := &order{
		what: "answer", path: path, body: message, asked: request.Epoch, frame: true, exact: size, most: size,
		check: func(body []byte) error {
			if err := answer.UnmarshalBinary(body); err != nil {
				return err
			}
			if answer.Epoch != request.Epoch || answer.Count != request.Count {
				return errors.New("it belongs to another request")
			}
			return nil
		},
	}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	return answer, nil
}

package remote

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// mostRecords is the longest manifest of records, which is some numbers.
const mostRecords = 1 << 12

// SealedRecords returns the manifest of the records of an epoch, as the server has them now.
// It is not kept: a gallery that grows gets other records. Errors are as for SealedHint.
func (s *Server) SealedRecords(ctx context.Context, epoch wire.Hash) (*wire.SealedRecords, error) {
	m := new(wire.SealedRecords)
	o := &order{what: "manifest of records", path: "/v1/sealed/records/manifest", asked: epoch, frame: true, most: mostRecords, check: m.UnmarshalBinary}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	if m.Gallery != epoch {
		return nil, &EpochError{Asked: epoch, Current: m.Gallery}
	}
	return m, nil
}

// SealedRecordsHint returns the hint of records, which the cache keeps by their epoch. Errors
// are as for SealedHint.
func (s *Server) SealedRecordsHint(ctx context.Context, records *wire.SealedRecords) (*wire.SealedHint, error) {
	epoch, err := records.Hash()
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	hint := new(wire.SealedHint)
	size := records.HintBytes()
	if err := s.kept(ctx, &order{
		what: recordsHintName, path: "/v1/sealed/records/hint", query: ofEpoch(epoch), asked: epoch, frame: true, exact: size, most: size, long: true,
		check: func(body []byte) error {
			if err := hint.UnmarshalBinary(body); err != nil {
				return err
			}
			if hint.Epoch != epoch || hint.Rows != records.MatrixRows() {
				return errOther
			}
			return nil
		},
	}); err != nil {
		return nil, err
	}
	return hint, nil
}

// SealedFetch sends a request for records, of at most sealed.MaxFetches ciphertexts. The same
// bytes are sent at each try. Errors are as for SealedHint.
func (s *Server) SealedFetch(ctx context.Context, records *wire.SealedRecords, request *wire.SealedRequest) (*wire.SealedAnswer, error) {
	if request == nil || records == nil {
		return nil, fmt.Errorf("remote: %w: there is none", wire.ErrMessage)
	}
	if err := records.Check(); err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	return s.sealed(ctx, "/v1/sealed/records/fetch", request, records.AnswerBytes(request.Count))
}

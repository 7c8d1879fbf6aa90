package server

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/usage"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// recordWidth is how many bytes of a word of a fetch are sent: all of them, because rounding
// would be an error of bytes.
const recordWidth = 4

// RecordsSettings say how records are stored. The zero value is fine.
type RecordsSettings struct {
	// Rows is the number of rows of the gallery. Fewer or more records are refused; 0 takes any
	// number.
	Rows int
	// PerColumn is how many records a column of the matrix has. 0 means the least that makes
	// at most scheme.MaxRecordColumns columns: 1 up to half a million records, then 2. More make
	// the requests of clients shorter, and the hint and the answers longer.
	PerColumn int
	// Workers compute the hint and answers; nil computes in the caller. They are lent: whoever
	// started them stops them.
	Workers *par.Workers
	// Progress is told how far the stages "records" and "hint" are, unless it is nil.
	Progress func(stage string, done, total int)
}

// Records are the records of the rows of a gallery, such as their texts, for clients that fetch
// some of them. A client sends the choice of a record under encryption and the server multiplies
// all records into it: the server learns how many records are fetched, and nothing about
// which. Every record is padded to the length of the longest one, which all clients know.
//
// All records are kept in memory, and every pass reads all of them: a million records of 4 KB are passes of 4 GB, which the requests of a
// Shared have in common. For n records of b bytes, p of them a column, b + 2 bytes each when
// padded:
//
//	hint, once        5,632 p (b + 2) bytes
//	up, a fetch       4 n / p bytes
//	down, a fetch     4 p (b + 2) bytes
//
// Records are not protected: whoever may fetch can fetch any of them, or sums of many. They do
// not change: when the gallery has grown, make new ones. All methods but SetWorkers may be called
// concurrently.
type Records struct {
	manifest wire.SealedRecords
	epoch    wire.Hash
	matrix   *matrix
	hint     []uint32
	workers  *par.Workers

	calls    usage.Calls    // that read what Close takes away
	file     *sections.File // nil if NewRecords made them
	closing  sync.Once
	closeErr error
}

// NewRecords stores records, the record of row i of a gallery being number i. The sequence is
// read twice, first for the lengths: Lines returns such a one. A record has at most
// 4096 bytes. The gallery is named by its epoch. Errors are ErrGallery, which names the
// record or what is wrong with all of them, ErrMemory before memory is taken, that of the
// sequence and that of ctx.
func NewRecords(ctx context.Context, gallery wire.Hash, records iter.Seq2[[]byte, error], s RecordsSettings) (*Records, error) {
	shape, err := surveyRecords(ctx, gallery, records, &s)
	if err != nil {
		return nil, err
	}
	rows, columns := shape.MatrixRows(), shape.Columns()
	empty := &matrix{rows: rows, columns: columns, padded: paddedRows(rows)}
	what := fmt.Sprintf("a set of %d records of %d bytes", shape.Records, shape.Length)
	if err := checkMemory(what, panelBytes(rows, columns)+empty.hintBytes()); err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	report := s.Progress
	if report == nil {
		report = func(string, int, int) {}
	}
	r := &Records{matrix: newMatrix(rows, columns), workers: s.Workers}
	if err := fillRecords(ctx, r.matrix, shape, records, func(done, total int) { report("records", done, total) }); err != nil {
		return nil, err
	}
	r.manifest = *shape
	if r.epoch, err = shape.Hash(); err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	r.hint, err = r.matrix.hint(ctx, r.workers, scheme.NewMatrix(r.epoch), func(done, total int) { report("hint", done, total) })
	if err != nil {
		return nil, fmt.Errorf("sealed server: hint of records: %w", err)
	}
	return r, nil
}

// SetWorkers lends workers for the answers of records that were opened from a file. It is called
// before any of them.
func (r *Records) SetWorkers(workers *par.Workers) { r.workers = workers }

// Manifest returns what clients must know about the records. It is the caller's to keep.
func (r *Records) Manifest() *wire.SealedRecords {
	out := r.manifest
	return &out
}

// Epoch returns the hash of the manifest.
func (r *Records) Epoch() wire.Hash { return r.epoch }

// Hint returns what clients need to decrypt answers. It must not be changed, and of records that
// were opened from a file it is gone when they are closed: whoever uses it calls Hold before.
func (r *Records) Hint() *wire.SealedHint {
	return &wire.SealedHint{Epoch: r.epoch, Rows: r.matrix.rows, Words: r.hint}
}

// CheckRequest returns nil for a request that Answer answers, ErrQuestion or ErrEpoch.
func (r *Records) CheckRequest(request *wire.SealedRequest) error {
	if err := r.checkRequest(request); err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	return nil
}

func (r *Records) checkRequest(request *wire.SealedRequest) error {
	return r.matrix.checkRequest(request, r.epoch, recordWidth, 1, scheme.MaxFetches)
}

// Answer answers requests of 1 to scheme.MaxFetches ciphertexts each, all in one pass over the
// records. The time that it takes depends on their number alone. Errors are ErrQuestion and
// ErrEpoch, which name the request, ErrMemory, ErrClosed and that of ctx; then none is answered.
func (r *Records) Answer(ctx context.Context, requests ...*wire.SealedRequest) ([]*wire.SealedAnswer, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.calls.End()
	for i, request := range requests {
		if err := r.checkRequest(request); err != nil {
			return nil, fmt.Errorf("sealed server: request %d: %w", i, err)
		}
	}
	answers, err := r.matrix.answers(ctx, r.workers, requests)
	if err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	return answers, nil
}

// Holds reports whether a sequence has the records that r was made of, byte for byte: whether a file
// of them is still the one to serve. It reads the sequence once. Errors are that of the sequence
// and that of ctx.
func (r *Records) Holds(ctx context.Context, records iter.Seq2[[]byte, error]) (bool, error) {
	n, p := 0, newPadder(&r.manifest)
	for record, err := range records {
		switch {
		case err != nil:
			return false, err
		case n%lookEvery == 0 && ctx.Err() != nil:
			return false, ctx.Err()
		case n == r.manifest.Records || !p.fits(record): // more are not read
			return false, nil
		}
		p.pad(record)
		n++
	}
	return p.sum() == r.manifest.Contents, nil
}

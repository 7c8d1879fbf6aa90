package client

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// fetchWidth is how many bytes of a word of a fetch are sent: all of them, because rounding
// would make wrong bytes.
const fetchWidth = 4

// RecordsSettings are settings of a client that fetches records. Gallery and one of Epoch and
// UnconfirmedEpoch are needed.
type RecordsSettings struct {
	// Gallery is the epoch of the gallery whose matches are fetched: Client.Epoch.
	Gallery wire.Hash
	// Epoch is the hash of the manifest of the records, from a second path, as for Settings.
	Epoch wire.Hash
	// UnconfirmedEpoch goes without that hash. The server may then know the client by the hash
	// that its requests hold. Which records are fetched stays hidden all the same.
	UnconfirmedEpoch bool
	// Workers is how many goroutines a call of Fetch or Open uses; 0 means GOMAXPROCS.
	Workers int
}

// Records fetch records of the rows of a gallery without disclosing which: the server sees how
// many are fetched, and nothing else. A fetch encrypts the choice of a record, in as many words as
// the matrix of the records has columns, under a secret of its own; see package
// retrieval/sealed. A record is wrong with a chance below 1e-39 (scheme.RecordFailure).
//
// How many records are fetched is not hidden, and neither is when. So a client that shows k
// matches always fetches k, with wire.Padding for those that are missing, and does so whatever
// the matches are. It is safe for concurrent use.
type Records struct {
	manifest wire.SealedRecords
	epoch    wire.Hash
	matrix   *scheme.Matrix
	hint     [][]uint32
	workers  int
	seeds    io.Reader // of secrets
}

// NewRecords returns a client of the records that a manifest is about. The words of the hint are
// kept and not copied: nobody may change them afterwards.
//
// Errors are wire.ErrMessage for an invalid message, and ErrEpoch for records of another
// gallery, a manifest that does not have the hash expected, when no hash is expected and
// UnconfirmedEpoch does not say so, and for a hint of another epoch. All of them depend on
// public values alone.
func NewRecords(manifest *wire.SealedRecords, hint *wire.SealedHint, s RecordsSettings) (*Records, error) {
	if manifest == nil || hint == nil {
		return nil, fmt.Errorf("client: %w: there is no manifest of records, or no hint", ErrEpoch)
	}
	hash, err := confirmRecords(manifest, s)
	if err != nil {
		return nil, err
	}
	if err := hint.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if hint.Epoch != hash || hint.Rows != manifest.MatrixRows() || hint.Version != 0 {
		return nil, fmt.Errorf("client: the hint of records: %w", ErrEpoch)
	}
	return &Records{
		manifest: *manifest, epoch: hash, matrix: scheme.NewMatrix(hash),
		hint: slices.Collect(slices.Chunk(hint.Words, scheme.SecretWords)), workers: s.Workers, seeds: entropy.System{},
	}, nil
}

// confirmRecords returns the hash of a manifest of the gallery that is expected.
func confirmRecords(manifest *wire.SealedRecords, s RecordsSettings) (hash wire.Hash, err error) {
	if hash, err = manifest.Hash(); err != nil {
		return hash, fmt.Errorf("client: %w", err)
	}
	switch {
	case manifest.Length < scheme.RecordPrefix:
		return hash, fmt.Errorf("client: %w", &wire.Error{Field: "length", Detail: fmt.Sprintf("%d, want at least %d", manifest.Length, scheme.RecordPrefix), Err: wire.ErrMessage})
	case manifest.Gallery != s.Gallery:
		return hash, fmt.Errorf("client: the records: %w: they are those of another gallery", ErrEpoch)
	}
	return hash, confirmHash(hash, s.Epoch, s.UnconfirmedEpoch)
}

// Epoch returns the hash of the manifest of the records.
func (r *Records) Epoch() wire.Hash { return r.epoch }

// Fetch encrypts the choice of records, by the numbers of their rows (Match.ID), for one
// request: as many ciphertexts as there are numbers, 1 to scheme.MaxFetches, each with a fresh
// secret from the operating system. wire.Padding is the number of a dummy, which nobody but
// the client can tell from another fetch. The public matrix is computed once for all of them.
//
// Errors are ErrRecord for too few or too many numbers, and those of the context and of the
// source of randomness. A number that no record has is no error here: numbers come from
// the server, under encryption or not, and a fetch that is not sent tells it something. In its
// place a dummy is fetched, and Open returns ErrRecord when the answer is there.
func (r *Records) Fetch(ctx context.Context, ids []uint32) (*Fetching, error) {
	if len(ids) < 1 || len(ids) > scheme.MaxFetches {
		return nil, fmt.Errorf("client: %w: %d records to fetch, want 1 to %d", ErrRecord, len(ids), scheme.MaxFetches)
	}
	plain := newChoices(&r.manifest, ids)
	ciphers, err := newCiphertexts(r.seeds, len(ids), r.manifest.Columns(), fetchWidth, plain)
	if err != nil {
		plain.forget()
		return nil, err
	}
	f := &Fetching{request: ciphers.request(r.epoch), secret: &fetchSecret{sealed: ciphers, choices: plain}}
	workers := par.New(r.workers)
	defer workers.Close()
	if err := encrypt(ctx, workers, r.matrix, []*ciphertexts{ciphers}); err != nil {
		f.Forget()
		return nil, err
	}
	return f, nil
}

// Open decrypts the answer to a request and returns the records, in the order of the numbers.
// A dummy gives nil, and an empty record an empty slice that is not nil.
//
// Errors that depend on public values come before anything is decrypted, without records:
// ErrAnswer and wire.ErrMessage for an answer to another question, and ErrAnswer for a request
// whose secrets were overwritten. After that the same steps are done whatever the answer says.
// At their end, what is no record is nil in the result, and the error says which: it matches
// ErrRecord where there is no record of a number, and wire.ErrMessage where the length of a record is
// impossible: the server does not hold what it says, or lies. All others are there. Nothing that the
// server can see may depend on such an error: least of all is the record fetched again.
func (r *Records) Open(f *Fetching, answer *wire.SealedAnswer) ([][]byte, error) {
	if err := r.checkAnswer(f, answer); err != nil {
		return nil, err
	}
	f.secret.mu.RLock()
	defer f.secret.mu.RUnlock()
	if f.secret.forgotten {
		return nil, fmt.Errorf("client: %w", errForgotten)
	}
	workers := par.New(r.workers)
	defer workers.Close()
	words, err := f.secret.sealed.decrypt(workers, r.hint, answer.Words)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return f.secret.choices.records(words, r.manifest.Length)
}

// checkAnswer looks at what is public of an answer.
func (r *Records) checkAnswer(f *Fetching, answer *wire.SealedAnswer) error {
	if f == nil || f.secret == nil || answer == nil {
		return fmt.Errorf("client: %w: there is none", ErrAnswer)
	}
	if err := answer.Check(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if f.request.Epoch != r.epoch || answer.Epoch != r.epoch || answer.Version != 0 || answer.Count != f.request.Count || answer.Rows != r.manifest.MatrixRows() {
		return fmt.Errorf("client: %w", ErrAnswer)
	}
	return nil
}

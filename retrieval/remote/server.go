package remote

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Limits of what no codebook announces.
const (
	mostCodebook = 64 << 20
	mostMap      = 256 << 20
)

// A Server is a server at an address. It is safe for concurrent use.
type Server struct {
	address     *url.URL
	settings    Settings
	connections connections
	http        *http.Client
	cache       cache
	pause       func(ctx context.Context, d time.Duration) error

	memory    memory
	books     shelf[*wire.Codebook]
	manifests shelf[*wire.SealedManifest]
}

var _ client.Transport = (*Server)(nil)

// New returns the server at an address such as https://gallery.example or
// http://127.0.0.1:8480. Nothing is sent yet. The error is ErrSettings.
func New(address string, settings Settings) (*Server, error) {
	u, err := checkAddress(address, &settings)
	if err != nil {
		return nil, err
	}
	if settings.Stall == 0 {
		settings.Stall = defaultStall
	}
	if settings.Tries == 0 {
		settings.Tries = defaultTries
	}
	if settings.Wait == 0 {
		settings.Wait = defaultWait
	}
	if settings.Warn == nil {
		settings.Warn = func(error) {}
	}
	if settings.Cache != "" {
		disk.RemoveLeft(settings.Cache+string(filepath.Separator), disk.NewFile)
	}
	s := &Server{address: u, settings: settings, pause: pause, cache: cache{folder: settings.Cache, warn: settings.Warn}}
	s.http = newHTTPClient(&settings, &s.connections)
	return s, nil
}

// Close closes all connections, and calls that are under way fail. A later call opens another one.
//
// A server sees when a connection ends, be it with the process. So whoever does something with
// what has come that takes a time that depends on private rows, such as client.All.Rank, calls
// Close before.
func (s *Server) Close() {
	s.http.CloseIdleConnections() // also those that are about to be
	s.connections.close()
}

// Codebook implements client.Transport. With Settings.Codebook it returns that codebook,
// from the cache where it is there, and otherwise the one that the server has now. Errors
// are ErrStale where the server has another one than that of the Settings, ErrUnreachable,
// ErrResponse, ErrTooLong and ErrRefused.
func (s *Server) Codebook(ctx context.Context) (*wire.Codebook, error) {
	return s.codebook(ctx, s.settings.Codebook)
}

// codebook returns the codebook of a hash, or the one that the server has now.
func (s *Server) codebook(ctx context.Context, want wire.Hash) (*wire.Codebook, error) {
	if want != (wire.Hash{}) {
		if book, err := s.known(want); err == nil {
			return book, nil
		}
	}
	book := new(wire.Codebook)
	o := &order{what: "codebook", path: "/v1/codebook", asked: want, frame: true, most: mostCodebook, check: book.UnmarshalBinary}
	if want != (wire.Hash{}) {
		o.query = ofCodebook(want)
	}
	got := new(received)
	if err := s.fetch(ctx, o, got); err != nil {
		return nil, err
	}
	hash, err := book.Hash()
	if err != nil {
		return nil, fmt.Errorf("remote: %w: %w", ErrResponse, err)
	}
	if want != (wire.Hash{}) && hash != want {
		return nil, &StaleError{Asked: want, Current: hash}
	}
	s.cache.write(hash, "codebook", got.data)
	s.keepBook(hash, book, int64(len(got.data)))
	return book, nil
}

// known returns the codebook of a hash, which this Server has seen or the cache holds.
func (s *Server) known(hash wire.Hash) (*wire.Codebook, error) {
	if book, ok := s.books.find(hash); ok {
		return book, nil
	}
	book := new(wire.Codebook)
	body, ok := s.cache.read(hash, "codebook", mostCodebook, s.Room(), func(body []byte) error {
		if err := book.UnmarshalBinary(body); err != nil {
			return err
		}
		if own, err := book.Hash(); err != nil || own != hash {
			return wire.ErrCodebook
		}
		return nil
	})
	if !ok {
		return nil, fmt.Errorf("remote: %w than any that was fetched: call Codebook first", wire.ErrCodebook)
	}
	s.keepBook(hash, book, int64(len(body)))
	return book, nil
}

// keepBook puts a codebook on the shelf, and counts it.
func (s *Server) keepBook(hash wire.Hash, book *wire.Codebook, length int64) {
	if gone, ok := s.books.add(hash, book); ok {
		s.memory.hold(ofHash("codebook", gone), 0)
	}
	s.memory.hold(ofHash("codebook", hash), heldFrame*length)
}

// Base implements client.Transport. The codebook is one that Codebook has returned, or the
// cache holds. Errors are wire.ErrCodebook for any other, and those of Codebook.
func (s *Server) Base(ctx context.Context, codebook wire.Hash, encoding wire.Encoding) (*wire.Base, error) {
	if err := encoding.Check(); err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	book, err := s.known(codebook)
	if err != nil {
		return nil, err
	}
	base := new(wire.Base)
	o := &order{
		what: baseName(encoding), path: "/v1/base", query: ofEncoding(codebook, encoding), asked: codebook, frame: true,
		most: book.BaseBytes(encoding, book.Rows),
		check: func(body []byte) error {
			if err := base.UnmarshalBinary(body); err != nil {
				return err
			}
			if base.Encoding != encoding {
				return client.ErrAnswer
			}
			return client.CheckBase(book, codebook, base)
		},
	}
	if err := s.kept(ctx, o); err != nil {
		return nil, err
	}
	return base, nil
}

// Gallery implements client.Transport. The codebook and errors are as for Base.
func (s *Server) Gallery(ctx context.Context, codebook wire.Hash) (*wire.AllRows, error) {
	book, err := s.known(codebook)
	if err != nil {
		return nil, err
	}
	gallery := new(wire.AllRows)
	size := book.AllRowsBytes()
	o := &order{
		what: rowsName, path: "/v1/rows", query: ofCodebook(codebook), asked: codebook, frame: true,
		exact: size, most: size, long: true,
		check: func(body []byte) error {
			if err := gallery.UnmarshalBinary(body); err != nil {
				return err
			}
			// Before it is kept: a gallery that no client takes would stay in the cache.
			_, err := client.NewAll(book, client.AllSettings{Codebook: codebook}, gallery)
			return err
		},
	}
	if err := s.kept(ctx, o); err != nil {
		return nil, err
	}
	return gallery, nil
}

// Names of what is kept, in messages and of files.
const (
	rowsName = "rows"
	mapName  = "map"
)

func baseName(encoding wire.Encoding) string { return "base-" + encoding.String() }

// Map returns the map that takes a row of features to where it is in the spaces of the
// server, nil where rows are there as they are. The codebook and errors are as for Base, and
// supervised.ErrRange with ErrResponse for a map that must not be applied to private rows.
func (s *Server) Map(ctx context.Context, codebook wire.Hash) (*supervised.Guarded, error) {
	book, err := s.known(codebook)
	if err != nil {
		return nil, err
	}
	var m *supervised.Guarded
	o := &order{
		what: mapName, path: "/v1/map", query: ofCodebook(codebook), asked: codebook, most: mostMap,
		check: func(body []byte) (err error) {
			if len(body) == 0 { // as the cache keeps that there is none
				m = nil
				return nil
			}
			m, err = openMap(body, book.Dimension)
			return err
		},
	}
	err = s.kept(ctx, o)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Type == typeNotOffered {
		s.cache.write(codebook, o.what, nil)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// openMap reads a map to rows of the given length, for private rows.
func openMap(body []byte, columns int) (*supervised.Guarded, error) {
	m := new(supervised.Map)
	if err := json.Unmarshal(body, m); err != nil {
		return nil, errors.New("it is no map")
	}
	if m.Columns() != columns {
		return nil, fmt.Errorf("it leads to %d columns, and %d are due", m.Columns(), columns)
	}
	return m.Guard()
}

// Cells implements client.Transport. The codebook of the request and errors are as for
// Base. What has come is the answer to some request: client.Cells.Rank reports whether it is
// the answer to this one.
func (s *Server) Cells(ctx context.Context, request *wire.CellsRequest, encoding wire.Encoding) (*wire.CellsAnswer, error) {
	if request == nil {
		return nil, fmt.Errorf("remote: %w: there is none", wire.ErrMessage)
	}
	if err := encoding.Check(); err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	message, err := request.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	book, err := s.known(request.Codebook)
	if err != nil {
		return nil, err
	}
	size := book.AnswerBytes(encoding)
	answer := new(wire.CellsAnswer)
	o := &order{
		what: "answer", path: "/v1/cells", query: url.Values{"encoding": {encoding.String()}}, body: message, asked: request.Codebook, frame: true,
		exact: size, most: size, check: answer.UnmarshalBinary,
	}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	return answer, nil
}

// ofCodebook names a codebook, so that everything is of one version.
func ofCodebook(codebook wire.Hash) url.Values {
	return url.Values{"codebook": {hex.EncodeToString(codebook[:])}}
}

func ofEncoding(codebook wire.Hash, encoding wire.Encoding) url.Values {
	v := ofCodebook(codebook)
	v.Set("encoding", encoding.String())
	return v
}

// kept does what an order says from the cache, or else fetches it and keeps it.
func (s *Server) kept(ctx context.Context, o *order) error {
	if body, ok := s.cache.read(o.asked, o.what, o.most, s.room(o), o.check); ok {
		s.memory.hold(o.what, o.held()*int64(len(body)))
		return nil
	}
	got := new(received)
	if o.long {
		var file *part
		file, got = s.cache.openPart(o.asked, o.what, o.most, s.room(o))
		defer file.close()
	}
	if err := s.fetch(ctx, o, got); err != nil {
		return err
	}
	s.memory.hold(o.what, o.held()*int64(len(got.data)))
	s.cache.write(o.asked, o.what, got.data)
	got.part.remove()
	return nil
}

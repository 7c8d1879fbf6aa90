package remote

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/seed-64e14a55/privatemail/internal/crc"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Shard is what a shard says of itself to a front end. Nothing in it is confirmed.
type Shard struct {
	Name         string // one line
	Codebook     wire.Hash
	Version      uint64
	Index, Count int // from 1 on
	First, Rows  int
	Length       int                     // of its lists
	Whole        wire.Hash               // SHA-256 of all rows of the gallery as a message
	Checksum     []byte                  // at the end of that message
	Base         map[wire.Encoding]Bytes // the base samples
	Map          Bytes                   // zero where there is none
	Own          wire.Hash               // SHA-256 of the rows of the shard as a message
}

// Bytes say how long a message is, and what its SHA-256 is.
type Bytes struct {
	Hash   wire.Hash
	Length int64
}

// DescribeShard asks a shard which rows of which gallery it has: that of a codebook, or the newest
// where the hash is zero. Errors are those of Codebook, and ErrResponse for a server that is no
// shard.
func (s *Server) DescribeShard(ctx context.Context, codebook wire.Hash) (*Shard, error) {
	var d *Shard
	o := &order{what: "description", path: "/v1/gallery", asked: codebook, most: mostDescription, check: func(body []byte) (err error) {
		d, err = readShard(body)
		return err
	}}
	if codebook != (wire.Hash{}) {
		o.query = ofCodebook(codebook)
	}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	if codebook != (wire.Hash{}) && d.Codebook != codebook {
		return nil, &StaleError{Asked: codebook, Current: d.Codebook}
	}
	return d, nil
}

// readShard reads the JSON form.
func readShard(body []byte) (*Shard, error) {
	var in struct {
		Name     string `json:"name"`
		Codebook string `json:"codebook"`
		Version  uint64 `json:"version"`
		Bytes    struct {
			Base map[string]int64 `json:"base"`
			Map  int64            `json:"map"`
		} `json:"bytes"`
		Shard *struct {
			Index, Count, First, Rows, Length int
			Whole, Checksum, Map, Own         string
			Base                              map[string]string
		} `json:"shard"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil, errors.New("it is no description of a gallery")
	}
	if in.Shard == nil {
		return nil, errors.New("the server is no shard")
	}
	from := in.Shard
	d := &Shard{
		Name: oneLine(in.Name), Version: in.Version, Index: from.Index, Count: from.Count, First: from.First, Rows: from.Rows, Length: from.Length,
		Codebook: hashIn(in.Codebook), Whole: hashIn(from.Whole), Own: hashIn(from.Own), Base: map[wire.Encoding]Bytes{}, Map: Bytes{hashIn(from.Map), in.Bytes.Map},
	}
	var err error
	if d.Checksum, err = hex.DecodeString(from.Checksum); err != nil || len(d.Checksum) != crc.Size {
		return nil, errors.New("malformed checksum")
	}
	for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
		d.Base[encoding] = Bytes{hashIn(from.Base[encoding.String()]), in.Bytes.Base[encoding.String()]}
	}
	for _, hash := range []wire.Hash{d.Codebook, d.Whole, d.Own, d.Base[wire.Float32].Hash, d.Base[wire.Int8].Hash} {
		if hash == (wire.Hash{}) {
			return nil, errors.New("a hash is missing")
		}
	}
	if min(d.Map.Length, d.Base[wire.Float32].Length, d.Base[wire.Int8].Length) < 0 || d.Map.Length > mostMap || (d.Map.Length == 0) != (d.Map.Hash == wire.Hash{}) {
		return nil, errors.New("it has an invalid length")
	}
	return d, nil
}

// CodebookOf returns the codebook of a hash. Errors are those of Codebook.
func (s *Server) CodebookOf(ctx context.Context, hash wire.Hash) (*wire.Codebook, error) {
	return s.codebook(ctx, hash)
}

// MapBytes returns the map that goes with a codebook as its server has it, of a length and a
// SHA-256 that are known. Errors are those of Codebook.
func (s *Server) MapBytes(ctx context.Context, codebook wire.Hash, want Bytes) ([]byte, error) {
	got := new(received)
	o := &order{
		what: mapName, path: "/v1/map", query: ofCodebook(codebook), asked: codebook, exact: want.Length, most: want.Length,
		check: func(body []byte) error {
			if got.tag != hex.EncodeToString(want.Hash[:]) || !json.Valid(body) {
				return errors.New("it is another map than the one described")
			}
			return nil
		},
	}
	if err := s.fetch(ctx, o, got); err != nil {
		return nil, err
	}
	return got.data, nil
}

// ShardCells sends a shard the binary form of a wire.CellsRequest, as it came, and returns the
// lists that the shard has, in an answer of that many bytes. What has come is the answer to some
// request: the caller reports whether it is the answer to this one. Errors are those of Codebook.
func (s *Server) ShardCells(ctx context.Context, codebook wire.Hash, request []byte, encoding wire.Encoding, size int64) (*wire.CellsAnswer, error) {
	if err := encoding.Check(); err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	answer := new(wire.CellsAnswer)
	o := &order{
		what: "answer", path: "/v1/shard/cells", query: url.Values{"encoding": {encoding.String()}}, body: request, asked: codebook, frame: true,
		exact: size, most: size, check: answer.UnmarshalBinary,
	}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	return answer, nil
}

package remote

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// BasePiece fills p with what begins at offset in the base sample of an encoding, whose SHA-256 is
// known. The bytes are not checked: only the whole can be. Errors are those of Codebook, and
// ErrResponse where the server has another sample.
func (s *Server) BasePiece(ctx context.Context, codebook wire.Hash, encoding wire.Encoding, hash wire.Hash, p []byte, offset int64) error {
	return s.piece(ctx, &order{what: baseName(encoding), path: "/v1/base", query: ofEncoding(codebook, encoding), asked: codebook}, hash, p, offset)
}

// ShardRowsPiece is BasePiece for the rows of a shard.
func (s *Server) ShardRowsPiece(ctx context.Context, codebook, hash wire.Hash, p []byte, offset int64) error {
	return s.piece(ctx, &order{what: rowsName, path: "/v1/shard/rows", query: ofCodebook(codebook), asked: codebook}, hash, p, offset)
}

// piece fetches a range of a message.
func (s *Server) piece(ctx context.Context, o *order, hash wire.Hash, p []byte, offset int64) error {
	if len(p) == 0 {
		return nil
	}
	return s.retry(ctx, func() int { return 0 }, func() error { return s.tryPiece(ctx, o, hash, p, offset) })
}

func (s *Server) tryPiece(ctx context.Context, o *order, hash wire.Hash, p []byte, offset int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(s.settings.Stall, func() { cancel(errStalled) })
	defer watch.Stop()
	request, err := s.request(ctx, o, new(received))
	if err != nil {
		return err
	}
	last := offset + int64(len(p)) - 1
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, last))
	request.Header.Set("If-Range", `"`+hex.EncodeToString(hash[:])+`"`)
	response, err := s.http.Do(request)
	if err != nil {
		return failed(ctx, o, err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		return wrong(o, "the server has another one")
	default:
		return s.refused(ctx, o, new(received), response)
	}
	if err := unencoded(o, response); err != nil {
		return err
	}
	var first, end, total int64
	if n, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &end, &total); n != 3 || err != nil || first != offset || end != last {
		return wrong(o, "another part of it came than the one asked for")
	}
	for have := 0; have < len(p); {
		n, err := io.ReadFull(response.Body, p[have:min(len(p), have+pace)])
		have += n
		if err != nil {
			return failed(ctx, o, io.ErrUnexpectedEOF)
		}
		watch.Reset(s.settings.Stall)
	}
	return nil
}

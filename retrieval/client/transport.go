package client

import (
	"context"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Transport brings messages to a server and back. It sees nothing but messages: what a
// client knows of a record stays with Cells and All. Package retrieval/remote is one
// over HTTP.
//
// A Transport that tries again sends the same bytes again. It does not compress (see
// package wire). Implementations are safe for concurrent use.
type Transport interface {
	// Codebook returns the codebook of the server.
	Codebook(ctx context.Context) (*wire.Codebook, error)
	// Base returns the base sample that goes with a codebook.
	Base(ctx context.Context, codebook wire.Hash, encoding wire.Encoding) (*wire.Base, error)
	// Cells sends a request and returns its answer.
	Cells(ctx context.Context, request *wire.CellsRequest, encoding wire.Encoding) (*wire.CellsAnswer, error)
	// Gallery returns all rows of the gallery that goes with a codebook.
	Gallery(ctx context.Context, codebook wire.Hash) (*wire.AllRows, error)
}

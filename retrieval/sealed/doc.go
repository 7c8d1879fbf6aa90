// Package sealed has what both halves of mode sealed share: the public matrix, the scale and
// the bound on errors. The server scores a query that it cannot read; see retrieval/sealed/client
// and retrieval/sealed/server.
package sealed

// Package server is what runs where the gallery is. All it is given of a query is a
// message of package retrieval/wire; it does not import package retrieval/client, so no
// call can pass it a client's features or label as they are. When a message came, how
// often and from where is known to whoever receives it.
//
//	s, err := server.NewCells(ctx, features, embedding, server.CellsSettings{Epsilon: 4})
//	... // publish s.Codebook() and s.Base()
//	answer, err := s.Answer(request)
//
// # Mode paper
//
// [Paper] answers as Algorithm 1 says:
//
//	gallery u public rows, labels ──> T steps without noise ──> embedding       (once)
//	wire.Question ──> T steps over the released points ──> embedding of the client
//	the two are aligned on the public rows they share (retrieval.Align)
//	the K gallery rows nearest to every hidden row ──> wire.Matches
//
// The server is not told which hidden row is the query and answers for all. How well it
// can guess is bounded by the release, not by the dummies.
//
// # Mode cells
//
// [Cells] cuts a gallery of n rows into m cells around the centres of k-means. The
// list of a cell is the round(phi n) rows nearest to its centre; a row in no list
// joins that of its nearest centre. Lists overlap, and answers are padded to the
// longest, so that the size of their binary form tells nothing. A transport must
// compress neither requests nor answers: what is compressed is as long as its
// contents make it (see package retrieval/wire).
//
//	gallery ──> wire.Codebook (centres), wire.Base (a random sample), published   (once)
//	wire.CellsRequest ──> wire.CellsAnswer: the lists of the cells it names
//
// The server learns which cells were named; retrieval.Ceiling with one answer bounds how
// well the class of a record can be guessed from its request.
package server

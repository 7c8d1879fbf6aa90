// Package server is what runs where the gallery is. All it is given of a query is a
// message of package retrieval/wire; it does not import package retrieval/client, so no
// call can pass it a client's features or label as they are. When a message came, how
// often and from where is known to whoever receives it.
//
//	s, err := server.NewCells(ctx, model.Z, model.X, server.CellsSettings{Epsilon: 4})
//	... // publish s.Codebook() and s.Base(wire.Float32)
//	n, err := s.WriteAnswer(w, request, wire.Float32)
//
// model is one of package retrieval/supervised: cells are cut in Z, and X is what clients
// rank. Rows as they are serve for both (see package retrieval).
//
// # Mode cells
//
// [Cells] cuts a gallery of n rows into cells around the centres of k-means. The list of
// a cell is the L = round(Share n / Size) rows nearest to its centre. Every row is in some
// list: one that is in none so far joins
//
//   - whatever list is shortest, if 128 rows equal to it are in the list of its nearest
//     centre: who gets those and wants no more than 128 matches does not miss it;
//   - else the list of the nearest centre whose list is not full. A list is full at 2 L
//     rows, or at the mean length where cells are so few that it is more.
//
// Lists overlap, and answers are padded to the longest, so that the size of their binary
// form tells nothing. Of 10,000 rows, 3,000 of them equal, an answer has 1,444 places,
// and if these 3,000 are within a thousandth, 2,500; of 10,000 without a crowd 1,377
// (go test ./retrieval/server -run LengthWithCrowds -v). Rows that found the list of
// their nearest centre full are harder to find; Cells.Displaced counts them. A transport
// must compress neither requests nor answers: what is compressed is as long as its contents
// make it (see package retrieval/wire).
//
//	gallery ──> wire.Codebook (centres), wire.Base (a random sample), published   (once)
//	wire.CellsRequest ──> wire.CellsAnswer: the lists of the cells it names
//
// The answers of all cells are encoded when the server is built, if CellsSettings.Encoded
// has room for them, and WriteAnswer writes them as they are. An answer of 6.7 MB then
// takes microseconds; otherwise its rows are gathered, masked and summed for each request
// (go run ./cmd/pmbench run -suite answers). All are encoded or none, and none when it is
// first asked for: the time of an answer would otherwise tell whoever watches the line,
// who sees no request, which cells were asked for before. What time can still tell is
// said at WriteAnswer.
//
// Rows are sent as float32, or as int8 (wire.Compact): the answers of an encoding all have one
// length, and are encoded in both encodings or in none. AllRowsFrame is the whole gallery as
// int8, for clients that take all rows and ask nothing. Rows of int8 suit rows of about one length,
// such as a supervised.Map makes. Where many rows are tens of thousands of times as long as the
// others, the anchors are with these, the others can no longer be distinguished, and nothing says so:
// send float32 there.
//
// Save writes a gallery to a file, and OpenCells opens it with the same codebook: a server
// that starts again, or another one, answers what clients have paid for. All of the file is read
// into memory and its checksums are compared: an answer that came from the disk when it is first
// asked for would take longer than later, and time would tell what it should not.
//
// # Shards
//
// Cells.Split returns a part of the rows, in which everything else is that of the whole gallery:
// the codebook, the base sample, the map. Shards are blocks of the rows, one behind the other. The
// list of a cell is what the shard has of it, padded to the longest of the shard, so that an answer
// of a shard tells as little by its length as one of the whole. Whoever asks all shards for the same
// cells and puts each list together has the answer of the whole, byte by byte. Save and OpenShard
// keep a shard in a file of its own.
//
// The server learns which cells were named; mechanism.Ceiling with one answer bounds how
// well the class of a record can be guessed from its request.
package server

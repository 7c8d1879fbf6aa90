// Package retrieval is private retrieval: a client has a labelled row of features
// that it will not show, a server a gallery of such rows, and the client wants
// those nearest to its own. There are three modes:
//
//	cells      the server sees a set of cells, epsilon-private by the client's own choice
//	all        the server sees that all rows were taken, and the client ranks them at home
//	sealed     the server sees a query under encryption
//
//	model, err := supervised.Fit(ctx, engine, rows, labels, nil)  // at the server
//	s, err := server.NewCells(ctx, model.Z, model.X, server.CellsSettings{Epsilon: 4})
//	... // publish model.Map, s.Codebook() and s.Base(wire.Float32)
//	c, err := client.NewCells(codebook, client.CellsSettings{Codebook: hash, Epsilon: 4, Ledger: ledger, Memory: memory})
//	base, err := c.NewBase(sample)
//	...
//	record, err := client.ByContent(row)                          // at the client: equal rows are one record
//	request, err := c.Ask(record, z)                              // at the client, and sent
//	n, err := s.WriteAnswer(w, request, wire.Float32)             // at the server, and sent back
//	matches, err := c.Rank(z, 8, request, answer, base)           // at the client
//
// # Which rows go where
//
// The server's gallery has a row for each item in two spaces: one that cells are cut in
// (space), one that is sent and ranked (ranking). A query has one row, z, for both.
//
//	                             retrieval/supervised         rows as they are
//	server.NewCells, space       Z of supervised.Model        the rows
//	server.NewCells, ranking     X of supervised.Model        the rows
//	client.Cells.Ask, row        z = Map.Apply of the query   the query
//	client.Cells.Rank, row       the same z                   the query
//
// Z are the images of the gallery under the published map, and X is where the labels of
// the gallery have drawn them. A query has no label to be drawn by, so there is no X of a
// query: its z is searched among the rows of X. Cells are cut in Z, because lists of pure
// classes help less. Both sides together are Example_supervised.
//
// # The two sides
//
// What runs at the client is package retrieval/client, what runs at the server
// package retrieval/server. Neither imports the other. They meet in package
// retrieval/wire, whose messages are all that one tells the other, so that no call can
// pass a client's features or label to the server's code. This package has the modes in words, and
// no code.
//
// Programs begin above both: package retrieval/host makes and serves the gallery of a file, and package
// retrieval/session is a whole run of a client, with its ledger and what it has sent before.
//
//	record ──> client ──> wire message ──> server ──> wire message ──> client ──> matches
//
// What carries the messages between them must not compress them: the length of a
// compressed message depends on its contents, and whoever watches an encrypted line
// sees lengths (see package retrieval/wire).
//
// # The rows of a gallery
//
// The embedding people should use is in package retrieval/supervised: a published map
// that shrinks what rows of one class do not share, and a gallery drawn one step
// towards its labels. A query is embedded by the map alone, at the client; what is
// then asked of the server goes through one of the modes.
//
// # Mode cells
//
// Private retrieval that works. The server cuts its gallery into cells, lists of
// rows around published centres, of one length and overlapping (wire.Codebook;
// server.Centres has their number). The client finds the centre nearest to its row and
// reports a set of cells by w-subset selection (mechanism.Subset.Select), purely
// epsilon-private for the record as a whole, whatever its features and label are.
// The server returns the lists, and the client ranks their rows by its true
// features, at home, together with a base sample of the gallery that it has taken
// once. What was reported for a record is kept, and sent again when the one who paid
// for it asks for the record again, which spends nothing. A record is its content, so that
// equal rows are one, or a name that the caller gives.
//
// An answer is as long as the share of the gallery in it says. For a million rows of 64
// numbers and epsilon 4 (the example of shares prints the table):
//
//	share  cells  own cell  answer   of int8  all answers, encoded
//	1/64   96     0.36      4.1 MB   1.1 MB   498.0 MB
//	1/32   48     0.54      8.1 MB   2.3 MB   498.0 MB
//	1/16   24     0.70      16.3 MB  4.5 MB   498.0 MB
//	1/8    12     0.83      32.5 MB  9.0 MB   498.0 MB
//	1/4    7      0.90      65.0 MB  18.0 MB  581.0 MB
//	all rows, once: 68.0 MB
//
// A smaller share is a shorter answer from more cells, of which the query's own is
// reported less often. Lists that rows had to join make answers longer, up to twice.
//
// Random rows of the gallery ranked at home already find the class of a query; what
// epsilon buys is the query's own neighbours.
//
// Rows travel as float32, or as int8 in about a quarter of the bytes (wire.Compact). The
// encoding that a client asks for shows, and should be the same for all its queries.
//
// # Mode all
//
// The client takes the whole gallery once, as rows of int8 (server.Cells.AllRowsFrame), and
// ranks at home (client.All). Nothing is sent about a query, and there is no epsilon:
// the server learns that the gallery was taken. Where a gallery may leave its server and fits
// on the client, that is better than mode cells as soon as a client has more than a few
// queries: at 1/8, two answers of float32 or eight of int8 are as many bytes.
//
// # Mode sealed
//
// The server scores a query that it cannot read. The client encrypts its row once for each of
// the cells whose centres are nearest to it (retrieval/sealed/client), the server multiplies its
// whole gallery into the ciphertexts (retrieval/sealed/server), and the client decrypts the
// scores and ranks. There is no epsilon and no ledger: what hides the query is that learning with
// errors is hard and AES-256 is good, which nobody has proved. Epsilon is proved for ideal noise and assumes that its generator,
// ChaCha8, is good. One cannot be converted into the other, and they are never added. Nearly all neighbours are found, and a query of a million
// rows of 64 numbers is .77 MB up and 80 KB down, after a hint of 14 MB and norms of 2.5 MB that
// are taken once. Galleries grow within an epoch, and records can be fetched without saying
// which. docs/sealed.md has the scheme, its parameters and what it does not hide.
//
// # The ceiling
//
// If a release is (eps, delta)-private for the whole record, any record against any
// other (relation replace-one), and the answers are rows of at most K of C equally
// likely classes, picked from the release without another look at the record,
//
//	Recall@K <= (K e^eps + (C-1) delta) / (K e^eps + C - K).
//
// Under the relation null, the paper's own, it is with Pi = K/C
//
//	Recall@K <= min(e^eps Pi + delta, 1 - e^-eps (1 - Pi - delta)).
//
// mechanism.Ceiling has both, with proofs. A recall above them, beyond what chance allows, is an
// error or a leak. They bound Algorithm 1 (package paper) where it hides the label. In mode cells they
// bound whether the class is among the rows sent, with K the number of classes among
// those, and not how well the client ranks these rows by its true features.
//
// # After the matches
//
// Matches are row numbers. Fetching the matched items from the same server shows that
// server which they are: epsilon is for the request, not for what is fetched after it. Mode
// sealed has records that are fetched under encryption.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments. The
// same input gives the same bits for any number of workers.
package retrieval

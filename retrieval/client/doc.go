// Package client is what runs where the query is. It holds the private record;
// what leaves it are the messages of package retrieval/wire, made here, and it
// does not know package retrieval/server.
//
//	c, err := client.NewCells(codebook, client.CellsSettings{Codebook: hash, Epsilon: 4, Ledger: ledger, Memory: memory})
//	base, err := c.NewBase(sample)
//	record, err := client.ByContent(features)
//	request, err := c.Ask(record, row)
//	...
//	matches, err := c.Rank(row, 8, request, answer, base)
//
// row is where the record is in the spaces of the server: for a gallery of package
// retrieval/supervised the image z of its features under the published map, both for Ask and for
// Rank (see package retrieval).
//
// # Mode cells
//
// [Cells] knows the codebook of a server and finds the centre t nearest to its row.
// It reports w of the m cells by w-subset selection, t among them with probability
//
//	p = w e^epsilon / (w e^epsilon + m - w),
//
// and ranks what comes back by its true features, with the base sample it took once:
//
//	row ──> nearest centre ──> mechanism.Subset.Draw ──> Memory ──> mechanism.Subset.Pay ──> wire.CellsRequest
//	wire.CellsAnswer, wire.Base, row ──> Rank ──> matches
//
// The request is epsilon-private for the whole record, features and label, with
// delta 0. Each payer releases a record once: what was reported is kept in a
// [Memory], by the record and by who paid, and sent again when the same payer
// asks for it again. That it was asked again shows. Another payer, the same record in
// another ledger among them, draws a set of its own and pays for it. Of many who ask for a
// record at the same time one pays and the others wait ([Locker]).
//
// # What a record is
//
// By default a record is its content ([ByContent]): equal rows are one record, whatever file,
// program or memory they come from. It has one set under a codebook and a price, and one budget in
// a ledger. Epsilon is then for a row in all the places where it is asked for, against any other
// row in all of them. Which of the rows that are asked for are equal shows, since their sets are.
// A row that differs in one value is another record, with a budget of its own.
//
// A person or a thing that has several rows, or whose row changes, has a name ([ByName]): whatever
// is released for its rows adds up in one budget. A name whose row is not one of those that it was
// released with is refused, unless [CellsSettings].Changed says to send the last set again or to
// pay for another. Epsilon is then for all rows of the name, against any others, as long as sets
// are sent again. Where another is paid for, that the row is a new one shows, and so does later
// which of the rows is asked for; the ledger adds up what the sets tell.
//
// The codebook must be the one that all clients have, which its hash from a second
// path confirms (CellsSettings.Codebook). A client that goes without says so, and
// its Terms say it too.
//
// Answers and base samples have rows of float32 or of int8, and Rank takes either. Which encoding
// a client asks for is public, so it asks for one encoding, whatever the query.
//
// A server that sends codebook, map and answers sees when the next request comes. So the cell of a row
// and the matches are found in steps that are the same for all rows: no branch and no place in memory
// depends on a number of a row or on a distance, and tests look at the source for it. Numbers
// below 2^-400 in size count as 0, so that none is so small that processors take longer for it.
// That is best effort, as far as Go goes. So it is with mechanism.Subset.
//
// # Mode all
//
// [All] has taken the whole gallery, as rows of int8, and ranks it at home:
//
//	wire.Codebook, wire.AllRows ──> NewAll      (once)
//	row ──> Rank ──> matches
//
// Nothing about a query leaves the client, so that nothing is spent. The server learns that
// the gallery was taken. How long Rank takes depends on the row: nothing may be sent to the
// server that depends on when it ends, and connections to the server are closed before, since it
// sees when they end.
//
// # After the matches
//
// Matches are row numbers. Fetching the matched items from the same server shows that
// server which they are: epsilon is for the request, not for what is fetched after it.
//
// # Randomness
//
// Seeds come from the operating system. When there are none, nothing is asked. What is drawn
// from them is as private as package mechanism says under "What is assumed".
package client

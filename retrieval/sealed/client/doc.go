// Package client is what runs where the query is, in mode sealed: it encrypts the query, and
// decrypts what the server has computed without reading it. What leaves it are the messages of
// package retrieval/wire, made here, and it does not know package retrieval/sealed/server. The
// scheme and what it promises are in package retrieval/sealed.
//
//	c, err := client.New(manifest, hint, client.Settings{Epoch: hash})
//	err = c.SetIDs(ids)
//	queries, err := c.Ask(ctx, rows)
//	... // queries[0].Request() to the server, and its answer back
//	matches, err := c.Rank(queries[0], answer, 8)
//	queries[0].Forget()
//
// rows are the images z of records under the published map, in the space of the centres.
//
// No ledger is touched and nothing is spent: the promise is not one of epsilon. Nothing is
// remembered, because each query is encrypted with fresh secrets, also when the same row is asked
// again.
//
// # Rules for callers
//
//   - A request that is sent again has the same bytes (Query.Request). Where they are lost, Ask encrypts
//     the row with fresh secrets.
//   - The next thing that the server sees must not depend on what Rank has returned: neither
//     whether a query follows, nor when, nor how many records are fetched. An error that
//     matches ErrRecord is kept until everything was sent.
//   - Matches and distances are as secret as the query.
//   - A query is in memory only; Forget overwrites its secrets.
//
// # Versions
//
// A gallery may grow within an epoch. Every answer names its version, and Rank needs the hint of
// that version. Where the client does not have it, the error is a [VersionError], which says
// from where to where wire.SealedChanges are needed. After [Client.Update] the same query and
// answer are ranked. The client keeps the last few versions.
//
// # Time
//
// From the row to the request, and from the answer to the sorted matches, the same steps are
// done whatever the row and the answer: errors are drawn by a scan of the whole table, the
// nearest cells are found by passes over all centres, the row is added by masks over the columns
// of all cells, norms and row numbers are taken by masks out of those of all cells, and a network
// of comparisons sorts. No branch and no place in memory depends on a secret, and a test looks at
// the source for it. No row makes subnormal numbers, for which processors take many times as long.
//
// That is best effort, as far as Go goes: the compiler makes no promise, and some processors take
// other times for some quotients and roots of floating point, and for some products of whole
// numbers. Where a processor has no instructions for AES, Go looks up tables; where it has none for
// floating point, Go branches. The last step of Rank and Records.Open, which says whether
// there is an error, is a branch, and a loop over matches ends sooner where the cells have fewer
// rows than were asked for. What comes before Ask is not covered, such as the files of the
// caller. The map that makes rows of records is the server's: supervised.Guarded applies it with the
// same care. A caller that takes manifest, map, hint and row numbers before that has nothing left to
// ask of the server in between.
//
// Forget overwrites the words of secrets, rows and choices. The expanded keys of AES, from which the
// secrets come, cannot be overwritten in Go: they are dropped when a query is encrypted, and stay
// in memory until the collector gives it to somebody else. Go may also have copied secrets.
//
// # Randomness
//
// Seeds of secrets come from the operating system, 32 bytes a ciphertext. When there is none,
// nothing is asked.
package client

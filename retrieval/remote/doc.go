// Package remote reaches a server of package retrieval/service over HTTP. A [Server] is a
// client.Transport:
//
//	s, err := remote.New("https://gallery.example", remote.Settings{Codebook: hash, Cache: folder})
//	book, err := s.Codebook(ctx)
//	c, err := client.NewCells(book, client.CellsSettings{Codebook: hash, ...})
//	request, err := c.Ask(record, row)
//	answer, err := s.Cells(ctx, request, wire.Int8)
//
// # What is sent
//
// Of a query the server gets the message of package retrieval/wire that a client.Cells has
// made, and nothing else: this package never sees a row, a label or a cell that was not
// released. A codebook, a map, a base sample and the rows of a gallery are fetched without
// a word about a query. The headers of a request are its length and type, the User-Agent
// "privatemail", "Accept-Encoding: identity" and the token of the Settings, if there is
// one. There are no cookies. That somebody asks, when, how often and from which address
// shows. A download that goes on has Range and If-Range: how much of it is here already, and
// the hash of the whole, by which a server that sends everyone another gallery knows a client
// again.
//
// A request that is tried again is sent again byte by byte. A client.Cells releases a set
// once and remembers it; this package changes nothing of it.
//
// Of mode sealed the server gets ciphertexts that a client of package
// retrieval/sealed/client has made. Where changes are asked for it also gets the number of the
// version that is here and that of its answer: both are numbers that the server has named, and one
// that gives everyone a hint with another number knows a client again by it. This package has no
// key and sees nothing decrypted: what it sends and when cannot depend on that.
//
// # What is received
//
// A server may be wrong, or hostile. Nothing is read beyond the length that the codebook
// announces, a body that does not begin like the message that is due is left at once, and
// memory is taken for bytes that have come. Each message is checked by its checksum and
// against the codebook or the manifest. A body that is compressed, a redirect, and a page of a
// proxy are errors that say so.
//
// # Retries
//
// What failed on the way is tried again with longer and longer pauses, and so are the
// answers 429, 502, 503 and 504, whose Retry-After is kept to. A download that was cut off
// goes on where it ended, with Range and If-Range. Rows of a gallery and hints go on in a
// later process, too, from a file with ".part" at the end of its name.
//
// # Cache
//
// What does not depend on a query is kept in the folder Settings.Cache: codebooks by their
// hash, and maps, base samples and rows by the hash of their codebook; manifests, maps, hints
// and row numbers of mode sealed by their epoch. The SHA-256 of its contents stands at the end
// of each file. A file that does not match it is fetched again. Where the folder cannot be
// written to, everything works without it, and Settings.Warn is told. Nothing that is sent tells
// what the cache holds, but that it is not fetched again, what a download that goes on says, and
// since which version of a sealed gallery changes are asked for.
// The cache holds nothing of a query and can be removed at any time.
//
// A codebook that Settings.Codebook names is confirmed, and the cache is asked first. The
// map and the rows are not part of that hash: a server could send each client others. The
// epsilon of a request holds for any map. Ranks are only as good as the server. A map is returned as a
// supervised.Guarded, which tells its maker nothing by the time it takes, as far as Go goes. Everything
// else that is taken once should be here before it is applied. The epoch of
// mode sealed (Settings.Epoch) has the hash of its map in it.
//
// # Proxies and redirects
//
// Proxies of the environment are used where Settings.Proxy says so, as
// http.ProxyFromEnvironment does, and not otherwise. Redirects are not followed.
package remote

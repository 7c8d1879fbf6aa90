// Package front answers private queries from shards: servers that each hold a part of the rows of
// a gallery (server.Cells.Split). A [Front] holds no rows. It gives package retrieval/service a
// gallery whose answers are put together from those of all shards:
//
//	f, err := front.New(front.Settings{Shards: []string{"https://one", "https://two", "https://three"}})
//	defer f.Close()
//	s, err := service.New(service.Settings{Shards: f.Shards})
//	go f.Run(ctx, s.Publish)
//	err = s.Run(ctx, listeners)
//
// # What is asked of whom
//
// Every shard gets every request for cells, byte by byte as it came. No shard is left out because
// it has no row of a cell, and none is asked first: which shards a request goes to, in which order
// and how often, does not depend on the cells. The answer of a shard has one length for all
// requests, and so has the answer that is put together from them, which is that of a server with
// all rows, byte by byte. An answer of which a shard is missing is no answer: the request fails,
// and its error names the shard.
//
// Codebook, base sample and map are the same at all shards and say nothing about a query. They come
// from any one of them. All rows, for mode all, come from all shards, range by range.
//
// The time of an answer is that of the slowest shard. How full lists are changes the time of
// putting them together a little.
//
// # Which gallery is served
//
// A Front looks at its shards every two seconds, and more often while one is missing. It publishes
// the gallery with the highest version that all shards have, and keeps to it: every message of a
// request is of one codebook, whose hash goes with it to the shards. A shard that has a new gallery answers for the one before for as long
// as its service does, so that shards can be changed one after the other. Shards that have no
// gallery in common are named, and nothing new is published.
//
// A Front remembers nothing that it could not ask its shards for again. There may be any number of
// them, and one that starts again has lost nothing.
//
// # Who is trusted
//
// Clients trust a front end and its shards as they trust one server: the cells of a request are
// private by the epsilon of the client, whoever reads them. A shard may be wrong or hostile. Its
// answers are read up to the length that is due and compared with the request, the codebook and the
// rows that the shard can have; what is in these rows cannot be compared with anything. A shard sees
// the address of the front end, not that of the client.
package front

// Package service answers private queries over HTTP. It puts a gallery of the packages
// retrieval/server and retrieval/sealed/server behind a handler, and adds what a network needs: limits, tokens,
// certificates, metrics, versions of the gallery and an orderly end.
//
//	s, err := service.New(service.Settings{})
//	err = s.Publish(service.Offer{Name: "birds", Cells: cells})
//	err = s.Run(ctx, service.Listeners{Public: l})
//
// # Public listener
//
//	GET  /v1/gallery    what is served, as JSON
//	GET  /v1/codebook   wire.Codebook
//	GET  /v1/base       wire.Base, ?encoding=float32 or int8
//	POST /v1/cells      wire.CellsRequest in, wire.CellsAnswer out, ?encoding=
//	GET  /v1/rows       wire.AllRows, whole or in ranges
//	GET  /v1/map        the map of the model as JSON
//	GET  /v1/labels     the labels of the rows as JSON, where they are published
//
//	POST /v1/shard/cells  wire.CellsRequest in, wire.CellsAnswer with the rows of a shard out, ?encoding=
//	GET  /v1/shard/rows   wire.AllRows with the rows of a shard, whole or in ranges
//
//	GET  /v1/sealed/manifest          wire.SealedManifest
//	GET  /v1/sealed/hint              wire.SealedHint, whole or in ranges
//	GET  /v1/sealed/ids               wire.SealedIDs
//	GET  /v1/sealed/changes           wire.SealedChanges, ?since= and to= are versions
//	POST /v1/sealed/ask               wire.SealedRequest in, wire.SealedAnswer out
//	GET  /v1/sealed/records/manifest  wire.SealedRecords
//	GET  /v1/sealed/records/hint      wire.SealedHint
//	POST /v1/sealed/records/fetch     wire.SealedRequest in, wire.SealedAnswer out
//
//	GET  /              a status page, which tells nothing of requests
//
// docs/openapi.json of the repository has every parameter, status and header. Messages
// are the frames of package retrieval/wire. Errors are application/problem+json with a type
// of the form urn:privatemail:NAME. Nothing is ever compressed: the length of what is
// compressed tells of its contents.
//
// # Admin listener
//
// /metrics (Prometheus), /livez, /readyz, /debug/pprof/ and the status page with counts of requests.
// It has no tokens: keep it on a loopback address, where requests that name other hosts are refused.
// It keeps some descriptors for a time when the process has none left.
//
// # Limits
//
// There are limits of requests at a time, of connections, and of places and bytes of mode sealed. One
// client, by token or address, has a share of each (Settings.Share). A request that finds no place
// waits a second, unread, and then gets 503. A body is read when there is room for all of it. Bodies
// and answers have to move at a least rate, those of each stream of HTTP/2 by themselves.
//
// # Versions of a gallery
//
// Publish replaces the gallery at once. Requests that run go on with the version they
// began with. Requests that name the codebook or the epoch of a replaced version are answered
// from that version for Settings.Drain; after that they get 409 with the hash that is served
// now. A client that takes a new codebook pays epsilon again, which is why an old one is kept
// for a while. A new epoch of mode sealed costs a client a download.
//
// Within an epoch a sealed gallery may grow while it is served. An answer names the version it
// is of, and /v1/sealed/changes takes a client there.
//
// # Shards and front ends
//
// A gallery whose Cells are a shard answers front ends at the paths of shards, and offers clients
// no mode. A gallery with a Source answers clients from rows that are elsewhere: package
// internal/front has one that asks shards. Where a shard cannot be used, a request gets 503 with
// the number of the shard, and no part of an answer.
//
// # Mode sealed
//
// The service computes on ciphertexts that it cannot read. All requests of an epoch have one
// length and so have their answers; the work of a pass and its time do not depend on what is
// encrypted, by the nature of the product. Requests that wait share a pass, see
// Settings.SealedMost and SealedWait: how long a request takes depends on how many others came
// with it.
//
// # What is not written down
//
// The log has the route, method, status, bytes, time, address and protocol of a request; metrics
// count requests by route and status, their bytes and their time. They hold nothing of its body, no cell, no question, no query string and no token. What an
// answer costs does not depend on the cells where answers were encoded beforehand (see
// server.Cells.WriteAnswer). A handler that panics answers 500, and the log has the lines of
// code but neither the panic's value nor arguments, which may hold a cell.
package service

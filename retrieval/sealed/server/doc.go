// Package server is the half of mode sealed that has the gallery. It scores queries that it
// cannot read: a request is a query under encryption (package retrieval/sealed), the answer is
// the gallery multiplied into it, and only the client can decrypt the scores. The client's half
// is retrieval/sealed/client.
//
//	gallery, err := server.New(ctx, rows, server.Settings{Workers: workers})
//	publish(gallery.Manifest(), gallery.Epoch(), gallery.Hint(), gallery.IDs())
//	answers, err := gallery.Answer(ctx, requests...) // of some clients, in one pass
//
// # Layout
//
// k-means finds m centres of the rows. Each cell has slots for 1.25 n/m rows. Rows take slots
// by rising distance from their nearest centre, each in the nearest cell with room. Then the
// centres move to the means of the rows that are in their cells, and rows take their places
// again, a few times. Clients choose cells by the means of the rows that are in them at the end.
//
// What is stored of a row x is S R x rounded to bytes. R is the rotation of package internal/rotation, which
// makes the entries of a row about equal in size, and S is 127 divided by the largest entry of
// all rotated rows, or by four times their root mean square where that is less: the few
// entries beyond it are clipped. Clients rotate their queries likewise. Slot r of cell c has the name c L + r, where L is the number of slots
// of a cell. It is in row r of a matrix of L rows and m d columns, from column c d on.
// Everything a client must know is in the manifest, whose hash names the epoch.
//
// # Passes
//
// An answer takes one pass over the matrix, which is stored in the order in which the loops of
// package simd read it. Few requests are bound by the speed of memory; several in one call of
// Answer share a pass, and package retrieval/service lets requests that wait share one. What a pass
// does depends on nothing that the ciphertexts hold, and neither does its time.
//
// # Versions
//
// Insert and Remove change one slot and one row of the hint, and make a version. An answer says
// which version it is of. A client with an older hint fetches Changes and decrypts with the same
// secrets. Where a row has no place in the epoch, ErrFull says that a new epoch is due.
//
// # What it discloses
//
// The gallery is not protected: a client may ask any linear function of it, and Changes
// disclose the rows that came and went. The server learns how many queries a client sends and
// when, and nothing about them as long as learning with errors is hard and AES-256 is good (package retrieval/sealed).
package server

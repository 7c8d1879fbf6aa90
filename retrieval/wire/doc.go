// Package wire holds what crosses the line between the client and the server of
// a retrieval, and nothing else: plain types, each with a binary form.
//
//	frame, err := request.MarshalBinary()
//	...
//	var received wire.CellsRequest
//	err = received.UnmarshalBinary(frame)
//
// The packages retrieval/client and retrieval/server do not know each other, nor do
// retrieval/sealed/client and retrieval/sealed/server. What one tells the other is a value of a type in this package, so reading the types is
// reading everything that messages disclose. When, how often and from where a message
// came shows as well.
//
// # Binary form
//
// Every message is one frame: the letters PMW1, the kind of message, the version
// of its format, the length of its body, the body, and a checksum over all of it.
// Whole numbers are little-endian, slices begin with their length.
// UnmarshalBinary refuses what MarshalBinary would not have written: sizes are
// compared with the bytes that are there before memory is taken, fields are
// checked against each other, and nothing may follow. It keeps nothing of the bytes it is
// given.
//
// AppendBinary appends the same bytes to a buffer, and WriteTo writes them piece by
// piece, without a copy of the message. A message that is decoded is as good as one that
// is checked: each of the four calls Check. CellsAnswer.WriteGathered and
// WriteGatheredCompact write an answer whose rows are somewhere else.
//
// # Compact rows
//
// A [Base] and a [CellsAnswer] have their rows in one of two encodings, [Float32] or [Int8],
// and [AllRows] in the latter. Rows of int8 take a quarter of the
// bytes, about: at dimension 64, 68 in place of 256 a row. They are written as what they are
// away from one of a few anchors, after rotations that everybody knows (package internal/rotation) ([Compact]):
//
//	R^turn (R x - anchor) = unit * code,   each entry within unit/2
//
// A client rotates its query and ranks rotated rows. The encoding that a client asks for
// shows, so it should be the same for all its queries. Lists of both encodings are padded and
// masked.
//
// # Mode sealed
//
// A [SealedRequest] is a query under encryption. It discloses the epoch, which all clients
// share, the number of ciphertexts and their length, which the [SealedManifest] or the
// [SealedRecords] fix for all queries, and nothing else about the query to whoever cannot break
// the encryption (package retrieval/sealed). A [SealedAnswer] is what anybody who has the gallery
// can compute from the request, and tells as little.
//
// The other messages are the server's, the same for all clients. A manifest discloses the
// centres of the cells, how many rows there are and how long each stored row is. A
// [SealedHint] and [SealedChanges] disclose linear functions of the stored rows, which can be
// solved for them: the gallery is not hidden from clients. [SealedIDs] disclose which row of
// the gallery is in which slot. Which versions a client asks changes for shows when it was
// here last.
//
// # Checksums
//
// The checksum finds accidents. It is no signature: whoever changes a message can make
// it again, and whoever must not be able to change one needs a transport that prevents
// it. It is SHA-256, but for a [CellsAnswer], [AllRows] and most messages of mode sealed,
// which are long: there it is CRC-32 and CRC-32C, 8 bytes, which find every error within 8
// successive bytes and miss about one in 2^64 of other accidents.
//
// The SHA-256 at the end of a [Codebook], a [SealedManifest] and [SealedRecords] is more than
// that: it is the hash by which clients know them.
//
// # Transports
//
// A transport must not compress messages, requests or answers. How far a message
// shrinks depends on what is in it, so somebody who sees no more than the lengths of
// encrypted messages could tell how full a list was, and guess from that which cells
// were asked for.
//
// In the binary form of a [CellsAnswer] the lists, padded to one length, are masked so
// that they do not compress: their numbers and rows, padding among them, are covered
// by a stream of AES in counter mode that follows from the other fields, the cells
// among them. The mask is no encryption.
// Other messages, and other forms of an answer, such as JSON, do compress. And a
// transport that compresses a message against earlier ones shows that one of them came
// again.
//
// # Concurrency
//
// Messages are values; they may be read from several goroutines while nobody
// changes them.
package wire

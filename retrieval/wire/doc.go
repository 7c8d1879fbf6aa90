// Package wire holds what crosses the line between the client and the server of
// a retrieval, and nothing else: plain types, each with a binary form.
//
//	frame, err := request.MarshalBinary()
//	...
//	var received wire.CellsRequest
//	err = received.UnmarshalBinary(frame)
//
// The packages retrieval/client and retrieval/server do not know each other.
// What one tells the other is a value of a type in this package, so reading the types is
// reading everything that messages disclose. When, how often and from where a message
// came shows as well.
//
// # Binary form
//
// Every message is one frame: the letters PMW1, the kind of message, the version
// of its format, the length of its body, the body, and a SHA-256 over all of it.
// Whole numbers are little-endian, slices begin with their length.
// UnmarshalBinary refuses what MarshalBinary would not have written: sizes are
// compared with the bytes that are there before memory is taken, fields are
// checked against each other, and nothing may follow. The checksum finds
// accidents; whoever must not be able to change a message needs a transport that
// prevents it.
//
// A message that is decoded is as good as one that is checked: MarshalBinary and
// UnmarshalBinary both call Check.
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
// by a stream of ChaCha8 that follows from the other fields. The mask is no encryption.
// Other messages, and other forms of an answer, such as JSON, do compress. And a
// transport that compresses a message against earlier ones shows that one of them came
// again.
//
// # Concurrency
//
// Messages are values; they may be read from several goroutines while nobody
// changes them.
package wire

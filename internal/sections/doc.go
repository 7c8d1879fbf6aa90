// Package sections writes and opens files of several named parts: models, galleries and checkpoints.
//
//	err := sections.Write(ctx, path, "model", 1, func(w *sections.Writer) error {
//		if err := w.JSON("about", about); err != nil {
//			return err
//		}
//		return sections.WriteNumbers(w, "rows", rows)
//	})
//	f, err := sections.Open(path, "model")
//	rows, err := sections.Numbers[float32](f, "rows")
//
// Open maps a file. It reads its head, its table and the few bytes between sections, so it
// takes no longer for large sections. Bytes, JSON and Verify compare the checksum of a section;
// Raw and Numbers do not. Call VerifyAll before computing with a file. Load reads a whole file
// into memory and compares all checksums: it is for files that stay in use for long.
//
// # Format
//
// All numbers have their low byte first. A file is, without gaps:
//
//	head      64 bytes: magic, container version (4), version of the kind (4), kind (16), zeros
//	sections  each begins at a multiple of 64 bytes; zeros fill the gap before the next
//	table     at a multiple of 64 bytes; per section: length of the name (1), name,
//	          offset (8), length (8), checksum (8)
//	tail      32 bytes: offset of the table (8), its length (8), checksum (8) of the head, the
//	          table and these 16 bytes, magic
//
// Checksums are those of package crc. Every byte is covered by a checksum or must be zero.
//
// # Damage
//
// Files are untrusted: offsets and lengths are checked against the size of the file and each
// other before memory is allocated for them. Checksums detect accidents. They do not protect
// against a file made wrong on purpose, so readers check the contents of sections.
//
// # Concurrency
//
// The methods of File may be called concurrently, except for Close, after which data returned
// by File is invalid.
package sections

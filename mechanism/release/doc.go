// Package release holds the data that leave the private side: the Release, a
// first step with noise, and PublicLabels, the labels that later steps may use.
// Code that continues from a release imports this package and not the one that
// draws the noise, so it cannot reach anything private.
//
//	r, err := release.Read(file) // in either form, and checked
//	if err != nil {
//		return err
//	}
//	fmt.Println(r.Rows, r.Columns, r.Privacy.Epsilon, r.Privacy.Delta)
//
// # Checks
//
// Release.Check checks every field: numbers are finite and in range; the noise,
// its privacy and the sensitivity agree with each other; names are known and
// sizes match. Comparisons that privacy depends on are exact, without rounding.
// A release that fails Check is neither written nor read. Check cannot find out
// whether the noise was drawn as the release says: for that one has to trust its
// author. Epsilon and Delta are compared with Mu, to a thousandth of Delta.
//
// # Two forms
//
// A release has a binary and a JSON form with the same content. Read takes
// either, and recognises it by the first bytes. The same release always gives
// the same bytes, and a changed file is refused: the binary form ends with a
// SHA-256 checksum of everything before it, and the JSON form contains the
// checksum of its binary form. This finds accidents and careless edits; it is
// not a signature.
//
// The binary form, every number in 8 bytes, little-endian:
//
//	offset  bytes
//	     0  8     89 50 4d 52 45 4c 0d 0a ("PMREL" between guards)
//	     8  8     version, 1
//	    16  16    ID
//	    32  16    Rows, Columns                              signed
//	    48  16    Step (float64), Multiple                   signed
//	    64  40    Privacy: Epsilon, Delta, Sigma, Mu, Rho    float64
//	   104  32    Sensitivity: Total, Bound, OperatorError, GridError
//	   136  16    Sensitivity: Private, Records              signed
//	   152  56    Query: Sigma, Alpha, Radius, Background (float64), Classes (signed),
//	              SigmaQ (float64), Seed
//	   208  8     Labels.Epsilon                             float64
//	   216  8     Ledger, the number of the spend in the budget that paid; 0: none
//	   224        Mechanism, Rule, Norm, Derivation, Relation, Operator, Table,
//	              Mode, Unit: each a byte with its length, at most 64, and so
//	              many bytes of text
//	        4*P   PrivateRows, int32; P is Private
//	        4*R   the randomised labels, int32; R is Rows in mode randomised,
//	              else 0
//	        8*m   Grid, int64; m is Rows * Columns
//	        32    SHA-256 of everything above
//
// The JSON form is one object with the names of the fields in snake case, a
// format and a version at its beginning and the checksum at its end. Every key
// must be there exactly once and in the same spelling, and no other key.
// Numbers survive exactly: float64 in the shortest form that reads back to the
// same bits, the grid as plain integers. Their size is at most 2^53,
// so a reader that keeps all numbers in float64, as JavaScript
// does, loses nothing. The two numbers that may need all 64 bits, seed and
// ledger, are strings of decimal digits.
//
// # Untrusted input
//
// Sizes are checked before memory is taken for them, and memory grows with the
// data that really arrives: at most a small multiple of the input, whatever
// sizes it claims. Bytes after a release are an error. No input makes a decoder
// panic.
//
// # Concurrency
//
// Functions that do not change a release may be called on it from several
// goroutines at once. PublicLabels are immutable.
package release

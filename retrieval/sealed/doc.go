// Package sealed says what mode sealed is, and has the numbers that messages are measured by. In
// this mode a server scores a query that it cannot read. Package retrieval/sealed/client is the half
// with the query, and retrieval/sealed/server the half with the gallery. What both share is in
// package retrieval/sealed/internal/scheme. Nothing in this package is secret.
//
// # Scheme
//
// The server cuts its gallery into cells with a centre each, and publishes the centres in a
// wire.SealedManifest. A row is stored as whole numbers of one byte, after a public rotation
// (package internal/rotation) that makes its entries of about one size and changes no score. All of them make a
// matrix D of L rows, where L is the number of slots of a cell: row r holds what is in slot r of the
// first cell, then of the second, and so on, zeros where a slot is empty.
//
// The client picks the cells whose centres are nearest to its query z, and makes one ciphertext
// for each. Words are whole numbers modulo 2^32:
//
//	u = A s + e + t       A public, s and e secret; t is round(kappa R z) in the columns of the cell
//	                      and R that rotation
//	a = D u               what the server answers
//	v = a - (D A) s       which is D (e + t): kappa times the scores of the cell, and a small error
//
// The matrix D A is the hint. It is the same for all clients and queries; a client takes it
// once. Of u the client sends the upper three bytes, rounded, which adds to the error and
// discloses nothing: everybody could round. Scores and the squared norms of stored rows, which
// the manifest has, make distances.
//
// The scheme is the ranking step of Tiptoe (Henzinger, Dauterman, Corrigan-Gibbs, Zeldovich,
// "Private Web Search with Tiptoe", SOSP 2023) with the encryption of SimplePIR (Henzinger, Hong,
// Corrigan-Gibbs, Meiklejohn, Vaikuntanathan, "One Server for the Price of Two", USENIX Security
// 2023), which is Regev's ("On lattices, learning with errors, random linear codes, and
// cryptography", STOC 2005).
//
// # Parameters
//
// All are constants of the code, and none is negotiated:
//
//   - Words are modulo 2^32. Secrets have [SecretWords] = 1408 words, uniform.
//   - Errors follow a table (scheme.ErrorTable), a Gaussian of standard deviation scheme.Deviation,
//     rounded to whole numbers. The table is the law.
//   - A comes from AES-256 in counter mode under a key that is the hash of a label and the epoch
//     (scheme.NewMatrix). Each side computes the key itself.
//   - scheme.Kappa is a scale at which no score wraps, up to a chance of 2 exp(-72) a score.
//
// For these numbers an attack on one ciphertext takes 2^145 operations in the core-SVP model (Alkim,
// Ducas, Pöppelmann, Schwabe, "Post-quantum key exchange - a new hope", USENIX Security 2016), and
// 2^131 with a quantum computer: the example Hardness of the tests of package scheme computes both. The SimplePIR paper
// has 1024 words. They come to 2^94 in the same model, and are not used here.
//
// # What it hides
//
// Under the assumption that Learning With Errors is hard for these numbers, with A and the streams
// of AES-256 that secrets and errors come from modelled as random, the messages of a client disclose
// nothing about its queries or its cells, whatever the server answers. Whoever sees Q ciphertexts has at
// most Q times the advantage of one who sees one. This is a computational promise, without an epsilon, and nobody outside has
// audited the code. docs/privacy.md, "What each guarantee assumes", has all of it.
// It holds as long as the client keeps three rules:
//
//  1. A secret is used for one ciphertext. Two ciphertexts under one secret disclose the
//     difference of what they encrypt. A client that sends a query again sends the same bytes, or
//     else draws fresh secrets. Nothing of a query is written to a disk.
//  2. Nothing fails selectively. Everything public about an answer is checked before it is
//     decrypted; afterwards nothing that the server can see depends on what was decrypted.
//  3. The number of probes and the length of messages are always those of the manifest.
//
// # What it does not hide
//
// The gallery is not hidden from clients: whoever has the hint and enough answers can compute it. A
// lying server can spoil results. The server sees who asks, when, how often and for which gallery. It
// sees what a client does afterwards, too: fetching the matched items from the same server discloses them,
// unless they are fetched under the same encryption. Scores are as secret as the query, which follows from
// as many of them as it has numbers.
//
// # Errors of scores
//
// A sum of entries of e with weights w is beyond t tau |w| in size with a chance of at most
// 2 exp(-t^2/2), where tau is scheme.Tau for the table and scheme.ProbeTau with the rounding. Here w is a row
// of D. scheme.ScoreError is that for t = 10, and client.Client.Bound makes a certificate of squared
// distances of it.
package sealed

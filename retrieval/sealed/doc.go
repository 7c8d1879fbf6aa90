// Package sealed has what both halves of mode sealed share: the public matrix, the law of errors,
// the scale of queries and the bound on errors of scores. In this mode a server scores a query
// that it cannot read. Package retrieval/sealed/client is the half with the query, and
// retrieval/sealed/server the half with the gallery. Nothing in this package is secret.
//
// # Scheme
//
// The server cuts its gallery into cells with a centre each, and publishes the centres in a
// wire.SealedManifest. A row is stored as whole numbers of one byte, after a public rotation
// (wire.Rotate) that makes its entries of about one size and changes no score. All of them make a
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
//   - Words are modulo 2^32. Secrets have wire.SecretWords = 1408 words, uniform.
//   - Errors follow [ErrorTable], a Gaussian of standard deviation [Deviation], rounded to whole
//     numbers. The table is the law.
//   - A comes from AES-256 in counter mode under a key that is the hash of a label and the epoch
//     ([NewMatrix]). Each side computes the key itself.
//   - [Kappa] is the largest scale at which no score wraps.
//
// For these numbers the lattice-estimator (Albrecht, Player, Scott, "On the concrete hardness of
// Learning with Errors", 2015, and its program) says 2^146 operations in the core-SVP model,
// 2^172 in that of MATZOV, and 2^148 for a dual hybrid attack. The SimplePIR paper has 1024 words,
// for which core-SVP says 2^95; that is not used here.
//
// # What it hides
//
// Under the assumption that Learning With Errors is hard for these numbers, with A modelled as
// random, the messages of a client disclose nothing about its queries or its cells to anybody,
// whatever the server answers. Who sees Q ciphertexts gains a factor of Q at most. This is a
// computational promise, without an epsilon, and nobody outside has audited the code.
// It holds as long as the client keeps three rules:
//
//  1. A secret is used for one ciphertext. Two ciphertexts under one secret disclose the
//     difference of what they encrypt. Who sends a query again sends the same bytes; who cannot
//     draws fresh secrets. Nothing of a query is written to a disk.
//  2. Nothing fails selectively. Everything public about an answer is checked before it is
//     decrypted; afterwards nothing that the server can see depends on what was decrypted.
//  3. The number of probes and the length of messages are always those of the manifest.
//
// # What it does not hide
//
// The gallery is not hidden from clients: who has the hint and enough answers can compute it. A
// lying server can spoil results. Who asks, when, how often and for which gallery shows. So does
// what a client does afterwards: who fetches the matched items from the same server discloses them,
// unless by the same encryption. Scores are as secret as the query, which follows from a few of
// them.
//
// # Errors of scores
//
// A sum of entries of e with weights w is beyond t tau |w| in size with a chance of 2 exp(-t^2/2)
// at the most, where tau is [Tau] for the table and [ProbeTau] with the rounding. Here w is a row
// of D. [Bound] makes a certificate of squared distances of that, for t = 10.
package sealed

// Package server is the half of Algorithm 1 that runs where the gallery is. All it is given of a
// query is a paper.Question; it does not import package paper/client.
//
//	gallery u public rows, labels ──> T steps without noise ──> embedding       (once)
//	paper.Question ──> T steps over the released points ──> embedding of the client
//	the two are aligned on the public rows they share (paper.Align)
//	the K gallery rows nearest to every hidden row ──> paper.Matches
//
// The server is not told which hidden row is the query and answers for all. How well it
// can guess is bounded by the release, not by the dummies.
package server

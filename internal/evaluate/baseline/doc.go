// Package baseline holds the methods that the paper on PrivateMail compares
// itself with, as modes of package evaluate, each with a sentence on what its
// epsilon covers.
//
//	raw         exact search with the rows as the file has them; nothing is protected
//	prepared    exact search with the prepared rows; nothing is protected
//	smlq        the paper's iteration without noise; nothing is protected
//	tsne        t-SNE of gallery and queries together; nothing is protected
//	gaussian    noise on the feature row of the query
//	pca         components of a noisy second moment of the gallery, noise on the
//	            projected query (Dwork, Talwar, Thakurta and Zhang 2014)
//	projection  a public random projection of the query with noise
//	            (Kenthapadi, Korolova, Mironov and Mishra 2013)
//	dsne        the query finds its place in a public t-SNE map by noisy,
//	            clipped gradient steps (Saha et al. 2021)
//
// Each function returns one of them, to be measured by a sweep:
//
//	modes := []evaluate.Mode{baseline.Prepared(), baseline.Gaussian()}
//	sweep := &evaluate.Sweep{Data: data, Modes: modes}
//
// # Sensitivities
//
// All are for replacing one record by any other, and for the numbers as
// computed: vectors are clipped to a ball after all arithmetic, so the diameter
// of the ball bounds the change whatever was rounded before.
//
//	a unit row                    2, the diameter of the unit ball
//	its projection P'x            2 |P|, |P| the largest singular value; the
//	                              largest row norm of P is for one attribute
//	                              that changes by 1 and is too small here
//	sum of x x' over unit rows    sqrt(2) in Frobenius norm:
//	                              |xx' - yy'|^2 = 2 - 2 (x'y)^2; the upper
//	                              triangle, which is what is released, is no
//	                              further apart
//	a gradient clipped to C       2 C a step, sqrt(T) 2 C for T steps
//
// The noise is that of package internal/noise, calibrated by the analytic rule; a series
// pays for vectors that are released one after the other. It comes from the system's
// entropy, so figures of private modes differ from run to run within their intervals.
//
// # t-SNE
//
// The map minimises the divergence of van der Maaten and Hinton (2008) by the
// scheme of Barnes and Hut (van der Maaten 2014): attraction along the
// 3 perplexity nearest neighbours, repulsion by a quadtree. It begins with the
// leading two principal components and is deterministic, with the same bits for
// any number of workers.
package baseline

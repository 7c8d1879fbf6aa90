// Package post continues from a release: it rebuilds the graph from the
// released points and takes the later steps of the iteration.
//
//	X_1 = Q + Step Grid                                   (the release)
//	X_t = X_{t-1} + 1/2 Diag(L)^+ (alpha L_Y - L) X_{t-1},  L the Laplacian of X_1
//
// Computing from a release and public numbers only costs no privacy: differential
// privacy survives post-processing. The arguments and imports of this package
// ensure this: its functions take a release and labels declared public, and it
// imports neither the mechanism nor anything that reads files.
//
//	r, err := release.Read(file)
//	if err != nil {
//		return err
//	}
//	labels, err := release.Declare(publicLabels, r.Query.Classes)
//	if err != nil {
//		return err
//	}
//	embedding, err := post.Continue(ctx, r, labels, &post.Settings{MeanNeighbours: 20})
//
// A private value could return only through the label Laplacian L_Y. Labels
// therefore enter only as release.PublicLabels, and the label mode of the
// release decides: in mode public the caller gives them, in mode dropped there
// are no labels, in mode randomised they are in the release.
package post

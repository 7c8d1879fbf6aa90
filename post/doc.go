// Package post takes a release further: it rebuilds the graph from the released
// points and takes the later steps of the iteration.
//
//	X_1 = Q + Step Grid                                   (the release)
//	X_t = X_{t-1} + 1/2 Diag(L)^+ (alpha L_Y - L) X_{t-1},  L the Laplacian of X_1
//
// Whatever is computed from a release and public numbers alone costs no privacy:
// differential privacy is kept by post-processing. The arguments and the imports of
// this package hold it to that: its functions take a release and labels declared
// public, and it imports neither the mechanism nor anything that reads files.
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
// The label Laplacian L_Y is the one way a private value could come back in.
// Labels therefore enter only as release.PublicLabels, and the mode named when
// the release was made decides: public labels are given by the caller, dropped
// ones may not be, randomised ones are in the release.
package post

// Package host has the life of a served gallery: it opens a file, or makes of a model what is served, and
// offers that to the clients of a service.
//
// A [Host] is a service with a gallery from a file. Load opens what the file is: a gallery, a part of one,
// a sealed gallery, or a model, which is cut into cells and laid out for mode sealed. What is made of a
// model is kept next to it, and a later Load opens that, so that the codebook and the epoch stay the same:
//
//	h, err := host.New(host.Settings{File: "birds.model", Epsilon: 4, Sealed: true})
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	if err := h.Load(ctx); err != nil {
//		return err
//	}
//	return h.Service().Run(ctx, service.Listeners{Public: listener})
//
// Load may be called again while the service answers: it offers what the file has then, and where that
// cannot be read, what was offered stays. A model that has grown by rows at its end adds these to the
// epoch as long as they fit. What was made of another model or with other settings is refused as a
// [SourceError], because a new codebook costs every client its epsilon again, unless Rebuild is set.
package host

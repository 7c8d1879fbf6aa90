package show

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// showSealed explains what a server keeps of a sealed gallery.
func showSealed(ctx context.Context, path string) (_ *explanation, err error) {
	g, err := sealedserver.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	x := &explanation{kind: "sealed-gallery", about: "what a server answers encrypted queries from, in mode sealed"}
	if err := x.addManifest(g.Manifest()); err != nil {
		return nil, err
	}
	x.add("version", fmt.Sprintf("%d of the epoch, with %d rows", g.Version(), g.Rows()), g.Version())
	if g.Map() != nil {
		x.addf("map", "published with the gallery")
	}
	x.addf("checksums", "all are right")
	return x, nil
}

// showSealedRecords explains the records that clients fetch.
func showSealedRecords(ctx context.Context, path string) (_ *explanation, err error) {
	r, err := sealedserver.OpenRecords(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	x := &explanation{kind: "sealed-records", about: "records of the rows of a sealed gallery, which clients fetch without disclosing which"}
	if err := x.addRecords(r.Manifest()); err != nil {
		return nil, err
	}
	x.addf("checksums", "all are right")
	return x, nil
}

// addManifest adds what a manifest of mode sealed says.
func (x *explanation) addManifest(m *wire.SealedManifest) error {
	epoch, err := m.Hash()
	if err != nil {
		return err
	}
	x.add("epoch", fmt.Sprintf("%x", epoch), nil)
	x.add("rows", fmt.Sprintf("%d of %d columns at the start of the epoch", m.Rows, m.Dimension), []int{m.Rows, m.Dimension})
	x.add("cells", fmt.Sprintf("%d of %d slots, of which a query is scored in %d", m.Cells, m.Length, m.Probes), []int{m.Cells, m.Length, m.Probes})
	x.add("bytes", fmt.Sprintf("%s up and %s down a query; hint %s, once", text.FormatSize(m.RequestBytes()), text.FormatSize(m.AnswerBytes()), text.FormatSize(m.HintBytes())),
		map[string]int64{"request": m.RequestBytes(), "answer": m.AnswerBytes(), "hint": m.HintBytes()})
	return nil
}

// addRecords adds what a manifest of records says.
func (x *explanation) addRecords(m *wire.SealedRecords) error {
	epoch, err := m.Hash()
	if err != nil {
		return err
	}
	x.add("epoch", fmt.Sprintf("%x", epoch), nil)
	x.add("gallery", fmt.Sprintf("%x", m.Gallery), nil)
	x.add("records", fmt.Sprintf("%d, padded to %d bytes", m.Records, m.Length), []int{m.Records, m.Length})
	x.add("bytes", fmt.Sprintf("%s up and %s down a record; hint %s, once", text.FormatSize(m.RequestBytes(1)), text.FormatSize(m.AnswerBytes(1)), text.FormatSize(m.HintBytes())),
		map[string]int64{"request": m.RequestBytes(1), "answer": m.AnswerBytes(1), "hint": m.HintBytes()})
	return nil
}

package show

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/fit"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// ExplainModel explains a model.
func ExplainModel(ctx context.Context, path string) (_ *explanation, err error) {
	s, err := supervised.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, about := s.Model, s.About
	x := &explanation{kind: "model", about: "made by 'privatemail fit'; 'privatemail apply' places rows by it"}
	x.add("rows", fmt.Sprintf("%d x %d, the embedding", m.X.Rows, m.X.Cols), []int{m.X.Rows, m.X.Cols})
	x.add("map", fmt.Sprintf("from %d columns to %d", m.Map.Dim, m.Map.Columns()), []int{m.Map.Dim, m.Map.Columns()})
	x.add("recipe", m.Recipe.String(), nil)
	if about.Features != "" {
		x.addf("made from", "%s, %d x %d", about.Features, about.Rows, about.Columns)
	}
	if about.Labelled > 0 {
		x.add("labels", fmt.Sprintf("%d rows in %d classes", about.Labelled, about.Classes), []int{about.Labelled, about.Classes})
	}
	if names := m.ClassNames; names != nil {
		x.add("classes", listAll(names), names)
	} else if m.Labels == nil {
		x.addf("classes", "not known: the model was made by an earlier version, which kept no classes")
	}
	if names := files.ColumnsOfModel(path, s).Names; names != nil {
		x.add("columns", fmt.Sprintf("%d with names: %s", len(names), listAll(names)), names)
	}
	if h := m.Held; h != nil {
		x.add("held out", fmt.Sprintf("R@1 %.3f, R@8 %.3f, P@8 %.3f of %d rows (raw %.3f, %.3f, %.3f)", h.Chosen.At1, h.Chosen.At8, h.Chosen.P8, h.Rows, h.Raw.At1, h.Raw.At8, h.Raw.P8), fit.ReportHeld(h))
	}
	if m.Graph != nil {
		x.add("graph", report.NeighboursOf(m.X.Rows, m.Graph), report.GraphOf(m.Graph))
	}
	x.addf("checksums", "all are right")
	return x, nil
}

// showGallery explains what a server keeps of a gallery, or of a shard of one.
func showGallery(ctx context.Context, path string, open func(context.Context, string) (*server.Cells, error)) (_ *explanation, err error) {
	c, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	x := &explanation{kind: "gallery", about: "what a server answers private queries from"}
	if s := c.Shard(); s != nil {
		x = &explanation{kind: "shard", about: "a part of a gallery, from which 'privatemail front' has private queries answered"}
		x.addf("shard", "%d of %d", s.Index, s.Count)
		x.add("its rows", fmt.Sprintf("%d to %d", s.First, s.First+s.Rows-1), []int{s.First, s.Rows})
	}
	if err := x.addCodebook(c.Codebook()); err != nil {
		return nil, err
	}
	x.add("base", fmt.Sprintf("%d rows, a sample that clients take once", len(c.Base(wire.Float32).IDs)), len(c.Base(wire.Float32).IDs))
	if c.Map() != nil {
		x.addf("map", "published with the gallery")
	}
	x.addf("checksums", "all are right")
	return x, nil
}

// addCodebook adds what a codebook says.
func (x *explanation) addCodebook(book *wire.Codebook) error {
	hash, err := book.Hash()
	if err != nil {
		return err
	}
	x.add("codebook", fmt.Sprintf("%x", hash), nil)
	x.add("version", fmt.Sprint(book.Version), book.Version)
	x.add("rows", fmt.Sprintf("%d of %d columns, ranked by %d", book.Rows, book.Dimension, book.Ranking), []int{book.Rows, book.Dimension, book.Ranking})
	x.add("cells", fmt.Sprintf("%d, of which a request names %d, with lists of %d rows", book.Cells(), book.Size, book.Length), []int{book.Cells(), book.Size, book.Length})
	sizes := map[string]int64{}
	var words []string
	for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
		sizes[encoding.String()] = book.AnswerBytes(encoding)
		words = append(words, fmt.Sprintf("%s as %s", text.FormatSize(book.AnswerBytes(encoding)), encoding))
	}
	sizes["all"] = book.AllRowsBytes()
	x.add("answers", strings.Join(words, ", ")+fmt.Sprintf("; all, the whole gallery once: %s", text.FormatSize(book.AllRowsBytes())), sizes)
	return nil
}

// listAll lists names, those of a text that is not too long for a terminal; -json has all.
func listAll(names []string) string {
	const most = 1000 // letters
	s := ""
	for i, name := range names {
		name = text.Harmless(name)
		if len(s)+len(name) > most {
			return s + fmt.Sprintf(" and %d more, which -json lists", len(names)-i)
		}
		if i > 0 {
			s += ", "
		}
		s += name
	}
	return s
}

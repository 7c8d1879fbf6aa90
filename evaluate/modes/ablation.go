package modes

import (
	"context"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/evaluate/ablation"
)

// Ablation returns mode supervised taken apart, a mode for each line of package
// evaluate/ablation.
func Ablation() (all []evaluate.Mode) {
	for _, row := range ablation.Rows() {
		all = append(all, evaluate.Mode{
			Name: "ablation-" + strings.ReplaceAll(strings.ReplaceAll(row.Name, ",", ""), " ", "-"), Title: "ablation: " + row.Name,
			Protects: "Nothing: the server sees where the query's features lie. Labels of queries are never used.",
			Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
				engine, err := privatemail.New(privatemail.WithWorkers(max(t.Workers, 1)))
				if err != nil {
					return nil, err
				}
				defer engine.Close()
				queries, gallery, err := row.Place(ctx, engine, &ablation.Set{
					Public: t.Public, Gallery: t.Gallery, Queries: t.Queries,
					PublicLabels: t.PublicLabels, GalleryLabels: t.GalleryLabels,
				})
				if err != nil {
					return nil, err
				}
				n, _ := gallery.Dims()
				r, err := evaluate.Nearest(ctx, queries.RawMatrix(), gallery.RawMatrix(), min(evaluate.DeepLength, n), &evaluate.SearchSettings{Workers: t.Workers})
				if err != nil {
					return nil, err
				}
				return &evaluate.Answer{Ranking: r, Exact: r}, nil
			},
		})
	}
	return all
}

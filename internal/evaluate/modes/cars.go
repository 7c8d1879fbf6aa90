package modes

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/published"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// CarsName is the name of the data set Cars.
const CarsName = "cars-size"

// carsQueries is how many rows of its gallery are queries.
const carsQueries = 500

// Cars returns generated rows of the size and difficulty of Cars196, the set of
// the paper's headline figure, with rows of unit length.
func Cars() *evaluate.Data {
	return &evaluate.Data{Name: CarsName, Generate: func(seed uint64) (*evaluate.Problem, error) {
		d, err := published.CarsSize(carsQueries, seed)
		if err != nil {
			return nil, err
		}
		part := func(s published.Set) evaluate.Part {
			x := mat.NewDense(s.Features.Rows, s.Features.Cols, s.Features.Data)
			for i := range s.Features.Rows {
				points.Normalize(x.RawRowView(i))
			}
			return evaluate.Part{Rows: x, Labels: s.Labels}
		}
		return evaluate.Assemble(CarsName, seed, part(d.Public), part(d.Gallery), part(d.Queries))
	}}
}

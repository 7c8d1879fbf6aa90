package settings

import (
	"flag"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The forms of embed.
const (
	Spectral = "spectral"
	paper    = "paper"
	attract  = "attract"
)

// defaultNeighbours is -neighbours of form spectral.
const defaultNeighbours = 10

// FormChoice say what an embedding is.
type FormChoice struct {
	Form    string
	rescale bool
}

func (f *FormChoice) Define(fs *flag.FlagSet) {
	ChoiceVar(fs, &f.Form, "form", "", []string{Spectral, paper, attract}, "what to make: `F` is spectral, paper or attract\nspectral is a map made of leading eigenvectors, paper the published iteration, attract pulls rows of a class together (default: attract with -beta, paper with -alpha, otherwise spectral)")
	fs.BoolVar(&f.rescale, "rescale", false, "form paper: scale the embedding to standard deviation 1\nAll its entries are divided by one number")
}

// Settle decides the form, and refuses flags that belong to another.
func (f *FormChoice) Settle(set map[string]bool) error {
	if !set["form"] {
		switch {
		case set["beta"]:
			f.Form = attract
		case set["alpha"]:
			f.Form = paper
		default:
			f.Form = Spectral
		}
	}
	others := map[string][]string{
		Spectral: {"alpha", "beta", "steps", "stop", "normalize", "sigma-q", "seed", "table", "label-sigma", "rescale", "checkpoint", "checkpoint-every", "resume"},
		paper:    {"beta"},
		attract:  {"alpha", "dim", "sigma-q", "seed", "rescale"},
	}
	for _, name := range others[f.Form] {
		if set[name] && !(set["beta"] && f.Form == attract && name != "rescale") { // Step.check knows more about -beta
			return cli.Usagef("-%s has no place in form %s: %s", name, f.Form, formAdvice(name))
		}
	}
	return nil
}

// formAdvice says where a flag belongs.
func formAdvice(name string) string {
	switch name {
	case "alpha", "dim", "sigma-q", "seed", "rescale":
		return "it belongs to -form paper"
	case "beta":
		return "it belongs to -form attract"
	case "table", "label-sigma":
		return "it is about labels, which -form paper with -alpha A and -form attract with -beta B use"
	}
	return "it belongs to -form paper and -form attract"
}

// Apply fills in what follows from the form. Form spectral has a graph by default.
func (f *FormChoice) Apply(s *privatemail.Settings, set map[string]bool) {
	if f.Form == attract {
		s.Form = kernel.Attract
	}
	if f.Form == Spectral && !set["sigma"] && !set["mean-neighbours"] && !set["neighbours"] {
		s.Bandwidth, s.Neighbours = kernel.Bandwidth{}, defaultNeighbours
	}
}

// Size rescales an embedding if asked for, and otherwise says why that of form paper is
// small.
func (f *FormChoice) Size(e *cli.Env, x blas32.General, s *privatemail.Settings) {
	sum, squares := 0.0, 0.0
	for _, v := range x.Data {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(x.Data))
	deviation := math.Sqrt(max(squares/float64(len(x.Data))-mean*mean, 0))
	switch {
	case f.rescale && deviation > 0:
		for i, v := range x.Data {
			x.Data[i] = float32(1 / deviation * float64(v))
		}
	case f.Form == paper && !f.rescale && s.Normalize == iterate.None && s.SigmaQ < 1e-3:
		e.Note("the numbers of the embedding are tiny: form paper begins at random numbers of standard deviation -sigma-q %g, and its steps keep that scale; -rescale enlarges them all by one factor", s.SigmaQ)
	}
}

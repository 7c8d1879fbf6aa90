package search

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Report is the last object of search -json.
type Report struct {
	Gallery      int      `json:"gallery"`
	Queries      int      `json:"queries"`
	D            int      `json:"d"`
	K            int      `json:"k"`
	RecallAt1    *float64 `json:"recall_at_1,omitempty"`
	RecallAtK    *float64 `json:"recall_at_k,omitempty"`
	Labelled     int      `json:"labelled_queries,omitempty"`
	Seconds      float64  `json:"seconds"`
	Out          string   `json:"out,omitempty"`
	DistancesOut string   `json:"distances_out,omitempty"`

	// With -predict.
	Predicted string   `json:"classes,omitempty"`
	NoClass   int      `json:"queries_without_class,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`
}

// AnswerReport is what search -json prints of a query when there is no -out.
type AnswerReport struct {
	Query     int       `json:"query"`
	IDs       []int32   `json:"ids"`
	Distances []float32 `json:"distances"`
}

// answer returns the answers to query q.
func (s *search) answer(q int) AnswerReport {
	k := s.flags.k
	return AnswerReport{q, s.ids[q*k : (q+1)*k], s.distances[q*k : (q+1)*k]}
}

func (s *search) show(e *cli.Env) error {
	if e.JSON {
		return s.showJSON(e)
	}
	if s.flags.out == "" && s.flags.distancesOut == "" && s.flags.predict == "" {
		if err := s.showAnswers(e); err != nil {
			return err
		}
	} else if e.Quiet {
		return nil
	}
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "searched\t%d queries among %d rows of %d columns, exactly, in %.2f s\n", s.queries.x.Rows, s.gallery.x.Rows, s.gallery.x.Cols, s.seconds)
	if s.scored > 0 {
		fmt.Fprintf(t, "recall\tR@1 %.3f", s.recall(0))
		if s.flags.k > 1 {
			fmt.Fprintf(t, ", R@%d %.3f", s.flags.k, s.recall(1))
		}
		if left := s.queries.x.Rows - s.scored; left > 0 {
			fmt.Fprintf(t, "; %d queries without a label do not count", left)
		}
		fmt.Fprintln(t)
	}
	if s.classes != nil {
		s.classes.WriteFacts(t, s.flags.predict)
	}
	if s.flags.out != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d row numbers\n", s.flags.out, s.queries.x.Rows, s.flags.k)
	}
	if s.flags.distancesOut != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d distances\n", s.flags.distancesOut, s.queries.x.Rows, s.flags.k)
	}
	return t.Flush()
}

// recall returns R@1 or R@k.
func (s *search) recall(at int) float64 { return float64(s.hits[at]) / float64(s.scored) }

func (s *search) showJSON(e *cli.Env) error {
	if s.flags.out == "" {
		for q := range s.queries.x.Rows {
			if err := e.Object(s.answer(q)); err != nil {
				return err
			}
		}
	}
	r := Report{
		Gallery: s.gallery.x.Rows, Queries: s.queries.x.Rows, D: s.gallery.x.Cols, K: s.flags.k, Labelled: s.scored,
		Seconds: s.seconds, Out: s.flags.out, DistancesOut: s.flags.distancesOut,
	}
	if s.scored > 0 {
		first, all := s.recall(0), s.recall(1)
		r.RecallAt1, r.RecallAtK = &first, &all
	}
	if s.classes != nil {
		r.Predicted, r.NoClass, r.Accuracy = s.flags.predict, s.classes.None, s.classes.Accuracy()
	}
	return e.Object(r)
}

// showAnswers prints the nearest rows of the first queries.
func (s *search) showAnswers(e *cli.Env) error {
	return report.WriteNearest(e.Stdout, s.queries.x.Rows, s.flags.k, func(q int) ([]int32, []float32) {
		a := s.answer(q)
		return a.IDs, a.Distances
	})
}

package query

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

// PlanReport is the object of query -dry-run -json.
type PlanReport struct {
	Server    string   `json:"server"`
	Gallery   string   `json:"gallery,omitempty"`
	Mode      string   `json:"mode"`
	Encoding  string   `json:"encoding,omitempty"`
	Rows      int      `json:"gallery_rows"`
	Codebook  string   `json:"codebook,omitempty"`
	Epoch     string   `json:"epoch,omitempty"` // of mode sealed
	Confirmed bool     `json:"confirmed"`
	Queries   int      `json:"queries"`
	Sent      []string `json:"sent"` // by the dry run itself

	// Of mode cells.
	Cells        int      `json:"cells,omitempty"`
	Size         int      `json:"size,omitempty"`
	Epsilon      float64  `json:"epsilon,omitempty"`
	Inclusion    float64  `json:"inclusion,omitempty"`
	RequestBytes int64    `json:"request_bytes,omitempty"`
	AnswerBytes  int64    `json:"answer_bytes,omitempty"`
	AllRowsBytes int64    `json:"all_rows_bytes,omitempty"` // what mode all would take, once
	New          int      `json:"new_records"`
	Remembered   int      `json:"remembered_records"`
	Resent       int      `json:"resent_records,omitempty"`  // of names whose rows have changed
	Changed      int      `json:"changed_records,omitempty"` // of the new ones, those of such names
	Equal        int      `json:"equal_rows,omitempty"`      // to one before
	NewNames     *int     `json:"names_new_to_the_ledger,omitempty"`
	Fits         *int     `json:"fits,omitempty"` // of the new records
	EpsilonSoFar *float64 `json:"epsilon_so_far,omitempty"`
	EpsilonAfter *float64 `json:"epsilon_after,omitempty"`
	Budget       *float64 `json:"budget_epsilon,omitempty"`
	Protects     string   `json:"protects,omitempty"` // what these epsilons are for

	// Of mode sealed; those of records are for each query.
	Privacy   string `json:"privacy,omitempty"`
	Probes    int    `json:"probes,omitempty"`
	Fetches   int    `json:"records,omitempty"`
	FetchUp   int64  `json:"record_bytes_up,omitempty"`
	FetchDown int64  `json:"record_bytes_down,omitempty"`

	client string // of the flags
	byName bool   // and not by content

	Once []onceReport `json:"once"`
	Up   int64        `json:"bytes_up"`
	Down int64        `json:"bytes_down"` // as far as lengths are known
}

// onceReport is something that is taken once.
type onceReport struct {
	What   string `json:"what"`
	Bytes  *int64 `json:"bytes,omitempty"` // nil where it is not known
	Cached bool   `json:"cached"`
}

// plan shows what a run would do.
func (r *run) plan(ctx context.Context, e *cli.Env) error {
	p, err := r.session.Plan(ctx, r.rows)
	r.noteWarnings(e)
	if err != nil {
		return r.explain(err)
	}
	report := r.planReport(p)
	if e.JSON {
		return e.Object(report)
	}
	return report.write(e)
}

func (r *run) planReport(p *session.Plan) *PlanReport {
	f := r.flags
	out := &PlanReport{
		Server: r.address, Mode: f.mode, Queries: r.rows.X.Rows, Confirmed: f.confirmed(), Sent: append([]string{}, p.Sent...),
		RequestBytes: p.RequestBytes, AnswerBytes: p.AnswerBytes, Up: p.Up, Down: p.Down,
	}
	if p.About != nil {
		out.Gallery = p.About.Name
	}
	for _, o := range p.Once {
		once := onceReport{What: o.What, Cached: o.Cached}
		if o.Bytes >= 0 {
			once.Bytes = &o.Bytes
		}
		out.Once = append(out.Once, once)
	}
	hash := fmt.Sprintf("%x", p.Hash)
	if m := p.Manifest; m != nil {
		out.Rows, out.Epoch, out.Cells, out.Probes, out.Privacy = m.Rows, hash, m.Cells, m.Probes, NoEpsilon
		out.Fetches, out.FetchUp, out.FetchDown = p.Fetches, p.FetchUp, p.FetchDown
		return out
	}
	out.Rows, out.Codebook, out.Encoding = p.Codebook.Rows, hash, f.encodingName()
	if f.mode == ModeCells {
		r.planSpends(p, out)
	}
	return out
}

// planSpends adds what mode cells would spend.
func (r *run) planSpends(p *session.Plan, out *PlanReport) {
	out.Cells, out.Size, out.Epsilon, out.Inclusion = p.Terms.Cells, p.Terms.Size, p.Terms.Epsilon, p.Terms.Inclusion
	out.AllRowsBytes = p.Codebook.AllRowsBytes()
	out.New, out.Remembered, out.Resent, out.Changed, out.Equal = p.New, p.Remembered, p.Resent, p.Changed, p.Equal
	out.byName = r.rows.Names != nil
	if c := p.Cost; c != nil {
		out.NewNames, out.client = &c.NewUnits, r.flags.client
		out.Fits, out.EpsilonSoFar, out.EpsilonAfter, out.Budget = &c.Fits, &c.Before, &c.After, &c.Budget
		out.Protects = c.Protects
	}
}

package query

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Report is the last object of query -json.
type Report struct {
	Server       string  `json:"server"`
	Mode         string  `json:"mode"`
	Encoding     string  `json:"encoding,omitempty"`
	Codebook     string  `json:"codebook,omitempty"`
	Epoch        string  `json:"epoch,omitempty"` // of mode sealed
	Confirmed    bool    `json:"confirmed"`
	Gallery      int     `json:"gallery"`
	Queries      int     `json:"queries"`
	K            int     `json:"k"`
	Epsilon      float64 `json:"epsilon,omitempty"`
	Privacy      string  `json:"privacy,omitempty"` // of mode sealed: why nothing is spent
	Spent        int     `json:"records_that_spent"`
	Wasted       int     `json:"spends_under_replaced_codebooks,omitempty"` // earlier in the run
	Changed      int     `json:"changed_records_that_spent,omitempty"`      // of them, rows of names that had another
	Remembered   int     `json:"records_remembered"`
	Resent       int     `json:"records_resent,omitempty"`          // rows of names that had another, whose set was sent
	Equal        int     `json:"equal_rows,omitempty"`              // to one before
	NewNames     *int    `json:"names_new_to_the_ledger,omitempty"` // nil without a ledger
	Fewer        int     `json:"queries_with_fewer"`                // than k rows
	Seconds      float64 `json:"seconds"`
	Out          string  `json:"out,omitempty"`
	DistancesOut string  `json:"distances_out,omitempty"`

	// With -predict.
	Predicted string   `json:"classes,omitempty"`
	NoClass   int      `json:"queries_without_class,omitempty"`
	Labelled  int      `json:"labelled_queries,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`

	// Of mode sealed.
	Cells      int     `json:"cells,omitempty"`
	Probes     int     `json:"probes,omitempty"`
	Bound      float64 `json:"distance_bound,omitempty"` // of the error of a squared distance from a row of length 1
	Fetched    int     `json:"records_fetched,omitempty"`
	Missing    int     `json:"records_missing,omitempty"`
	RecordsOut string  `json:"records_out,omitempty"`
}

// AnswerReport is what query -json prints of a query when there is no -out.
type AnswerReport struct {
	Query     int       `json:"query"`
	Name      string    `json:"name,omitempty"`   // of -names
	Resent    bool      `json:"resent,omitempty"` // the set of another row of the name was sent
	IDs       []int32   `json:"ids"`
	Distances []float32 `json:"distances"`
	Rows      int       `json:"rows"`            // that were ranked; in mode sealed slots, empty ones among them
	Lists     int       `json:"lists,omitempty"` // of them in the lists of the answer
	Base      int       `json:"base,omitempty"`  // and in the base sample
	Fewer     string    `json:"fewer,omitempty"` // why there are fewer than k
}

// query returns the answers to query q.
func (r *run) query(q int) AnswerReport {
	at, n := q*r.result.K, r.result.Found(q)
	out := AnswerReport{Query: q, IDs: r.result.IDs[at : at+n], Distances: r.result.Distances[at : at+n], Rows: r.result.Queries[q].Ranked, Lists: r.result.Queries[q].Lists, Base: r.result.Queries[q].Base}
	if r.rows.Names != nil {
		out.Name, out.Resent = r.rows.Names[q], r.result.Queries[q].Resent
	}
	if n < r.result.K {
		out.Fewer = r.why()
	}
	return out
}

// why says why a query has fewer than k rows.
func (r *run) why() string {
	switch r.flags.mode {
	case ModeAll:
		return "the gallery has no more rows"
	case ModeSealed:
		return "the cells that were probed have no more rows"
	}
	return "the lists that were sent and the base sample have no more rows"
}

// fewer returns how many queries have fewer than k rows.
func (r *run) fewer() (n int) {
	for q := range r.result.Queries {
		if r.result.Found(q) < r.result.K {
			n++
		}
	}
	return n
}

func (r *run) show(e *cli.Env) error {
	if e.JSON {
		return r.showJSON(e)
	}
	if e.Quiet {
		return nil
	}
	if r.flags.out == "" && r.flags.distancesOut == "" && r.classes == nil {
		if err := r.showAnswers(e.Stdout); err != nil {
			return err
		}
	}
	if err := r.showRecords(e); err != nil {
		return err
	}
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "asked\t%s, %d queries in mode %s, in %.2f s\n", r.address, r.rows.X.Rows, r.flags.mode, r.seconds)
	fmt.Fprintf(t, "%s\t%x, %s\n", hashName(r.flags.mode), r.result.Hash, confirmation(r.flags.mode, r.flags.confirmed()))
	fmt.Fprintf(t, "rows\t%s\n", r.rowsBack())
	if n := r.fewer(); n > 0 {
		fmt.Fprintf(t, "fewer\t%d queries have fewer than %d rows: %s\n", n, r.result.K, r.why())
	}
	switch {
	case r.flags.mode == ModeSealed:
		fmt.Fprintln(t, "spent\t"+NoEpsilon)
	case r.flags.mode == ModeAll:
		fmt.Fprintln(t, "spent\tnothing: the server has learned nothing about a row")
	case r.result.Spent == 0 && r.result.Resent == 0:
		fmt.Fprintf(t, "spent\tnothing: all %d records were remembered\n", r.result.Remembered)
	case r.result.Spent == 0:
		fmt.Fprintf(t, "spent\tnothing; %d records were remembered\n", r.result.Remembered)
	default:
		fmt.Fprintf(t, "spent\tepsilon %g by each of %d records; %d were remembered and spent nothing\n", r.flags.epsilon, r.result.Spent, r.result.Remembered)
	}
	writeKinds(t, r.result.Equal, r.result.Changed, r.result.Resent)
	if r.result.Wasted > 0 {
		fmt.Fprintf(t, "\tbefore that epsilon %g was spent %d times, under codebooks that were replaced in the middle of the run\n", r.flags.epsilon, r.result.Wasted)
	}
	switch {
	case r.flags.mode != ModeCells:
	case r.flags.ledger == accounts.NoLedger:
		fmt.Fprintln(t, "ledger\tnone: nothing was counted")
	case r.result.NewUnits > 0:
		writeNew(t, r.result.NewUnits, r.flags.client, r.rows.Names != nil)
	}
	if r.classes != nil {
		r.classes.WriteFacts(t, r.classes.out)
	}
	if r.flags.out != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d row numbers\n", r.flags.out, r.rows.X.Rows, r.result.K)
	}
	if r.flags.distancesOut != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d distances\n", r.flags.distancesOut, r.rows.X.Rows, r.result.K)
	}
	if r.flags.sealed.recordsOut != "" {
		fmt.Fprintf(t, "wrote\t%s, the records of the matches\n", r.flags.sealed.recordsOut)
	}
	return t.Flush()
}

// writeKinds says what rows are that are not one new record each.
func writeKinds(t io.Writer, equal, changed, resent int) {
	if equal > 0 {
		fmt.Fprintf(t, "\t%d rows are equal to one before: the same record, and the same set\n", equal)
	}
	if changed > 0 {
		fmt.Fprintf(t, "\t%d of those that spend are further rows of their names\n", changed)
	}
	if resent > 0 {
		fmt.Fprintf(t, "\t%d rows were not released under their names: the last set of the name is sent again and spends nothing; it finds the neighbours of the row that it was drawn for\n", resent)
	}
}

// writeNew says how many records a ledger has not seen before, or does not know yet.
func writeNew(t io.Writer, n int, client string, byName bool) {
	switch {
	case client != "":
		fmt.Fprintln(t, "new name\tthe client is new to the ledger; if it has spent before under another name, this one is a second budget")
	case byName && n == 1:
		fmt.Fprintln(t, "new names\t1 record is new to the ledger; if it has spent before under another name, this one is a second budget")
	case byName:
		fmt.Fprintf(t, "new names\t%d records are new to the ledger; one that has spent before under another name has a second budget\n", n)
	case n == 1:
		fmt.Fprintln(t, "new records\t1 record is new to the ledger; if its row differs in any value from one that has spent, it has a second budget")
	default:
		fmt.Fprintf(t, "new records\t%d records are new to the ledger; one whose row differs in any value from one that has spent has a second budget\n", n)
	}
}

// hashName is what a mode calls the hash that names what is served.
func hashName(mode string) string {
	if mode == ModeSealed {
		return "epoch"
	}
	return "codebook"
}

func confirmation(mode string, confirmed bool) string {
	if confirmed {
		return "confirmed by -" + hashName(mode)
	}
	return "unconfirmed: the server may have made it for you alone"
}

// rowsBack says how many rows came back and why not all.
func (r *run) rowsBack() string {
	if r.flags.mode == ModeSealed {
		m := r.result.Manifest
		return fmt.Sprintf("the server has scored all %d under encryption, and those of the %d of %d cells nearest to a query were ranked here; a near row in another cell is not found", m.Rows, m.Probes, m.Cells)
	}
	if r.flags.mode == ModeAll {
		return fmt.Sprintf("all %d of the gallery were ranked here for each query", r.result.Codebook.Rows)
	}
	least, most := r.result.Queries[0].Ranked, r.result.Queries[0].Ranked
	for _, c := range r.result.Queries {
		least, most = min(least, c.Ranked), max(most, c.Ranked)
	}
	between := fmt.Sprint(most)
	if least < most {
		between = fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprintf("%s of %d came back for a query: those of %d of %d cells, and a sample of %d; a near row in another cell is not found", between, r.result.Codebook.Rows, r.result.Codebook.Size, r.result.Codebook.Cells(), r.result.Queries[0].Base)
}

func (r *run) showJSON(e *cli.Env) error {
	if r.flags.out == "" {
		for q := range r.rows.X.Rows {
			if err := e.Object(r.query(q)); err != nil {
				return err
			}
		}
	}
	if err := r.showRecords(e); err != nil {
		return err
	}
	if r.flags.mode == ModeSealed {
		return e.Object(r.classes.Report(r.sealedReport()))
	}
	var names *int
	if r.flags.mode == ModeCells && r.flags.ledger != accounts.NoLedger {
		count := r.result.NewUnits
		names = &count
	}
	return e.Object(r.classes.Report(Report{
		NewNames: names,
		Server:   r.address, Mode: r.flags.mode, Encoding: r.flags.encodingName(), Codebook: fmt.Sprintf("%x", r.result.Hash), Confirmed: r.flags.confirmed(),
		Gallery: r.result.Codebook.Rows, Queries: r.rows.X.Rows, K: r.result.K, Epsilon: r.flags.epsilon, Spent: r.result.Spent, Wasted: r.result.Wasted, Changed: r.result.Changed, Remembered: r.result.Remembered, Resent: r.result.Resent, Equal: r.result.Equal,
		Fewer: r.fewer(), Seconds: r.seconds, Out: r.flags.out, DistancesOut: r.flags.distancesOut,
	}))
}

// sealedReport is the last object of a run in mode sealed.
func (r *run) sealedReport() Report {
	m := r.result.Manifest
	return Report{
		Server: r.address, Mode: r.flags.mode, Epoch: fmt.Sprintf("%x", r.result.Hash), Confirmed: r.flags.confirmed(), Privacy: NoEpsilon,
		Gallery: m.Rows, Queries: r.rows.X.Rows, K: r.result.K, Cells: m.Cells, Probes: m.Probes, Bound: r.result.Bound,
		Fewer: r.fewer(), Seconds: r.seconds, Out: r.flags.out, DistancesOut: r.flags.distancesOut,
		Fetched: len(r.result.Records), Missing: r.result.Missing(), RecordsOut: r.flags.sealed.recordsOut,
	}
}

// showAnswers prints the nearest rows of the first queries.
func (r *run) showAnswers(w io.Writer) error {
	return report.WriteNearest(w, r.rows.X.Rows, r.result.K, func(q int) ([]int32, []float32) {
		a := r.query(q)
		return a.IDs, a.Distances
	})
}

// write prints the plan for a person.
func (r *PlanReport) write(e *cli.Env) error {
	t := report.Facts(e.Stdout)
	of := ""
	if r.Gallery != "" {
		of = fmt.Sprintf(", gallery %q", r.Gallery)
	}
	fmt.Fprintf(t, "server\t%s%s of %d rows\n", r.Server, of, r.Rows)
	fmt.Fprintf(t, "%s\t%s, %s\n", hashName(r.Mode), r.Codebook+r.Epoch, confirmation(r.Mode, r.Confirmed))
	switch r.Mode {
	case ModeSealed:
		fmt.Fprintf(t, "would send\t%d requests of %d bytes: each has %d ciphertexts, which the server cannot read\n", r.Queries, r.RequestBytes, r.Probes)
		if r.FetchUp > 0 {
			fmt.Fprintf(t, "would fetch\tthe records of %d rows for each query, without disclosing which: %s up, %s down\n", r.Fetches, text.FormatSize(r.FetchUp), text.FormatSize(r.FetchDown))
		}
		fmt.Fprintln(t, "privacy\t"+NoEpsilon)
	case ModeAll:
		fmt.Fprintf(t, "would send\tnothing about the %d rows: the gallery is taken as %s and ranked here\n", r.Queries, r.Encoding)
	default:
		fmt.Fprintf(t, "would send\t%d requests of %d bytes: each names %d of %d cells, and asks for %s\n", r.Queries, r.RequestBytes, r.Size, r.Cells, r.Encoding)
		fmt.Fprintf(t, "epsilon\t%g a record, pure; the record's own cell is among those named with chance %.4g\n", r.Epsilon, r.Inclusion)
		fmt.Fprintf(t, "would spend\t%d records; %d are remembered and spend nothing\n", r.New, r.Remembered)
		writeKinds(t, r.Equal, r.Changed, r.Resent)
		r.writeLedger(t)
	}
	for _, o := range r.Once {
		fmt.Fprintf(t, "once\t%s: %s\n", o.What, o.state())
	}
	if r.Mode != ModeAll {
		fmt.Fprintf(t, "each query\t%s up, %s down\n", text.FormatSize(r.RequestBytes), text.FormatSize(r.AnswerBytes))
	}
	fmt.Fprintf(t, "in all\t%s up, %s down, without headers\n", text.FormatSize(r.Up), text.FormatSize(r.Down))
	if r.Mode == ModeCells {
		fmt.Fprintf(t, "instead\t'query all' takes %s once, for any number of queries, and spends nothing\n", text.FormatSize(r.AllRowsBytes))
	}
	sent := "nothing"
	if len(r.Sent) > 0 {
		sent = strings.Join(r.Sent, ", ") + ", which say nothing about a row"
	}
	fmt.Fprintf(t, "sent now\t%s\n", sent)
	return t.Flush()
}

// writeLedger says what is left.
func (r *PlanReport) writeLedger(t io.Writer) {
	switch {
	case r.Fits == nil:
		fmt.Fprintln(t, "ledger\tnone: nothing is counted")
	case r.New == 0:
		fmt.Fprintln(t, "ledger\tis not touched")
	case *r.Fits < r.New:
		fmt.Fprintf(t, "ledger\tonly %d of %d spends fit: nothing about a row would be sent\n", *r.Fits, r.New)
	default:
		if r.NewNames != nil && *r.NewNames > 0 {
			writeNew(t, *r.NewNames, r.client, r.byName)
		}
		fmt.Fprintf(t, "ledger\tall spends fit; the unit that has spent most is at epsilon %s of %g, and would be at %s\n", accounts.Closely(*r.EpsilonSoFar), *r.Budget, accounts.Closely(*r.EpsilonAfter))
		fmt.Fprintf(t, "\t%s\n", accounts.ForWhat(r.Protects))
	}
}

// state says what of it is here.
func (o onceReport) state() string {
	switch {
	case o.Cached:
		return text.FormatSize(*o.Bytes) + ", in the cache"
	case o.Bytes == nil:
		return "not in the cache; the server was not asked for its length"
	case *o.Bytes == 0:
		return "there is none"
	}
	return text.FormatSize(*o.Bytes) + ", not in the cache"
}

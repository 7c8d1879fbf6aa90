package query

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// AskReport is the last object of query -json.
type AskReport struct {
	Server       string  `json:"server"`
	Mode         string  `json:"mode"`
	Form         string  `json:"form,omitempty"`
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

// QueryReport is what query -json prints of a query when there is no -out.
type QueryReport struct {
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
func (a *Asking) query(q int) QueryReport {
	at, n := q*a.flags.K, a.found(q)
	r := QueryReport{Query: q, IDs: a.Ids[at : at+n], Distances: a.distances[at : at+n], Rows: a.came[q].all, Lists: a.came[q].lists, Base: a.came[q].base}
	if a.names != nil {
		r.Name, r.Resent = a.names[q], a.came[q].resent
	}
	if n < a.flags.K {
		r.Fewer = a.why()
	}
	return r
}

// why says why a query has fewer than k rows.
func (a *Asking) why() string {
	switch a.flags.Mode {
	case ModeAll:
		return "the gallery has no more rows"
	case ModeSealed:
		return "the cells that were probed have no more rows"
	}
	return "the lists that were sent and the base sample have no more rows"
}

// fewer returns how many queries have fewer than k rows.
func (a *Asking) fewer() (n int) {
	for q := range a.came {
		if a.found(q) < a.flags.K {
			n++
		}
	}
	return n
}

func (a *Asking) show(e *cli.Env) error {
	if e.JSON {
		return a.showJSON(e)
	}
	if e.Quiet {
		return nil
	}
	if a.flags.out == "" && a.flags.distancesOut == "" && a.classes == nil {
		if err := a.showAnswers(e.Stdout); err != nil {
			return err
		}
	}
	if err := a.showRecords(e); err != nil {
		return err
	}
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "asked\t%s, %d queries in mode %s, in %.2f s\n", a.address, a.X.Rows, a.flags.Mode, a.seconds)
	fmt.Fprintf(t, "%s\t%x, %s\n", hashName(a.flags.Mode), a.hash, confirmation(a.flags.Mode, a.flags.confirmed()))
	fmt.Fprintf(t, "rows\t%s\n", a.rowsBack())
	if n := a.fewer(); n > 0 {
		fmt.Fprintf(t, "fewer\t%d queries have fewer than %d rows: %s\n", n, a.flags.K, a.why())
	}
	switch {
	case a.flags.Mode == ModeSealed:
		fmt.Fprintln(t, "spent\t"+NoEpsilon)
	case a.flags.Mode == ModeAll:
		fmt.Fprintln(t, "spent\tnothing: the server has learned nothing about a row")
	case a.paid == 0 && a.resent == 0:
		fmt.Fprintf(t, "spent\tnothing: all %d records were remembered\n", a.remembered)
	case a.paid == 0:
		fmt.Fprintf(t, "spent\tnothing; %d records were remembered\n", a.remembered)
	default:
		fmt.Fprintf(t, "spent\tepsilon %g by each of %d records; %d were remembered and spent nothing\n", a.flags.Epsilon, a.paid, a.remembered)
	}
	writeKinds(t, a.equal, a.changed, a.resent)
	if a.wasted > 0 {
		fmt.Fprintf(t, "\tbefore that epsilon %g was spent %d times, under codebooks that were replaced in the middle of the run\n", a.flags.Epsilon, a.wasted)
	}
	switch {
	case a.flags.Mode != ModeCells:
	case a.flags.Ledger == accounts.NoLedger:
		fmt.Fprintln(t, "ledger\tnone: nothing was counted")
	case len(a.newUnits) > 0:
		writeNew(t, len(a.newUnits), a.flags.client, a.names != nil)
	}
	if a.classes != nil {
		a.classes.WriteFacts(t, a.classes.out)
	}
	if a.flags.out != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d row numbers\n", a.flags.out, a.X.Rows, a.flags.K)
	}
	if a.flags.distancesOut != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d distances\n", a.flags.distancesOut, a.X.Rows, a.flags.K)
	}
	if a.flags.Sealed.recordsOut != "" {
		fmt.Fprintf(t, "wrote\t%s, the records of the matches\n", a.flags.Sealed.recordsOut)
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
func (a *Asking) rowsBack() string {
	if a.flags.Mode == ModeSealed {
		m := a.sealed.manifest
		return fmt.Sprintf("the server has scored all %d under encryption, and those of the %d of %d cells nearest to a query were ranked here; a near row in another cell is not found", m.Rows, m.Probes, m.Cells)
	}
	if a.flags.Mode == ModeAll {
		return fmt.Sprintf("all %d of the gallery were ranked here for each query", a.book.Rows)
	}
	least, most := a.came[0].all, a.came[0].all
	for _, c := range a.came {
		least, most = min(least, c.all), max(most, c.all)
	}
	between := fmt.Sprint(most)
	if least < most {
		between = fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprintf("%s of %d came back for a query: those of %d of %d cells, and a sample of %d; a near row in another cell is not found", between, a.book.Rows, a.book.Size, a.book.Cells(), a.came[0].base)
}

func (a *Asking) showJSON(e *cli.Env) error {
	if a.flags.out == "" {
		for q := range a.X.Rows {
			if err := e.Object(a.query(q)); err != nil {
				return err
			}
		}
	}
	if err := a.showRecords(e); err != nil {
		return err
	}
	if a.flags.Mode == ModeSealed {
		return e.Object(a.classes.Report(a.sealedReport()))
	}
	form := a.form.String()
	if a.flags.Mode == ModeAll {
		form = wire.Int8.String()
	}
	var names *int
	if a.flags.Mode == ModeCells && a.flags.Ledger != accounts.NoLedger {
		count := len(a.newUnits)
		names = &count
	}
	return e.Object(a.classes.Report(AskReport{
		NewNames: names,
		Server:   a.address, Mode: a.flags.Mode, Form: form, Codebook: fmt.Sprintf("%x", a.hash), Confirmed: a.flags.confirmed(),
		Gallery: a.book.Rows, Queries: a.X.Rows, K: a.flags.K, Epsilon: a.flags.Epsilon, Spent: a.paid, Wasted: a.wasted, Changed: a.changed, Remembered: a.remembered, Resent: a.resent, Equal: a.equal,
		Fewer: a.fewer(), Seconds: a.seconds, Out: a.flags.out, DistancesOut: a.flags.distancesOut,
	}))
}

// sealedReport is the last object of a run in mode sealed.
func (a *Asking) sealedReport() AskReport {
	m := a.sealed.manifest
	return AskReport{
		Server: a.address, Mode: a.flags.Mode, Epoch: fmt.Sprintf("%x", a.hash), Confirmed: a.flags.confirmed(), Privacy: NoEpsilon,
		Gallery: m.Rows, Queries: a.X.Rows, K: a.flags.K, Cells: m.Cells, Probes: m.Probes, Bound: a.sealed.client.Bound(),
		Fewer: a.fewer(), Seconds: a.seconds, Out: a.flags.out, DistancesOut: a.flags.distancesOut,
		Fetched: len(a.sealed.fetched), Missing: a.missing(), RecordsOut: a.flags.Sealed.recordsOut,
	}
}

// showAnswers prints the nearest rows of the first queries.
func (a *Asking) showAnswers(w io.Writer) error {
	return report.WriteNearest(w, a.X.Rows, a.flags.K, func(q int) ([]int32, []float32) {
		r := a.query(q)
		return r.IDs, r.Distances
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
		fmt.Fprintf(t, "would send\tnothing about the %d rows: the gallery is taken as %s and ranked here\n", r.Queries, r.Form)
	default:
		fmt.Fprintf(t, "would send\t%d requests of %d bytes: each names %d of %d cells, and asks for %s\n", r.Queries, r.RequestBytes, r.Size, r.Cells, r.Form)
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
	fmt.Fprintf(t, "in all\t%s up, %s down, headers aside\n", text.FormatSize(r.Up), text.FormatSize(r.Down))
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

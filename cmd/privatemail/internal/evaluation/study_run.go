package evaluation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// Run measures what the journal does not have, draws, writes the report and prints its
// tables.
func (s *study) Run(ctx context.Context, e *cli.Env) (err error) {
	began := time.Now()
	cells, err := s.cells()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // before a folder is made
	}
	j, err := s.open()
	if err != nil {
		return err
	}
	defer func() { // a second run is kept out until all is written
		if done := found(j, cells); err != nil && done > 0 {
			e.Note("%d of %d measurements are kept in %s; another run with this folder goes on from there", done, len(cells), filepath.Join(s.out, Journal))
		}
		err = errors.Join(err, j.Close())
	}()
	kept := found(j, cells)
	r := &report.Report{Title: s.title, Command: s.command, Modes: s.modes, Footer: s.footer}
	if r.Records, err = s.measure(ctx, e, j, cells); err != nil {
		return err
	}
	if r.Groups, err = s.pictures(ctx, e); err != nil {
		return err
	}
	if err := s.write(ctx, r); err != nil {
		return err
	}
	if err := s.show(e, r); err != nil || e.JSON {
		return err
	}
	before := ""
	if kept > 0 {
		before = fmt.Sprintf(", %d of them from before", kept)
	}
	fmt.Fprintf(e.Stdout, "\n%d measurements%s, %.1f s; see %s\n", len(r.Records), before, time.Since(began).Seconds(), filepath.Join(s.out, ReportPage))
	return nil
}

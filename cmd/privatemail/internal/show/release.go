package show

import (
	"bytes"
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// showRelease explains a release of either form.
func showRelease(ctx context.Context, path string, begin []byte) (*explanation, error) {
	readable := bytes.HasPrefix(begin, []byte("{")) && files.IsRelease(path)
	if !readable && !bytes.HasPrefix(begin, []byte("\x89PMREL")) {
		return nil, nil
	}
	r, err := files.ReadRelease(path)
	if err != nil {
		return nil, err
	}
	x := &explanation{kind: "release", about: "made by 'privatemail privatize'; 'privatemail continue' takes it further"}
	x.addRelease(ctx, r)
	return x, nil
}

// addRelease adds what a release promises.
func (x *explanation) addRelease(ctx context.Context, r *release.Release) {
	g := accounts.Promised(ctx, r)
	x.add("release", fmt.Sprintf("%x", r.ID), nil)
	x.add("rows", fmt.Sprintf("%d x %d", r.Rows, r.Columns), []int{r.Rows, r.Columns})
	x.add("guarantee", fmt.Sprintf("epsilon %s, delta %g, relation %s", accounts.CloselyTo(g.Total(), 6), g.Delta, g.Relation), map[string]any{"epsilon": g.Total(), "delta": g.Delta, "relation": g.Relation.String()})
	x.add("protects", mechanism.ProtectionOfRelease(r).String(), nil)
	x.add("labels", r.Labels.Mode, nil)
	if r.Ledger > 0 {
		x.add("ledger", fmt.Sprintf("paid for in its line %d", r.Ledger), r.Ledger)
	} else {
		x.add("ledger", "none: nothing was counted", uint64(0))
	}
}

// showMessage names a message between client and server.
func showMessage(_ context.Context, _ string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte("PMW1")) && !bytes.HasPrefix(begin, []byte(`{"dim":`)) {
		return nil, nil
	}
	return &explanation{kind: "message", about: "between 'privatemail query' and a server; 'privatemail cache list' lists those that query keeps"}, nil
}

package session_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

// A run that would come to an end in the middle is refused before it asks for a row, and says why.
func TestRefusals(t *testing.T) {
	service := serviceOf(t, session.Cells)
	questions := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			questions++
		}
		service.ServeHTTP(w, r)
	}))
	defer h.Close()
	ledger := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(ledger, mechanism.Total{Kind: mechanism.Pure, Epsilon: 5}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*session.Settings, *session.Rows)
		want   error
	}{
		"rows of a name": {func(_ *session.Settings, r *session.Rows) { r.Names = []string{"a", "b", "a"} }, session.ErrRowsOfName},
		"unknown":        {func(s *session.Settings, _ *session.Rows) { s.NewUnits = false }, mechanism.ErrUnknownUnit},
		"budget":         {func(s *session.Settings, _ *session.Rows) { s.Client = "me" }, mechanism.ErrBudgetExceeded},
	} {
		settings, rows := everyMode()[session.Cells], rowsOf(t, 3)
		settings.Epsilon, settings.NewUnits = 4, true
		settings.OpenLedger = func() (*mechanism.Ledger, error) { return mechanism.OpenLedger(ledger) }
		settings.ReadLedger = func() (*mechanism.Snapshot, error) { return mechanism.ReadLedger(ledger) }
		c.change(&settings, &rows)
		s, err := session.New(h.URL, settings)
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Answer(t.Context(), rows)
		s.Close()
		refusal, ok := errors.AsType[*session.Refusal](err)
		if !ok || !errors.Is(err, c.want) || refusal.Again || result.Spent != 0 || questions > 0 {
			t.Errorf("%s: %v, %d spent, %d questions", name, err, result.Spent, questions)
		}
	}
	if left, err := mechanism.ReadLedger(ledger); err != nil || len(left.Entries) > 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

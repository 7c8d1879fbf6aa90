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
		settings.Epsilon, settings.NewUnits, settings.Uncounted = 4, true, false
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

// What nobody asked for does not happen silently: spends that nobody counts, and records that nobody
// remembers.
func TestSettingsAreChecked(t *testing.T) {
	ledger := func() (*mechanism.Ledger, error) { return nil, mechanism.ErrLedger }
	for name, change := range map[string]func(*session.Settings){
		"no mode":            func(s *session.Settings) { s.Mode = "" },
		"no rows":            func(s *session.Settings) { s.K = 0 },
		"no ledger":          func(s *session.Settings) { s.Uncounted = false },
		"half a ledger":      func(s *session.Settings) { s.Uncounted, s.OpenLedger = false, ledger },
		"nothing remembered": func(s *session.Settings) { s.Forgotten = false },
		"contradiction":      func(s *session.Settings) { s.Sent = t.TempDir() },
	} {
		settings := everyMode()[session.Cells]
		change(&settings)
		if s, err := session.New("http://127.0.0.1:1", settings); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// A session is one run, and a second one gets nothing, not even a request.
func TestSessionIsOneRun(t *testing.T) {
	for mode, settings := range everyMode() {
		asked := 0
		service := serviceOf(t, mode)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			service.ServeHTTP(w, r)
		}))
		s, err := session.New(h.URL, settings)
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Answer(t.Context(), rowsOf(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		before, ids := asked, len(result.IDs)
		if again, err := s.Answer(t.Context(), rowsOf(t, 3)); again != nil || err == nil || len(result.IDs) != ids || asked != before {
			t.Errorf("%s: a second run: %v", mode, err)
		}
		if _, err := s.Plan(t.Context(), rowsOf(t, 3)); err == nil || asked != before {
			t.Errorf("%s: a plan after a run: %v", mode, err)
		}
		s.Close()
		h.Close()
	}
}

// Names of columns are used or refused, and what Order returns is checked.
func TestOrderIsChecked(t *testing.T) {
	named := func(order func(want, have []string) ([]int, error)) session.Rows {
		rows := rowsOf(t, 3)
		rows.Columns, rows.Order = []string{"a", "b", "c", "d", "e", "f"}, order
		return rows
	}
	h := httptest.NewServer(serviceOf(t, session.All))
	defer h.Close()
	for name, rows := range map[string]session.Rows{
		"no order":    named(nil),
		"few columns": named(func(want, have []string) ([]int, error) { return []int{0}, nil }),
		"outside":     named(func(want, have []string) ([]int, error) { return []int{0, 1, 2, 3, 4, 6}, nil }),
		"negative":    named(func(want, have []string) ([]int, error) { return []int{0, 1, 2, 3, 4, -1}, nil }),
	} {
		s, err := session.New(h.URL, everyMode()[session.All])
		if err != nil {
			t.Fatal(err)
		}
		if result, err := s.Answer(t.Context(), rows); err == nil || len(result.IDs) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

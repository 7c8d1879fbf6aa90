package mechanism

// Covers returns the error Reserve would return for the spend now, and spends
// nothing. Long work can be refused before it begins; only Reserve decides.
func (l *Ledger) Covers(unit Unit, spend Spend) error {
	header := l.state.header // does not change
	hash, _, err := header.hash(unit)
	if err != nil {
		return err
	}
	cost, err := header.total.Kind.price(spend)
	if err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if left := header.whole.minus(l.state.spent[hash]); cost.Cmp(left) > 0 {
		return &BudgetError{UnitKind: unit.Kind, Asked: cost, Remaining: left, Total: header.total}
	}
	return nil
}

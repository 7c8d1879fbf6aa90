package supervised

import "context"

// A measurement collects what rows held out found, part after part.
type measurement struct {
	raw, scaled, chosen hits
	tried               int
}

// add measures on one more part. A recipe that its rows do not allow is an error, and
// nothing is added.
func (m *measurement) add(ctx context.Context, b *bench, chosen Recipe) error {
	var found [3]hits
	for i, r := range []Recipe{Raw(), Scaled(), chosen} {
		h, err := b.measure(ctx, r)
		if err != nil {
			return err
		}
		found[i] = h
		b.measured()
	}
	for i, to := range []*hits{&m.raw, &m.scaled, &m.chosen} {
		to.at1, to.at8 = append(to.at1, found[i].at1...), append(to.at8, found[i].at8...)
	}
	return nil
}

// addChosen is add for a recipe that was chosen on some of the rows of a part: where all of
// them do not allow it, rows stay as they are.
func (m *measurement) addChosen(ctx context.Context, b *bench, chosen Recipe) error {
	err := m.add(ctx, b, chosen)
	if impossible(err) {
		return m.add(ctx, b, Raw())
	}
	return err
}

// take measures on the rows of a contest that did not choose the steps. Scaled rows that
// cannot be had count as raw ones.
func (m *measurement) take(c *contest, chosen Recipe) {
	m.raw = c.results[Raw()].everyOther(1)
	m.scaled, m.chosen = m.raw, c.results[chosen].everyOther(1)
	if h, known := c.results[Scaled()]; known {
		m.scaled = h.everyOther(1)
	}
}

// base returns scaled rows where they are clearly better, raw rows otherwise.
func (m *measurement) base() (Recipe, hits) {
	if ahead(m.scaled, m.raw, scaledLead) {
		return Scaled(), m.scaled
	}
	return Raw(), m.raw
}

func (m *measurement) result() *Held {
	better := m.raw
	if m.scaled.recall().At1 > m.raw.recall().At1 {
		better = m.scaled
	}
	return &Held{
		Rows: len(m.raw.at1), Raw: m.raw.recall(), Scaled: m.scaled.recall(), Chosen: m.chosen.recall(),
		Error: leadError(m.chosen.at1, better.at1), Tried: m.tried,
	}
}

package supervised

import "context"

// A measurement collects what rows held out found, part after part.
type measurement struct {
	raw, scaled, chosen hits
	tried               int
}

// add measures on one more part.
func (m *measurement) add(ctx context.Context, b *bench, chosen Recipe) error {
	for _, one := range []struct {
		recipe Recipe
		to     *hits
	}{{Raw(), &m.raw}, {Scaled(), &m.scaled}, {chosen, &m.chosen}} {
		h, err := b.measure(ctx, one.recipe)
		if err != nil {
			return err
		}
		one.to.at1, one.to.at8 = append(one.to.at1, h.at1...), append(one.to.at8, h.at8...)
	}
	return nil
}

// base returns scaled rows where they are better, raw rows otherwise.
func (m *measurement) base() (Recipe, hits) {
	if ahead(m.scaled, m.raw, scaledLead) {
		return Scaled(), m.scaled
	}
	return Raw(), m.raw
}

func (m *measurement) result() *Held {
	_, base := m.base()
	return &Held{
		Rows: len(m.raw.at1), Raw: m.raw.recall(), Scaled: m.scaled.recall(), Chosen: m.chosen.recall(),
		Error: leadError(m.chosen.at1, base.at1), Tried: m.tried,
	}
}

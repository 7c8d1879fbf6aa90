package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/peers"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// ofSuite returns the ratios of a suite.
func (r *report) ofSuite(name string) (out []*record.Ratio) {
	for _, x := range r.ratios {
		if x.Suite == name {
			out = append(out, x)
		}
	}
	return out
}

// inShort is a line for each peer of each suite, the least and the most of its ratios.
// Next to those of the first setting stand those of the others.
func inShort(settings []settingReport) section {
	t := newBesideTable(section{
		title: "In short", about: "The time of others over ours, at its least and at its most over the cases of a suite; above 1 we are faster. All cases are under Peers.",
		head: []string{"suite", "peer", "cases", "least", "at", "most", "at"},
	})
	for i, setting := range settings {
		if i > 0 && len(setting.ratios) > 0 {
			t.column(setting.name)
		}
		for _, suite := range peers.Suites() {
			all := setting.ofSuite(suite.Name)
			short := shortCases(all)
			for _, ratios := range byPeer(all) {
				lead := []string{suite.Name, ratios[0].Peer}
				key := strings.Join(lead, " ")
				if i == 0 {
					t.put(key, append(lead, shortCells(ratios, short)...))
				} else {
					t.beside(key, lead, fmt.Sprintf("%.2f to %.2f", *ratios[0].Ratio, *ratios[len(ratios)-1].Ratio))
				}
			}
		}
	}
	return t.finish(settings[0].name, "the least and the most of the ratios")
}

// byPeer returns the ratios that there are, those of one peer together, the least first.
func byPeer(ratios []*record.Ratio) (out [][]*record.Ratio) {
	at := map[string]int{}
	for _, x := range ratios {
		if x.Ratio == nil {
			continue
		}
		i, known := at[x.Peer]
		if !known {
			i = len(out)
			at[x.Peer] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	for _, of := range out {
		slices.SortStableFunc(of, func(a, b *record.Ratio) int { return cmp.Compare(*a.Ratio, *b.Ratio) })
	}
	return out
}

// shortCells are the number of ratios, the least and the most, which are first and last.
func shortCells(ratios []*record.Ratio, short map[string]string) []string {
	cells := []string{fmt.Sprint(len(ratios))}
	for _, x := range []*record.Ratio{ratios[0], ratios[len(ratios)-1]} {
		at := short[x.Case]
		if x.Recall != nil {
			at += fmt.Sprintf(" (recall %.2f)", *x.Recall)
		}
		if x.Extrapolated() {
			at += " (extrapolated)"
		}
		cells = append(cells, fmt.Sprintf("%.2f", *x.Ratio), strings.TrimSpace(at))
	}
	return cells
}

// peerSections are the tables of ratios, one for each suite that has ratios.
func peerSections(settings []settingReport) []section {
	out := []section{{title: "Peers", about: "Their time over ours, the median of interleaved rounds on the same data; above 1 we are faster. " +
		"A result is the same, with the largest difference or the number of rows that differ, but for approximate peers, whose recall is given. Residuals are ours and theirs."}}
	for _, suite := range peers.Suites() {
		s := peerSection(suite, settings)
		if len(s.rows) == 0 {
			continue
		}
		s.plot = ratioPlot(settings[0].ofSuite(suite.Name))
		out = append(out, s)
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

// peerSection is the table of one suite: the ratios of the first setting, and next to them
// those of the others with our time.
func peerSection(suite peers.Suite, settings []settingReport) section {
	t := newBesideTable(section{title: "Peers in suite " + suite.Name, below: true, head: record.RatioHead()})
	var all []*record.Ratio
	for i, setting := range settings {
		ratios := setting.ofSuite(suite.Name)
		all = append(all, ratios...)
		if i > 0 && len(ratios) > 0 {
			t.column(setting.name)
		}
		for _, x := range ratios {
			if i == 0 {
				t.put(ratioKey(x), x.Row())
			} else {
				t.beside(ratioKey(x), []string{x.Case, x.Peer}, ratioCell(x))
			}
		}
	}
	if len(all) > 0 {
		t.about = strings.Join(strings.Fields(suite.About), " ") + " " + commandWords(peerCommands(suite, all))
	}
	return t.finish(settings[0].name, "the ratio, and our time in brackets")
}

// ratioCell is what a column of another setting has of a ratio.
func ratioCell(r *record.Ratio) string {
	if r.Ratio == nil {
		return r.Result()
	}
	text := fmt.Sprintf("%.2f (%s)", *r.Ratio, figures.Duration(r.Seconds))
	if r.WantedRounds > 0 {
		text += fmt.Sprintf(", ended after %d of %d rounds", r.Rounds, r.WantedRounds)
	}
	return text
}

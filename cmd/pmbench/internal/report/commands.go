package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/peers"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// commandsOf returns the commands that measured a suite. A recording from before
// commands were recorded has the plain one.
func (r *report) commandsOf(suite string) (out []string) {
	for _, x := range r.records {
		if x.Suite != suite {
			continue
		}
		command := x.Command
		if command == "" {
			command = "pmbench run -suite " + suite + " -json"
		}
		if !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// peerCommands returns what made the ratios of a suite. A recording from before commands
// were recorded has the one that its rows name.
func peerCommands(s peers.Suite, ratios []*record.Ratio) (out []string) {
	rows := 0
	for _, r := range ratios {
		rows = max(rows, r.N)
	}
	plain := "pmbench peers -suite " + s.Name + " -json"
	if rows != s.Rows {
		plain = fmt.Sprintf("pmbench peers -suite %s -n %d -json", s.Name, rows)
	}
	for _, r := range ratios {
		command := r.Command
		if command == "" {
			command = plain
		}
		if !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// lacksCommands reports whether a measurement or a ratio does not hold its command.
func (r *report) lacksCommands() bool {
	return slices.ContainsFunc(r.records, func(x *record.Record) bool { return x.Command == "" }) ||
		slices.ContainsFunc(r.ratios, func(x *record.Ratio) bool { return x.Command == "" })
}

// commandWords says which commands were run.
func commandWords(commands []string) string {
	word := "Command"
	if len(commands) > 1 {
		word = "Commands"
	}
	return word + ": `" + strings.Join(commands, "`, `") + "`."
}

// allCommands returns the commands of all suites, in the order of the report.
func (r *report) allCommands() (out []string) {
	add := func(commands []string) {
		for _, c := range commands {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for _, s := range suites.All() {
		add(r.commandsOf(s.Name))
	}
	for _, s := range peers.Suites() {
		add(peerCommands(s, r.ofSuite(s.Name)))
	}
	return out
}

package main

import (
	"fmt"
	"slices"
	"strings"
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
// were recorded has the one that its rows tell of.
func peerCommands(s peerSuite, ratios []*Ratio) (out []string) {
	rows := 0
	for _, r := range ratios {
		rows = max(rows, r.N)
	}
	plain := "pmbench peers -suite " + s.name + " -json"
	if rows != s.rows {
		plain = fmt.Sprintf("pmbench peers -suite %s -n %d -json", s.name, rows)
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

// lacksCommands tells whether a measurement or a ratio does not hold its command.
func (r *report) lacksCommands() bool {
	return slices.ContainsFunc(r.records, func(x *Record) bool { return x.Command == "" }) ||
		slices.ContainsFunc(r.ratios, func(x *Ratio) bool { return x.Command == "" })
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
	for _, s := range suites() {
		add(r.commandsOf(s.name))
	}
	for _, s := range peerSuites() {
		add(peerCommands(s, r.ofSuite(s.name)))
	}
	return out
}

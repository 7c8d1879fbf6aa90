package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

func (p *Program) help() Verb {
	return Verb{
		Name: "help", Summary: "explain a verb", Ranks: true, Synopsis: []string{"[VERB] [-all]"},
		Examples: []string{p.Name + " help " + p.Verbs[0].Name, p.Name + " help " + p.Verbs[0].Name + " -all"},
		Define: func(fs *flag.FlagSet) Action {
			all := fs.Bool("all", false, "with every flag and all details")
			return func(_ context.Context, e *Env, names []string) error {
				if len(names) == 0 {
					p.writeOverview(e.Stdout)
					return nil
				}
				v, rest, err := p.find(names)
				switch {
				case err != nil:
					return err
				case len(rest) > 0 && len(v.Verbs) > 0:
					return p.chooseVerb(e, v, rest)
				case len(rest) > 0:
					return Usagef("one verb at a time")
				}
				p.writeHelp(e.Stdout, v, *all)
				return nil
			}
		},
	}
}

// writeOverview prints the short help of the whole program.
func (p *Program) writeOverview(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n\nusage: %s VERB [FLAGS] [FILES]\n\n", p.Name, p.About, p.Name)
	writeVerbs(w, p.top())
	fmt.Fprintf(w, "\n%s\n", p.Hint)
}

// writeHelp prints the help of a verb: its common flags, or all of them with the details.
func (p *Program) writeHelp(w io.Writer, v Verb, all bool) {
	fmt.Fprintf(w, "%s %s: %s\n", p.Name, v.Name, v.Summary)
	writeExamples(w, v, all)
	fmt.Fprint(w, "\nusage:\n")
	for _, line := range v.Synopsis {
		writeCommand(w, p.Name+" "+v.Name+" "+line)
	}
	for _, sub := range v.Verbs {
		writeCommand(w, p.Name+" "+v.Name+" "+sub.Name+" "+sub.Synopsis[0])
	}
	writeText(w, v.About)
	if len(v.Verbs) > 0 {
		fmt.Fprintln(w)
		writeVerbs(w, v.Verbs)
		if all {
			writeText(w, v.More)
		}
		fmt.Fprintf(w, "\n'%s %s %s -h' has the flags\n", p.Name, v.Name, v.Verbs[0].Name)
		return
	}
	if all {
		writeText(w, v.More)
	}
	fs, _ := p.flags(v, new(Env))
	var flags []*flag.Flag
	fs.VisitAll(func(f *flag.Flag) { flags = append(flags, f) })
	switch {
	case all:
		writeAllFlags(w, flags)
	case v.Common == nil:
		writeFlags(w, flags)
	default:
		var common []*flag.Flag
		for _, name := range v.Common {
			common = append(common, fs.Lookup(name))
		}
		writeFlags(w, common)
	}
	if !all && (v.Common != nil || v.More != "" || slices.ContainsFunc(flags, detailed)) {
		fmt.Fprintf(w, "\n%s help %s -all: every flag, all details\n", p.Name, v.Name)
	}
}

// detailed reports whether the text of a flag has more than its first line.
func detailed(f *flag.Flag) bool { return strings.Contains(f.Usage, "\n") }

func writeExamples(w io.Writer, v Verb, all bool) {
	examples := v.Examples
	if !all {
		examples = examples[:min(max(v.Short, 1), len(examples))]
	}
	heading := "examples"
	if len(examples) == 1 {
		heading = "example"
	}
	fmt.Fprintf(w, "\n%s:\n", heading)
	for _, line := range examples {
		writeCommand(w, line)
	}
}

// width is the number of columns of the help.
const width = 80

// writeCommand writes a command. One that is too wide goes on in more lines, as in a shell. A
// flag stays with its argument, and what is in brackets or quotes stays together.
func writeCommand(w io.Writer, command string) {
	const margin, end = "  ", " \\"
	var parts []string
	open := 0 // brackets and quotes
	afterFlag := false
	for word := range strings.FieldsSeq(command) {
		isFlag := strings.HasPrefix(word, "-") && word != "-"
		if len(parts) > 0 && (open > 0 || afterFlag && !isFlag && !strings.ContainsAny(word[:1], "[(|<>")) {
			parts[len(parts)-1] += " " + word
		} else {
			parts = append(parts, word)
		}
		if strings.Count(word, "'")%2 == 1 {
			open = 1 - open
		}
		open += strings.Count(word, "[") + strings.Count(word, "(") - strings.Count(word, "]") - strings.Count(word, ")")
		afterFlag = isFlag
	}
	line := margin
	for i, part := range parts {
		room := width
		if i < len(parts)-1 {
			room -= len(end)
		}
		switch {
		case i == 0:
		case len([]rune(line))+1+len([]rune(part)) > room:
			fmt.Fprintln(w, line+end)
			line = margin + margin
		default:
			line += " "
		}
		line += part
	}
	fmt.Fprintln(w, line)
}

func writeText(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	}
}

func writeVerbs(w io.Writer, verbs []Verb) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range verbs {
		fmt.Fprintf(t, "  %s\t%s\n", v.Name, v.Summary)
	}
	t.Flush()
}

const flagsHeading = "\nflags (before or after the file names):\n"

// writeFlags prints a line for each flag: the first line of its text.
func writeFlags(w io.Writer, flags []*flag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprint(w, flagsHeading)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range flags {
		name, usage, value := flagTexts(f)
		short, _, _ := strings.Cut(usage, "\n")
		fmt.Fprintf(t, "  %s\t%s%s\n", name, short, value)
	}
	t.Flush()
}

// writeAllFlags prints a paragraph for each flag.
func writeAllFlags(w io.Writer, flags []*flag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprint(w, flagsHeading)
	for _, f := range flags {
		name, usage, value := flagTexts(f)
		fmt.Fprintf(w, "  %s\n", name)
		for line := range strings.SplitSeq(usage+value, "\n") {
			writeWrapped(w, line)
		}
	}
}

// writeWrapped writes words in lines of a screen's width, under the name of a flag.
func writeWrapped(w io.Writer, text string) {
	const margin = "        "
	line := margin
	for word := range strings.FieldsSeq(text) {
		if len(line) > len(margin) && len([]rune(line))+1+len([]rune(word)) > width {
			fmt.Fprintln(w, line)
			line = margin
		}
		if len(line) > len(margin) {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

// flagTexts returns what is said of a flag: its name with its argument, what it does, and its
// default.
func flagTexts(f *flag.Flag) (name, usage, value string) {
	argument, usage := flag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "false" {
		value = fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return strings.TrimRight("-"+f.Name+" "+argument, " "), usage, value
}

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// action is what a verb does once its flags are read; names are the arguments
// that are not flags.
type action func(ctx context.Context, e *env, names []string) error

// verb is one of the things the command can do.
type verb struct {
	name     string
	summary  string   // one line
	synopsis []string // what may stand behind the name
	about    string   // paragraphs for -h
	examples []string // whole commands
	prints   prints
	// without says of flags that users of other verbs expect here why there are
	// none, and what to do instead.
	without map[string]string
	// define declares the flags and returns the action that uses them.
	define func(*flag.FlagSet) action
}

// prints says which of the common flags a verb has.
type prints int

const (
	printsJSON prints = 1 << iota
	printsProgress
)

// verbs lists all verbs in the order of the help.
func verbs() []verb {
	return []verb{
		demoVerb(), evaluateVerb(), embedVerb(), fitVerb(), planVerb(), generateVerb(),
		sensitivityVerb(), privatizeVerb(), continueVerb(), budgetVerb(),
		helpVerb(), versionVerb(),
	}
}

func findVerb(name string) (verb, bool) {
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return names
}

func helpVerb() verb {
	return verb{
		name: "help", summary: "explain a verb", synopsis: []string{"[VERB]"},
		examples: []string{"privatemail help embed"},
		define: func(*flag.FlagSet) action {
			return func(_ context.Context, e *env, names []string) error {
				switch len(names) {
				case 0:
					writeOverview(e.stdout)
					return nil
				case 1:
					v, ok := findVerb(names[0])
					if !ok {
						return usagef("there is no verb %q%s", names[0], didYouMean(names[0], verbNames(), ""))
					}
					fs := flag.NewFlagSet(v.name, flag.ContinueOnError)
					v.define(fs)
					e.define(fs, v)
					v.writeHelp(e.stdout, fs)
					return nil
				}
				return usagef("one verb at a time")
			}
		},
	}
}

// writeOverview prints the short help of the whole command.
func writeOverview(w io.Writer) {
	fmt.Fprint(w, "privatemail embeds labelled feature vectors so that near neighbours stay near and classes move\n"+
		"apart, and releases the first step with differential privacy.\n\n"+
		"usage: privatemail VERB [FLAGS] [FILES]\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range verbs() {
		fmt.Fprintf(t, "  %s\t%s\n", v.name, v.summary)
	}
	t.Flush()
	fmt.Fprint(w, "\nTo see it work:    privatemail demo\nFlags of a verb:   privatemail VERB -h\n")
}

// writeHelp prints the manual page of the verb; fs has its flags.
func (v verb) writeHelp(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintf(w, "privatemail %s: %s\n\nusage:\n", v.name, v.summary)
	for _, line := range v.synopsis {
		fmt.Fprintln(w, strings.TrimRight("  privatemail "+v.name+" "+line, " "))
	}
	if v.about != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(v.about))
	}
	writeFlags(w, fs)
	fmt.Fprint(w, "\nexample:\n")
	for _, line := range v.examples {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// writeFlags prints one line per flag.
func writeFlags(w io.Writer, fs *flag.FlagSet) {
	heading := "\nflags (before or behind the file names):\n"
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fs.VisitAll(func(f *flag.Flag) {
		if heading != "" {
			fmt.Fprint(w, heading)
			heading = ""
		}
		argument, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimRight("-"+f.Name+" "+argument, " "), usage)
	})
	t.Flush()
}

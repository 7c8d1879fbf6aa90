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
	synopsis string   // what may stand behind the name
	about    string   // paragraphs for -h
	examples []string // whole commands
	quiet    bool     // takes no -json and shows no progress
	// define declares the flags and returns the action that uses them.
	define func(*flag.FlagSet) action
}

// verbs lists all verbs in the order of the help.
func verbs() []verb {
	return []verb{runVerb(), compareVerb(), abVerb(), rooflineVerb(), peersVerb(), reportVerb(), helpVerb()}
}

func findVerb(name string) (verb, bool) {
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

func helpVerb() verb {
	return verb{
		name: "help", summary: "explain a verb", synopsis: "[VERB]", quiet: true,
		examples: []string{"pmbench help run"},
		define: func(*flag.FlagSet) action {
			return func(_ context.Context, e *env, names []string) error {
				switch len(names) {
				case 0:
					writeOverview(e.stdout)
					return nil
				case 1:
					v, ok := findVerb(names[0])
					if !ok {
						return usagef("there is no verb %q", names[0])
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
	fmt.Fprint(w, "pmbench measures the engine, against the limits of the machine and against others.\n\n"+
		"usage: pmbench VERB [FLAGS] [FILES]\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range verbs() {
		fmt.Fprintf(t, "  %s\t%s\n", v.name, v.summary)
	}
	t.Flush()
	fmt.Fprint(w, "\nA first figure:    pmbench run -suite spmm\nFlags of a verb:   pmbench VERB -h\n")
}

// writeHelp prints the manual page of the verb; fs has its flags.
func (v verb) writeHelp(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintf(w, "pmbench %s: %s\n\nusage:\n  %s\n", v.name, v.summary, strings.TrimRight("pmbench "+v.name+" "+v.synopsis, " "))
	if v.about != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(v.about))
	}
	heading := "\nflags (before or behind the names):\n"
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fs.VisitAll(func(f *flag.Flag) {
		if heading != "" {
			fmt.Fprint(w, heading)
			heading = ""
		}
		argument, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimRight("-"+f.Name+" "+argument, " "), usage)
	})
	t.Flush()
	fmt.Fprint(w, "\nexample:\n")
	for _, line := range v.examples {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

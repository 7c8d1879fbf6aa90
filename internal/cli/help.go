package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

func (p *Program) help() Verb {
	return Verb{
		Name: "help", Summary: "explain a verb", Ranks: true, Synopsis: []string{"[VERB]"},
		Examples: []string{p.Name + " help " + p.Verbs[0].Name},
		Define: func(*flag.FlagSet) Action {
			return func(_ context.Context, e *Env, names []string) error {
				switch len(names) {
				case 0:
					p.writeOverview(e.Stdout)
					return nil
				case 1:
					v, ok := p.find(names[0])
					if !ok {
						return Usagef("there is no verb %q%s", names[0], DidYouMean(names[0], p.names(), ""))
					}
					fs, _ := p.flags(v, e)
					p.writeHelp(e.Stdout, v, fs)
					return nil
				}
				return Usagef("one verb at a time")
			}
		},
	}
}

// writeOverview prints the short help of the whole program.
func (p *Program) writeOverview(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n\nusage: %s VERB [FLAGS] [FILES]\n\n", p.Name, p.About, p.Name)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range p.All() {
		fmt.Fprintf(t, "  %s\t%s\n", v.Name, v.Summary)
	}
	t.Flush()
	fmt.Fprintf(w, "\n%s\n", p.Hint)
}

// writeHelp prints the manual page of a verb; fs has its flags.
func (p *Program) writeHelp(w io.Writer, v Verb, fs *flag.FlagSet) {
	fmt.Fprintf(w, "%s %s: %s\n\nusage:\n", p.Name, v.Name, v.Summary)
	for _, line := range v.Synopsis {
		fmt.Fprintln(w, strings.TrimRight("  "+p.Name+" "+v.Name+" "+line, " "))
	}
	if v.About != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(v.About))
	}
	writeFlags(w, fs)
	fmt.Fprint(w, "\nexample:\n")
	for _, line := range v.Examples {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// writeFlags prints one line per flag.
func writeFlags(w io.Writer, fs *flag.FlagSet) {
	heading := "\nflags (before or after the file names):\n"
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

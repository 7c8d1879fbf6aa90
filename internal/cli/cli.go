// Package cli is what the commands of this module have in common: verbs with flags
// that may stand before or after names, their help, one line for an error, and exit
// codes.
//
//	NAME VERB [FLAGS] [NAMES]
//
// Every program has the verbs help and version besides its own, and every verb -h.
// Results go to standard output; progress, notes and errors go to standard error.
package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// Exit codes.
const (
	OK          = 0
	Failed      = 1 // the request failed or was refused
	Usage       = 2 // the request made no sense
	Interrupted = 130
)

// A Program is a command with verbs.
type Program struct {
	Name  string
	About string // what it does, in one line
	Hint  string // the last lines of the overview
	// Verbs are the verbs besides help and version, in the order of the help.
	Verbs []Verb
	// Results says that the output of the verbs is their purpose: -quiet keeps it. In
	// other programs -quiet keeps only errors and the objects of -json.
	Results bool
	// World connects this process with those that share its work; nil for one process.
	World World
	// Words returns what is printed of an error; args are what stood after the verb,
	// interrupted says that a signal is its cause. Default: the error itself, or
	// "interrupted".
	Words func(err error, args []string, interrupted bool) string
}

// A Verb is one of the things a program can do.
type Verb struct {
	Name     string
	Summary  string   // one line
	Synopsis []string // what may stand after the name
	About    string   // what every help says: a few lines
	More     string   // paragraphs that only the help with -all has
	Common   []string // the flags that -h shows, in this order; nil: all of them
	Examples []string // whole commands
	Short    int      // how many examples -h shows; 0 means one
	Prints   Prints
	// Verbs are the verbs that follow the name of this one, which then does nothing alone.
	Verbs []Verb
	// Ranks says that several processes can share the work of the verb. Others are refused
	// where there are several.
	Ranks bool
	// Without has flags of other verbs that users may expect here. It says why they are
	// missing and what to do instead.
	Without map[string]string
	// Define declares the flags and returns the action that uses them.
	Define func(*flag.FlagSet) Action
}

// An Action is what a verb does once its flags are read; names are the arguments
// that are not flags.
type Action func(ctx context.Context, e *Env, names []string) error

// Prints says which of the common flags a verb has.
type Prints int

// The common flags.
const (
	PrintsJSON     Prints = 1 << iota // -json
	PrintsProgress                    // -quiet
	PrintsDetails                     // -v
)

// Main runs the program with the arguments of the process and ends it. The first
// signal ends the context of the verb, a second one the process.
func (p *Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs the program with the given arguments and returns the exit code. Main calls
// it with those of the process, tests with their own.
func (p *Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	e := &Env{Program: p.Name, Args: args, Stderr: stderr, World: p.World}
	if e.Ranks().Rank() != 0 { // rank 0 prints for all
		stdout, e.Stderr = io.Discard, io.Discard
	}
	out := bufio.NewWriter(stdout)
	e.Stdout = out
	err := p.dispatch(ctx, e, args)
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("standard output: %w", flushErr)
	}
	if !e.Ranks().Alone() {
		return p.end(ctx, e, args, err)
	}
	return p.finish(ctx, e, args, err)
}

// dispatch finds the verb and runs it.
func (p *Program) dispatch(ctx context.Context, e *Env, args []string) (failure error) {
	if len(args) == 0 {
		p.writeOverview(e.Stderr)
		return errOverview
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	v, rest, err := p.find(append([]string{name}, args[1:]...))
	if err != nil {
		return err
	}
	e.Verb = v.Name
	if len(v.Verbs) > 0 {
		return p.chooseVerb(e, v, rest)
	}
	fs, act := p.flags(v, e)
	names, err := Parse(fs, rest)
	switch {
	case errors.Is(err, flag.ErrHelp):
		p.writeHelp(e.Stdout, v, false)
		return nil
	case err != nil:
		return p.explainFlag(v, fs, err)
	case e.Quiet && e.Verbose:
		return Usagef("-quiet prints errors only and -v prints more: leave out one of them")
	}
	if !v.Ranks && !e.Ranks().Alone() {
		return fmt.Errorf("runs on one process, and %d were started; docs/scale.md says what several can do", e.Ranks().Size())
	}
	if e.Quiet && !e.JSON && !p.Results {
		e.Stdout = io.Discard
	}
	defer disk.Faults(&failure)() // an input may be a mapped file that is truncated meanwhile
	return act(ctx, e, names)
}

// top returns the verbs that may follow the name of the program.
func (p *Program) top() []Verb {
	return append(slices.Clone(p.Verbs), p.help(), p.version())
}

// All returns every verb that does something, help and version among them, for tests that hold
// each against its documents. A verb that follows another has both names.
func (p *Program) All() (all []Verb) {
	for _, v := range p.top() {
		if len(v.Verbs) == 0 {
			all = append(all, v)
		}
		for _, sub := range v.Verbs {
			sub.Name = v.Name + " " + sub.Name
			all = append(all, sub)
		}
	}
	return all
}

// find returns the verb that args begin with, and what stands after its name.
func (p *Program) find(args []string) (v Verb, rest []string, err error) {
	v, ok := named(p.top(), args[0])
	if !ok {
		return v, nil, Usagef("there is no verb %q%s; run '%s help' for the list", args[0], DidYouMean(args[0], names(p.top()), ""), p.Name)
	}
	rest = args[1:]
	if len(rest) > 0 {
		if sub, ok := named(v.Verbs, rest[0]); ok {
			sub.Name = v.Name + " " + sub.Name
			return sub, rest[1:], nil
		}
	}
	return v, rest, nil
}

// chooseVerb is for a verb that another has to follow; rest stands in its place.
func (p *Program) chooseVerb(e *Env, v Verb, rest []string) error {
	if len(rest) == 0 {
		return Usagef("say which: %s, such as '%s'", strings.Join(names(v.Verbs), ", "), v.Examples[0])
	}
	if slices.Contains([]string{"-h", "-help", "--help"}, rest[0]) {
		p.writeHelp(e.Stdout, v, false)
		return nil
	}
	if near := DidYouMean(rest[0], names(v.Verbs), ""); near != "" {
		return Usagef("want one of %s, not %q%s", strings.Join(names(v.Verbs), ", "), rest[0], near)
	}
	return Usagef("want one of %s, not %q, such as '%s'", strings.Join(names(v.Verbs), ", "), rest[0], v.Examples[0])
}

func named(verbs []Verb, name string) (Verb, bool) {
	if i := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == name }); i >= 0 {
		return verbs[i], true
	}
	return Verb{}, false
}

func names(verbs []Verb) (names []string) {
	for _, v := range verbs {
		names = append(names, v.Name)
	}
	return names
}

// flags declares the flags of the verb, including the common ones for e.
func (p *Program) flags(v Verb, e *Env) (*flag.FlagSet, Action) {
	fs := flag.NewFlagSet(v.Name, flag.ContinueOnError)
	act := v.Define(fs)
	if v.Prints&PrintsJSON != 0 {
		fs.BoolVar(&e.JSON, "json", false, "print one JSON object per line")
	}
	if v.Prints&PrintsProgress != 0 {
		usage := "print errors only\nno progress, no notes, no warnings, no summary; with -json the objects are still printed"
		if p.Results {
			usage = "print no progress and no notes; results are still printed\nno summary of a written file either"
		}
		fs.BoolVar(&e.Quiet, "quiet", false, usage)
	}
	if v.Prints&PrintsDetails != 0 {
		fs.BoolVar(&e.Verbose, "v", false, "print more: the graph, its error bounds, memory")
	}
	return fs, act
}

// explainFlag turns an error of package flag into a usage error with the reason why
// there is no such flag, or with the flag that may have been meant.
func (p *Program) explainFlag(v Verb, fs *flag.FlagSet, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return Usagef("%v", err)
	}
	if why := v.Without[name]; why != "" {
		return Usagef("there is no flag -%s here: %s", name, why)
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	return Usagef("there is no flag -%s%s; run '%s %s -h' for the list", name, DidYouMean(name, known, "-"), p.Name, v.Name)
}

// finish reports an error in one line and returns the exit code.
func (p *Program) finish(ctx context.Context, e *Env, args []string, err error) int {
	if err == nil {
		return OK
	}
	text, code := p.say(ctx, e, args, err)
	if text != "" {
		fmt.Fprintln(e.Stderr, text)
	}
	return code
}

// say returns the line that reports an error and the exit code. The line is "" if the output
// already says it.
func (p *Program) say(ctx context.Context, e *Env, args []string, err error) (text string, code int) {
	if err == errOverview {
		return "", Usage
	}
	code, err = unshown(err)
	if err == nil {
		return "", code
	}
	interrupted := ctx.Err() != nil && errors.Is(err, ctx.Err())
	text = err.Error()
	switch {
	case p.Words != nil:
		text = p.Words(err, args[min(1, len(args)):], interrupted)
	case interrupted:
		text = "interrupted"
	}
	who := p.Name + ": "
	if e.Verb != "" {
		who += e.Verb + ": "
	}
	text = who + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if interrupted {
		return text, Interrupted
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return text, Usage
	}
	return text, Failed
}

//go:build unix

package privatemail_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// Every command on the pages is run, in a folder with the files they name. Commands
// that take long, need data that we may not distribute, or ranks of mpirun, run only
// with -h, which prints help once all flags before it are known.
func TestCommandsOfThePagesRun(t *testing.T) {
	longtest.Only(t)
	tools, folder := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", tools, "./cmd/privatemail", "./cmd/pmbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shell := func(t *testing.T, line string) {
		t.Helper()
		cmd := exec.Command("sh", "-e", "-c", line)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%v\n%s", line, err, out)
		}
	}
	shell(t, "privatemail generate -kind uniform -n 2000 -d 2 -out u.npy; privatemail generate -kind digits -out cub/; cp -r cub gallery; cp -r cub c; cp cub/*.npy .; cp features.npy new.npy")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append([]string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "BENCHMARKS.md"}, pages...) {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			commands := commandsOf(string(text))
			if page == "README.md" && len(commands) < 15 {
				t.Errorf("only %q", commands)
			}
			for _, command := range commands {
				if takesLong.MatchString(command) {
					command += " -h"
				}
				shell(t, command)
			}
		})
	}
}

var (
	ourCommand = regexp.MustCompile(`^(go run \./cmd/)?(privatemail|pmbench) +[a-z-]`)
	assignment = regexp.MustCompile(`^[A-Z]=\S+$`)
	fenced     = regexp.MustCompile("(?s)```.*?```")
	codeSpan   = regexp.MustCompile("`[^`]+`")
	launched   = regexp.MustCompile(`^mpirun -n \d+ (\./)?`)
	comment    = regexp.MustCompile(`\s+#.*$`)
	takesLong  = regexp.MustCompile(`privatemail (demo|evaluate|serve|front|split|query)|pmbench|-n 1000000`)
)

// commandsOf returns the commands in the indented blocks of a page, with the variables
// set before them, and then the commands within its sentences that have a flag: others
// only name a verb.
func commandsOf(page string) (commands []string) {
	set := ""
	add := func(line string) {
		line = strings.TrimPrefix(comment.ReplaceAllString(strings.TrimSpace(line), ""), "$ ")
		if ranks := launched.FindString(line); ranks != "" {
			line = strings.TrimPrefix(line, ranks) + " -h"
		}
		switch {
		case assignment.MatchString(line):
			set = line + "; "
		case ourCommand.MatchString(line):
			commands = append(commands, set+strings.TrimPrefix(line, "go run ./cmd/"))
		}
	}
	sentences := ""
	for _, line := range strings.Split(strings.ReplaceAll(page, "\\\n", " "), "\n") {
		if strings.HasPrefix(line, "    ") {
			add(line)
			continue
		}
		sentences += line + "\n"
	}
	set = ""
	for _, span := range codeSpan.FindAllString(fenced.ReplaceAllString(sentences, ""), -1) {
		if line := strings.Join(strings.Fields(strings.Trim(span, "`")), " "); strings.Contains(line, " -") {
			add(line)
		}
	}
	return commands
}

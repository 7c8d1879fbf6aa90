package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/serve"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// unitKeys are the keys that systemd has in the sections of a unit, as far as ours use them.
// systemd ignores a key that it does not know, and says so in a log that nobody reads.
var unitKeys = map[string][]string{
	"Unit":    {"Description", "Documentation", "Requires", "After", "Wants"},
	"Install": {"WantedBy"},
	"Socket":  {"ListenStream", "FileDescriptorName", "NoDelay", "Backlog"},
	"Service": {
		"Type", "NotifyAccess", "ExecStart", "LoadCredential", "Restart", "RestartSec", "TimeoutStartSec", "TimeoutStopSec",
		"DynamicUser", "StateDirectory", "LimitNOFILE", "CapabilityBoundingSet", "LockPersonality", "MemoryDenyWriteExecute",
		"NoNewPrivileges", "PrivateDevices", "PrivateTmp", "ProtectClock", "ProtectControlGroups", "ProtectHome", "ProtectHostname",
		"ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectProc", "ProtectSystem", "RestrictAddressFamilies",
		"RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures", "SystemCallFilter", "UMask",
	},
}

// severalTimes are the keys that may stand in a section more than once.
var severalTimes = []string{"LoadCredential", "ListenStream"}

// readUnit returns the values of a unit by "Section.Key", and refuses malformed lines.
func readUnit(t *testing.T, name string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	values, section := map[string][]string{}, ""
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			if unitKeys[section] == nil || line != "["+section+"]" {
				t.Errorf("%s:%d: no section: %s", name, i+1, line)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !slices.Contains(unitKeys[section], key) || strings.TrimSpace(value) != value {
			t.Errorf("%s:%d: no line of section %s: %s", name, i+1, section, line)
		}
		if value == "" && key != "CapabilityBoundingSet" {
			t.Errorf("%s:%d: no value", name, i+1)
		}
		full := section + "." + key
		if values[full] != nil && !slices.Contains(severalTimes, key) {
			t.Errorf("%s:%d: %s twice", name, i+1, key)
		}
		values[full] = append(values[full], value)
	}
	return values
}

// checkServe refuses a command line whose flags serve does not have, or that it refuses
// before it looks at files.
func checkServe(t *testing.T, where string, args []string) {
	t.Helper()
	if len(args) < 2 || args[0] != "serve" {
		t.Fatalf("%s: no verb serve: %q", where, args)
	}
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	f := new(serve.Flags)
	f.Define(fs)
	names, err := cli.Parse(fs, args[1:])
	f.Set = settings.Given(fs)
	if err == nil {
		err = f.Check()
	}
	if err != nil || len(names) != 1 {
		t.Errorf("%s: %q: names %q, %v", where, args, names, err)
	}
}

func TestUnits(t *testing.T) {
	service, socket := readUnit(t, "privatemail.service"), readUnit(t, "privatemail.socket")
	for _, c := range []struct {
		unit      map[string][]string
		key, want string
	}{
		{service, "Service.Type", "notify-reload"}, // what serve tells systemd
		{service, "Unit.Requires", "privatemail.socket"},
		{socket, "Socket.FileDescriptorName", "public"}, // what serve looks for
		{socket, "Install.WantedBy", "sockets.target"},
		{service, "Install.WantedBy", "multi-user.target"},
	} {
		if got := c.unit[c.key]; len(got) != 1 || got[0] != c.want {
			t.Errorf("%s is %q, want %q", c.key, got, c.want)
		}
	}
	start := strings.Fields(strings.Join(service["Service.ExecStart"], " "))
	if len(start) == 0 || !filepath.IsAbs(start[0]) {
		t.Fatalf("ExecStart %q", start)
	}
	checkServe(t, "ExecStart", start[1:])
	// Each secret that the command names is one that is handed over.
	for _, arg := range start {
		secret, ok := strings.CutPrefix(arg, "%d/")
		if ok && !slices.ContainsFunc(service["Service.LoadCredential"], func(v string) bool { return strings.HasPrefix(v, secret+":/") }) {
			t.Errorf("no LoadCredential for %s", secret)
		}
	}
}

// The image is scratch with the program, runs it as nobody, and its command is one that
// serve takes.
func TestContainerfile(t *testing.T) {
	data, err := os.ReadFile("../../deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
	last := map[string]string{}
	var from []string
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(known, word) || rest == "" || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("line %d: no instruction: %s", i+1, line)
		}
		last[word] = rest
		if word == "FROM" {
			from = append(from, rest)
		}
	}
	if len(from) != 2 || from[1] != "scratch" || !strings.HasSuffix(from[0], " AS build") {
		t.Errorf("images %q", from)
	}
	// A front end in a container trusts the shards that the roots of the system sign for.
	if !strings.Contains(string(data), "\nCOPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt\n") {
		t.Error("the image has no roots")
	}
	if last["COPY"] != "--from=build /privatemail /privatemail" || strings.HasPrefix(last["USER"], "0") || last["STOPSIGNAL"] != "SIGTERM" {
		t.Errorf("%q", last)
	}
	if !strings.Contains(last["RUN"], "CGO_ENABLED=0") {
		t.Error("a program with cgo does not run in scratch")
	}
	var entry, args []string
	if err := json.Unmarshal([]byte(last["ENTRYPOINT"]), &entry); err != nil || !slices.Equal(entry, []string{"/privatemail"}) {
		t.Errorf("%q, %v", entry, err)
	}
	if err := json.Unmarshal([]byte(last["CMD"]), &args); err != nil {
		t.Fatal(err)
	}
	checkServe(t, "CMD", args)
	if i := slices.Index(args, "-listen"); i < 0 || !strings.HasSuffix(args[i+1], ":"+last["EXPOSE"]) {
		t.Errorf("port %s is exposed, and the command is %q", last["EXPOSE"], args)
	}
	if i := slices.Index(args, "-admin"); i < 0 || !strings.HasPrefix(args[i+1], "127.0.0.1:") {
		t.Errorf("the admin listener can be reached: %q", args)
	}
}

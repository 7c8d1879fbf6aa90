package serve

import (
	"context"
	"flag"
	"net/url"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/front"
	"github.com/seed-64e14a55/privatemail/internal/loopback"
)

// frontFlags are those of front.
type frontFlags struct {
	Flags
	to shardsFlags
}

func (f *frontFlags) Define(fs *flag.FlagSet) {
	f.defineClients(fs)
	f.defineLabels(fs)
	f.to.Define(fs)
}

func (f *frontFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	if len(names) == 0 {
		return cli.Usagef("name the addresses of all shards, in their order")
	}
	f.Set = set
	f.to.addresses = names
	f.shards = &f.to
	return f.start(ctx, e, "")
}

// shardsFlags say which shards a front end answers from.
type shardsFlags struct {
	addresses            []string
	token, ca, cert, key string
	timeout              time.Duration
}

func (f *shardsFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.token, "token-file", "", "send shards the token in the first line of `FILE`")
	fs.StringVar(&f.ca, "ca", "", "trust shards whose certificates one in `FILE` has signed\n(PEM), and no others (default: those that the system trusts)")
	fs.StringVar(&f.cert, "cert", "", "show shards the certificate in `FILE` (PEM); needs -key")
	fs.StringVar(&f.key, "key", "", "`FILE` with the key of -cert (PEM)")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "give a try up after `TIME` without an answer\nwithout a connection to a shard or without 16 KiB of its answer; there are two tries")
}

// check refuses flags that lack others.
func (f *shardsFlags) check(insecure bool) error {
	if (f.cert == "") != (f.key == "") {
		return cli.Usagef("-cert and -key go together: the certificate and its key")
	}
	if f.timeout <= 0 {
		return cli.Usagef("-timeout: want a time above 0, such as 10s")
	}
	for i, address := range f.addresses {
		if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !loopback.Host(u.Hostname()) && !insecure {
			return cli.Usagef("shard %d is reached over http on another machine: use https, or add -insecure where something else encrypts", i+1)
		}
	}
	return nil
}

// newFront returns the front end that the flags say, nil for none.
func (s *serving) newFront() (*front.Front, error) {
	f := s.flags.shards
	if f == nil {
		return nil, nil
	}
	how := files.ConnectionFlags{Token: f.token, CA: f.ca, Cert: f.cert, Key: f.key, ClearToken: s.flags.insecure, Stall: f.timeout, Tries: 2}
	to, err := how.Settings()
	if err != nil {
		return nil, err
	}
	return front.New(front.Settings{Shards: f.addresses, Remote: to, Name: s.flags.name, Log: s.flags.log})
}

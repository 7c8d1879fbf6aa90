package serve

import (
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/front"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
)

// shardsFlags say which shards a front end answers from.
type shardsFlags struct {
	addresses            string
	token, ca, cert, key string
	timeout              time.Duration
}

// shardsFlagNames are the flags that need -shards.
var shardsFlagNames = []string{"shards-token-file", "shards-ca", "shards-cert", "shards-key", "shards-timeout"}

func (f *shardsFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.addresses, "shards", "", "answer from the shards at `URL,URL,...`, in their order, and hold no rows")
	fs.StringVar(&f.token, "shards-token-file", "", "send shards the token in the first line of `FILE`")
	fs.StringVar(&f.ca, "shards-ca", "", "trust shards whose certificates are signed by one in `FILE` (PEM), and no others (default: those that the system trusts)")
	fs.StringVar(&f.cert, "shards-cert", "", "show shards the certificate in `FILE` (PEM); needs -shards-key")
	fs.StringVar(&f.key, "shards-key", "", "`FILE` with the key of -shards-cert (PEM)")
	fs.DurationVar(&f.timeout, "shards-timeout", 10*time.Second, "give a try up after `TIME` without a connection to a shard or without 16 KiB of its answer; there are two tries")
}

// check refuses flags that lack others, or do not go with a front end.
func (f *shardsFlags) check(set map[string]bool, insecure bool) error {
	if f.addresses == "" {
		for _, name := range shardsFlagNames {
			if set[name] {
				return cli.Usagef("-%s needs -shards: it is about how a front end reaches its shards", name)
			}
		}
		return nil
	}
	for _, name := range []string{"sealed", "sealed-most", "sealed-wait", "records"} {
		if set[name] {
			return cli.Usagef("-%s does not go with -shards: in mode sealed each shard would have an epoch and a hint of its own, and clients know one; serve the sealed gallery from one machine", name)
		}
	}
	for _, name := range modelFlagNames {
		if set[name] {
			return cli.Usagef("-%s does not go with -shards: a front end holds no rows", name)
		}
	}
	if (f.cert == "") != (f.key == "") {
		return cli.Usagef("-shards-cert and -shards-key go together: the certificate and its key")
	}
	if f.timeout <= 0 {
		return cli.Usagef("-shards-timeout is a time above 0, such as 10s")
	}
	for i, address := range f.list() {
		if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !remote.OnThisMachine(u.Hostname()) && !insecure {
			return cli.Usagef("-shards: shard %d is reached over http on another machine: use https, or add -insecure where something else encrypts", i+1)
		}
	}
	return nil
}

func (f *shardsFlags) list() []string {
	list := strings.Split(f.addresses, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// newFront returns the front end that the flags say, nil for none.
func (s *Serving) newFront() (*front.Front, error) {
	f := &s.Flags.shards
	if f.addresses == "" {
		return nil, nil
	}
	how := files.ConnectionFlags{Token: f.token, Ca: f.ca, Cert: f.cert, Key: f.key, ClearToken: s.Flags.insecure, Stall: f.timeout, Tries: 2}
	to, err := how.Settings()
	if err != nil {
		return nil, err
	}
	out, err := front.New(front.Settings{Shards: f.list(), Remote: to, Name: s.Flags.name, Log: s.Flags.log})
	if err != nil {
		return nil, fmt.Errorf("-shards: %w", err)
	}
	return out, nil
}

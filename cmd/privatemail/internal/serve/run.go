package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/front"
	"github.com/seed-64e14a55/privatemail/internal/systemd"
	"github.com/seed-64e14a55/privatemail/retrieval/host"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// serving is one run of the verb.
type serving struct {
	flags     *Flags
	env       *cli.Env
	file      string     // MODEL, GALLERY or SHARD; "" for a front end
	host      *host.Host // of the file; nil for a front end
	service   *service.Service
	listeners service.Listeners
	tokens    *service.Tokens // nil without
	front     *front.Front    // nil where rows are here
}

// serve answers until the context ends. Addresses are taken before the gallery is loaded: a
// service that loads for long is alive and not ready meanwhile.
func (f *Flags) serve(ctx context.Context, e *cli.Env, file string) error {
	s := &serving{flags: f, env: e, file: file}
	defer s.close()
	if err := s.open(); err != nil {
		return err
	}
	hangups := make(chan os.Signal, 1)
	// A hangup ends other verbs. Ignored for a moment, it does not end this one.
	signal.Ignore(syscall.SIGHUP)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)

	running, stop := context.WithCancel(ctx)
	defer stop()
	looked := make(chan struct{})
	if s.front != nil {
		defer s.front.Close()
		go func() {
			s.front.Run(running, func(g service.Offer) error {
				return s.flags.explain(host.Publish(running, s.service, g, s.flags.labels))
			})
			close(looked)
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- s.service.Run(running, s.listeners) }()
	err := s.answer(ctx, hangups, ended)
	stop()
	err = errors.Join(err, <-ended)
	if s.front != nil {
		<-looked
	}
	return err
}

// answer loads what is served, and then reloads it when a signal says so, until the context or
// the service ends.
func (s *serving) answer(ctx context.Context, hangups <-chan os.Signal, ended chan error) error {
	err := s.begin(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // to end before the first answer is what was asked for, and no failure
	}
	if err != nil {
		return err
	}
	if err := s.announce(); err != nil {
		return err
	}
	s.notify(systemd.Ready, systemd.Status("ready"))
	defer s.notify(systemd.Stopping)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			ended <- err // for who waits for it
			return nil
		case <-hangups:
			s.reload(ctx)
		}
	}
}

// begin loads what is served for the first time. A front end has nothing to load.
func (s *serving) begin(ctx context.Context) error {
	if s.front != nil {
		return nil
	}
	return s.load(ctx)
}

// open makes the service and takes its addresses.
func (s *serving) open() (err error) {
	f := s.flags
	if f.tokens != "" {
		if s.tokens, err = service.OpenTokens(f.tokens); err != nil {
			return err
		}
	}
	if f.cert != "" {
		if s.listeners.Certificates, err = service.OpenCertificates(f.cert, f.key, f.clients); err != nil {
			return err
		}
	}
	settings := f.settings(s.tokens)
	if s.front, err = s.newFront(); err != nil {
		return err
	}
	if s.front != nil {
		settings.Shards = s.front.Shards
		s.service, err = service.New(settings)
	} else if s.host, err = s.newHost(settings); err == nil {
		s.service = s.host.Service()
	}
	if err != nil {
		return err
	}
	return s.listen()
}

// close ends the service.
func (s *serving) close() {
	switch {
	case s.host != nil:
		s.host.Close()
	case s.service != nil:
		s.service.Close()
	}
}

// listen takes the sockets of systemd, and the addresses of flags where there are none.
func (s *serving) listen() error {
	given, err := systemd.Listeners()
	if err != nil {
		return err
	}
	s.listeners.Public, s.listeners.Admin = given["public"], given["admin"]
	if given != nil && s.listeners.Public == nil {
		return errors.New("systemd handed over sockets, and none is called public: FileDescriptorName= of the .socket unit names them")
	}
	if l := s.listeners.Public; l != nil {
		if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
			if err := s.flags.checkReach("the socket of systemd"); err != nil {
				return err
			}
		}
	}
	if l := s.listeners.Admin; l != nil {
		if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
			if err := s.flags.checkAdminReach("the socket of systemd called admin"); err != nil {
				return err
			}
		}
	}
	if s.listeners.Public == nil {
		if s.listeners.Public, err = net.Listen("tcp", s.flags.listen); err != nil {
			return fmt.Errorf("-listen: %w", err)
		}
	}
	if s.listeners.Admin == nil && s.flags.admin != "none" {
		if s.listeners.Admin, err = net.Listen("tcp", s.flags.admin); err != nil {
			return errors.Join(fmt.Errorf("-admin: %w", err), s.listeners.Public.Close())
		}
	}
	return nil
}

// reload reads gallery, tokens and certificates again. What cannot be read stays as it was. A front
// end looks at the galleries of its shards without a signal.
func (s *serving) reload(ctx context.Context) {
	s.notify(systemd.Reloading)
	if s.front == nil {
		s.service.NoteReload("gallery", s.load(ctx))
	}
	if s.tokens != nil {
		s.service.NoteReload("tokens", s.tokens.Reload())
	}
	if c := s.listeners.Certificates; c != nil {
		s.service.NoteReload("certificates", c.Reload())
	}
	s.notify(systemd.Ready)
}

// notify sends states to systemd. Whether they arrive changes nothing for clients.
func (s *serving) notify(states ...string) {
	if err := systemd.Notify(states...); err != nil {
		s.env.Note("cannot notify systemd: %v", err)
	}
}

// announce prints where the service is.
func (s *serving) announce() error {
	scheme := "http://"
	if s.listeners.Certificates != nil {
		scheme = "https://"
	}
	public, admin := scheme+s.listeners.Public.Addr().String(), ""
	if s.listeners.Admin != nil {
		admin = "http://" + s.listeners.Admin.Addr().String()
	}
	if s.env.JSON {
		return s.env.Object(struct {
			Listening string `json:"listening"`
			Admin     string `json:"admin,omitempty"`
		}{public, admin})
	}
	s.env.Note("listening on %s", public)
	if admin != "" {
		s.env.Note("metrics and status on %s", admin)
	}
	return nil
}

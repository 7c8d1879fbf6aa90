package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// maxHeader is the longest head of a request, in bytes. Ours have some hundred.
const maxHeader = 16 << 10

// Limits of HTTP/2. A connection keeps the memory of its longest frame, and holds as much of the
// bodies of requests as its window before anybody reads them: package http would allow a MiB of
// each, for every one of thousands of connections.
const (
	streams     = 64 // of a connection
	frameBytes  = 16 << 10
	windowBytes = 256 << 10
)

// adminTime is for writing an answer of the admin listener.
const adminTime = time.Minute

// Listeners are where a service listens.
type Listeners struct {
	// Public gets the handler Public.
	Public net.Listener
	// Admin gets the handler Admin; nil for none. Everyone who reaches it may read
	// profiles of the process.
	Admin net.Listener
	// Certificates of Public; nil for HTTP without encryption.
	Certificates *Certificates
}

// Run answers until the context ends, and then ends in order: it says that it is not ready,
// goes on for Settings.Delay, takes no more connections, and waits for requests that run,
// for Settings.Shutdown at most. The listeners are closed then. HTTP/1.1 and HTTP/2 are
// spoken, HTTP/2 also without encryption by clients that know beforehand (h2c).
//
// It returns nil at the end of the context when all requests have ended, an error when
// some were cut off, and the error of a listener that fails.
func (s *Service) Run(ctx context.Context, l Listeners) error {
	if l.Public == nil {
		return fmt.Errorf("service: %w: there is no public listener", ErrSettings)
	}
	public := s.newServer(s.Public())
	gated := newGate(l.Public, "public", s.settings.MaxConnections, s.settings.Share, s.settings.Log)
	s.public.Store(gated)
	serve := func() error { return public.Serve(gated) }
	if l.Certificates != nil {
		l.Certificates.watch(s.reloaded)
		public.TLSConfig = l.Certificates.serverConfig()
		serve = func() error { return public.ServeTLS(gated, "", "") }
	}
	ended := make(chan error, 2)
	go func() { ended <- serve() }()
	var admin *http.Server
	if l.Admin != nil {
		admin = s.newServer(s.Admin())
		admin.WriteTimeout = adminTime
		// Who runs the service must see why it takes no connections any more.
		to := newGate(l.Admin, "admin", adminConnections, 1, s.settings.Log)
		to.reserve = new(reserve)
		to.reserve.fill()
		defer to.reserve.close()
		go func() { ended <- admin.Serve(to) }()
	}
	var err error
	select {
	case err = <-ended:
		err = fmt.Errorf("service: %w", err)
		s.stopping.Store(true)
	case <-ctx.Done():
		s.stopping.Store(true)
		s.settings.Log.Info("service ends", "running", s.metrics.running.Load())
		select {
		case failure := <-ended:
			err = fmt.Errorf("service: %w", failure)
		case <-time.After(s.settings.Delay):
		}
	}
	// The context of the caller has ended; what is left has a time of its own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.settings.Shutdown)
	defer cancel()
	if late := public.Shutdown(last); late != nil {
		err = errors.Join(err, fmt.Errorf("service: requests were cut off after %v", s.settings.Shutdown), public.Close())
	}
	if admin != nil {
		admin.Close() // last, so that /readyz says until the end why there are no answers
	}
	return err
}

// newServer returns an HTTP server with all timeouts but that of writing, which moves with
// each answer.
func (s *Service) newServer(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, Protocols: protocols,
		ReadHeaderTimeout: s.settings.Header, ReadTimeout: s.settings.Read, IdleTimeout: s.settings.Idle,
		// For what package http answers itself, such as a head that is too long. Ours move it.
		WriteTimeout:   s.settings.Header,
		MaxHeaderBytes: maxHeader,
		// OPTIONS * goes through the guard like everything else.
		DisableGeneralOptionsHandler: true,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streams, MaxReadFrameSize: frameBytes, MaxReceiveBufferPerConnection: windowBytes, MaxReceiveBufferPerStream: windowBytes,
			SendPingTimeout: s.settings.Idle, PingTimeout: s.settings.Stall, WriteByteTimeout: s.settings.Stall,
		},
		ErrorLog: slog.NewLogLogger(s.settings.Log.Handler(), slog.LevelDebug),
	}
}

// reloaded counts and reports that certificates were read again.
func (s *Service) reloaded(err error) { s.NoteReload("certificates", err) }

// NoteReload counts a reload of what, such as "gallery" or "tokens", and logs how it ended.
func (s *Service) NoteReload(what string, err error) {
	if err != nil {
		s.metrics.failedLoads.Add(1)
		s.settings.Log.Error("reload failed, and what was there before stays", "what", what, "error", err)
		return
	}
	s.metrics.reloads.Add(1)
	s.settings.Log.Info("reloaded", "what", what)
}

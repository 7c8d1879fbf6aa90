package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// ErrSettings reports settings that cannot be used.
var ErrSettings = errors.New("settings not usable")

// Settings say which shards there are. Zero values mean the defaults, where there is one.
type Settings struct {
	// Shards are the addresses of all shards of a gallery, in their order.
	Shards []string
	// Remote says how a shard is reached. Unless they are set its Stall is 10 seconds, its Tries
	// are 2 and its Wait is 2 seconds: a client waits meanwhile. Its Cache, Codebook and Epoch are
	// not used.
	Remote remote.Settings
	// Every is the time between two looks at the shards, a quarter of which is waited as long as
	// one of them is not ready. 0 means 2 seconds.
	Every time.Duration
	// Name is shown to clients. "" means the name that the first shard has.
	Name string
	// Log is told when the state of a shard changes; nil means nobody.
	Log *slog.Logger
}

// A Front has shards. It is safe for concurrent use.
type Front struct {
	settings Settings
	shards   []*remote.Server

	mu     sync.Mutex
	states []service.ShardState
	wake   chan struct{} // has an entry where Run is to look at once
	// asking ends when a look has found a shard that does not answer, with its error as the cause,
	// and is another one after that. Requests that run end with it.
	asking context.Context
	giveUp context.CancelCauseFunc

	current *gallery // what was published last; for Run alone
}

// New returns a front end of shards, to which nothing is sent yet. Errors are ErrSettings and
// remote.ErrSettings.
func New(settings Settings) (*Front, error) {
	n := len(settings.Shards)
	if n < 1 || n > server.MaxShards {
		return nil, fmt.Errorf("front: %w: %d shards, want 1 to %d", ErrSettings, n, server.MaxShards)
	}
	if settings.Every < 0 {
		return nil, fmt.Errorf("front: %w: Every is %v", ErrSettings, settings.Every)
	}
	if settings.Every == 0 {
		settings.Every = 2 * time.Second
	}
	if settings.Log == nil {
		settings.Log = slog.New(slog.DiscardHandler)
	}
	to := settings.Remote
	to.Cache = ""
	if to.Stall == 0 {
		to.Stall = 10 * time.Second
	}
	if to.Tries == 0 {
		to.Tries = 2
	}
	if to.Wait == 0 {
		to.Wait = 2 * time.Second // what our own services ask for at most, but for -rate
	}
	f := &Front{settings: settings, wake: make(chan struct{}, 1)}
	f.asking, f.giveUp = context.WithCancelCause(context.Background())
	f.settings.Remote = to
	for i, address := range settings.Shards {
		s, err := remote.New(address, to)
		if err != nil {
			return nil, fmt.Errorf("front: shard %d: %w", i+1, err)
		}
		f.shards = append(f.shards, s)
		f.states = append(f.states, service.ShardState{Address: address, Reason: "it was not asked yet", Since: time.Now()})
	}
	return f, nil
}

// Shards returns the state of each shard, for service.Settings.
func (f *Front) Shards() []service.ShardState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.states)
}

// Run looks at the shards until the context ends, and publishes what they serve. Requests that run
// then go on; Close follows when they have ended.
func (f *Front) Run(ctx context.Context, publish func(service.Offer) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-f.wake:
		}
		f.look(ctx, publish)
		wait := f.settings.Every
		if slices.ContainsFunc(f.Shards(), func(s service.ShardState) bool { return !s.Ready }) {
			wait /= 4 // somebody waits for it
		}
		timer.Reset(wait)
	}
}

// Close closes all connections to shards. Requests that are under way fail.
func (f *Front) Close() {
	for _, s := range f.shards {
		s.Close()
	}
}

// look asks all shards what they have, and publishes the newest gallery that all of them have if
// it is another one than before.
func (f *Front) look(ctx context.Context, publish func(service.Offer) error) {
	seen := f.survey(ctx)
	if ctx.Err() != nil {
		return
	}
	if seen.agreed != nil && (f.current == nil || !reflect.DeepEqual(f.current.parts, seen.agreed)) {
		g, blame, err := f.open(ctx, seen.agreed)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			seen.reasons[blame] = reason(err)
		default:
			name := f.settings.Name
			if name == "" {
				name = g.parts[0].Name
			}
			if err := publish(service.Offer{Name: name, Source: g, Map: g.chart}); err != nil {
				f.settings.Log.Error("gallery not published", "error", err)
				break
			}
			f.current = g
		}
	}
	f.note(seen.reasons)
}

// lose notes that a shard did not answer a request, and has Run look at it. Requests are refused
// at once from now on, until it answers.
func (f *Front) lose(shard int) {
	f.mu.Lock()
	f.set(shard, reasonSilent)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default: // it will look
	}
}

// missing returns the error of a shard that is known not to answer, nil for none. The lock is held.
func (f *Front) missing() error {
	i := slices.IndexFunc(f.states, func(s service.ShardState) bool { return !s.Ready && s.Reason == reasonSilent })
	if i < 0 {
		return nil
	}
	return &service.ShardError{Index: i + 1, Count: len(f.states), Reason: reasonSilent}
}

// whileAllAnswer calls ask unless a shard is known not to answer, and ends it when a look finds one.
// Whoever waited for the shard would hold places of ours meanwhile, and wait for nothing.
func (f *Front) whileAllAnswer(ctx context.Context, ask func(context.Context) error) error {
	f.mu.Lock()
	asking, err := f.asking, f.missing()
	f.mu.Unlock()
	if err != nil {
		return err
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(asking, cancel)()
	err = ask(own)
	if err != nil && ctx.Err() == nil && asking.Err() != nil {
		return context.Cause(asking)
	}
	return err
}

// note keeps the states of shards: why each is not ready, "" for one that is.
func (f *Front) note(reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, reason := range reasons {
		f.set(i, reason)
	}
	if err := f.missing(); err != nil {
		f.giveUp(err)
		f.asking, f.giveUp = context.WithCancelCause(context.Background())
	}
}

// set keeps the state of a shard. The lock is held.
func (f *Front) set(shard int, reason string) {
	s := &f.states[shard]
	if ready := reason == ""; s.Ready == ready && s.Reason == reason {
		return
	}
	s.Ready, s.Reason, s.Since = reason == "", reason, time.Now()
	if s.Ready {
		f.settings.Log.Info("shard ready", "shard", shard+1, "address", s.Address)
	} else {
		f.settings.Log.Warn("shard not ready", "shard", shard+1, "address", s.Address, "reason", reason)
	}
}

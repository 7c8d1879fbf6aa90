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
	f := &Front{settings: settings}
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

// Run looks at the shards until the context ends, and publishes what they serve.
func (f *Front) Run(ctx context.Context, publish func(service.Gallery) error) {
	defer func() {
		for _, s := range f.shards {
			s.Close()
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		f.look(ctx, publish)
		wait := f.settings.Every
		if slices.ContainsFunc(f.Shards(), func(s service.ShardState) bool { return !s.Ready }) {
			wait /= 4 // somebody waits for it
		}
		timer.Reset(wait)
	}
}

// look asks all shards what they have, and publishes the newest gallery that all of them have if
// it is another one than before.
func (f *Front) look(ctx context.Context, publish func(service.Gallery) error) {
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
			if err := publish(service.Gallery{Name: name, Source: g, Map: g.chart}); err != nil {
				f.settings.Log.Error("gallery not published", "error", err)
				break
			}
			f.current = g
		}
	}
	f.note(seen.reasons)
}

// note keeps the states of shards: why each is not ready, "" for one that is.
func (f *Front) note(reasons []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, reason := range reasons {
		s := &f.states[i]
		if ready := reason == ""; s.Ready == ready && s.Reason == reason {
			continue
		}
		s.Ready, s.Reason, s.Since = reason == "", reason, time.Now()
		if s.Ready {
			f.settings.Log.Info("shard ready", "shard", i+1, "address", s.Address)
		} else {
			f.settings.Log.Warn("shard not ready", "shard", i+1, "address", s.Address, "reason", reason)
		}
	}
}

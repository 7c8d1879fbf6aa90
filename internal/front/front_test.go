package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// Everything that a front end sends is that of one server with all rows, byte by byte, with the
// same headers.
func TestFrontEndIsOneServer(t *testing.T) {
	for _, size := range []int{1, 3} {
		f := newFarm(t, size)
		if r := send(t, "GET", f.all.URL+"/v1/codebook", nil); r.status != 503 {
			t.Errorf("before a look: status %d", r.status)
		}
		f.look(t)
		if err := f.service.Ready(); err != nil {
			t.Fatal(err)
		}
		same := func(method, path string, body []byte, headers ...string) reply {
			t.Helper()
			got, want := send(t, method, f.all.URL+path, body, headers...), send(t, method, f.one.URL+path, body, headers...)
			if got.err != nil || want.err != nil || got.status != want.status || !bytes.Equal(got.body, want.body) {
				t.Errorf("%s %q: status %d, want %d, or other bytes (%d, %d) %v", path, headers, got.status, want.status, len(got.body), len(want.body), got.err)
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Content-Range", "ETag", "Cache-Control"} {
				if got.header.Get(name) != want.header.Get(name) {
					t.Errorf("%s %q: %s is %q, want %q", path, headers, name, got.header.Get(name), want.header.Get(name))
				}
			}
			return got
		}
		for _, path := range []string{"/v1/gallery", "/v1/codebook", "/v1/map", "/v1/base", "/v1/base?encoding=int8", "/v1/rows"} {
			whole := same("GET", path, nil)
			same("HEAD", path, nil)
			same("GET", path, nil, "If-None-Match", whole.header.Get("ETag"))
			for _, r := range []string{"0-0", "3-90", "1000-1500", "-9", "-300", "99999999-"} {
				same("GET", path, nil, "Range", "bytes="+r)
			}
		}
		for cell := range uint32(f.whole.Codebook().Cells() - size + 1) {
			for _, encoding := range []string{"", "?encoding=int8"} {
				if r := same("POST", "/v1/cells"+encoding, request(t, f.whole, cell)); r.status != 200 {
					t.Fatalf("status %d", r.status)
				}
			}
		}
		same("POST", "/v1/cells", []byte("no frame"))
		same("POST", "/v1/cells", request(t, newCells(t, 7, size), 0))  // another codebook
		same("POST", "/v1/cells?encoding=int9", request(t, f.whole, 0)) // no encoding
		same("POST", "/v1/cells", request(t, f.whole, 1<<19))           // no such cells
		same("POST", "/v1/sealed/ask", nil)                             // not offered
		same("GET", "/v1/rows?codebook="+strings.Repeat("ab", 32), nil) // another codebook
		same("POST", "/v1/shard/cells", request(t, f.whole, 0))         // a front end is no shard
	}
}

// Every shard gets every request, as it came.
func TestAllShardsAreAskedTheSame(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	var sent [][]byte
	for cell := range uint32(f.whole.Codebook().Cells()) {
		sent = append(sent, request(t, f.whole, cell))
		send(t, "POST", f.all.URL+"/v1/cells", sent[cell])
	}
	for i, s := range f.shards {
		if len(s.came) != len(sent) {
			t.Fatalf("shard %d got %d requests of %d", i+1, len(s.came), len(sent))
		}
		for j, body := range s.came {
			if !bytes.Equal(body, sent[j]) {
				t.Errorf("shard %d got other bytes in request %d", i+1, j)
			}
		}
	}
}

// problemOf returns the type and the detail of a problem.
func problemOf(t *testing.T, r reply) (kind, detail, codebook string) {
	t.Helper()
	var p struct{ Type, Detail, Codebook string }
	if err := json.Unmarshal(r.body, &p); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	return p.Type, p.Detail, p.Codebook
}

// wantShard wants a request for cells to fail for a shard, and to say when to try again.
func (f *farm) wantShard(t *testing.T, number int, reason string) {
	t.Helper()
	for _, encoding := range []string{"", "?encoding=int8"} {
		r := send(t, "POST", f.all.URL+"/v1/cells"+encoding, request(t, f.whole, 1))
		if r.err != nil {
			t.Fatal(r.err)
		}
		kind, detail, _ := problemOf(t, r)
		if r.status != 503 || kind != "urn:privatemail:shard" || r.header.Get("Retry-After") == "" ||
			!strings.HasPrefix(detail, fmt.Sprintf("shard %d of %d: ", number, shardCount)) || !strings.Contains(detail, reason) {
			t.Errorf("%d %s %q, want shard %d and %q", r.status, kind, detail, number, reason)
		}
	}
}

// A shard that is gone is named, nothing is answered without it but what any shard has, and it
// is used again when a look has found it.
func TestLostShard(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	for lost := range shardCount {
		f.shards[lost].handle(dead)
		f.wantShard(t, lost+1, "it does not answer")
		if r := send(t, "GET", f.all.URL+"/v1/rows", nil); r.err == nil && r.status == 200 && len(r.body) == int(f.whole.Codebook().AllRowsBytes()) {
			t.Error("all rows came without a shard")
		}
		for range shardCount { // whichever shard has the turn
			if r := send(t, "GET", f.all.URL+"/v1/base", nil); r.status != 200 || r.err != nil {
				t.Errorf("base: status %d %v", r.status, r.err)
			}
		}
		f.look(t)
		states := f.front.Shards()
		for i, s := range states {
			if s.Ready != (i != lost) || s.Ready != (s.Reason == "") {
				t.Errorf("shard %d is lost, state of %d: %+v", lost+1, i+1, s)
			}
		}
		if err := f.service.Ready(); err == nil {
			t.Error("ready without a shard")
		}
		f.shards[lost].handle(nil)
		f.look(t)
		if r := send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 1)); r.status != 200 {
			t.Errorf("status %d when the shard is back", r.status)
		}
		if err := f.service.Ready(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range f.shards {
		s.handle(dead)
	}
	if r := send(t, "GET", f.all.URL+"/v1/base", nil); r.status != 503 {
		t.Errorf("base without shards: status %d", r.status)
	}
}

// /readyz has the state of each shard with its address; the page for everyone has no address.
func TestStatesAreShown(t *testing.T) {
	f := newFarm(t, 1)
	admin := httptest.NewServer(f.service.Admin())
	defer admin.Close()
	f.shards[1].handle(dead)
	f.look(t)
	r := send(t, "GET", admin.URL+"/readyz", nil)
	if text := string(r.body); r.status != 503 || !strings.Contains(text, f.shards[0].web.URL+": ready") || !strings.Contains(text, f.shards[1].web.URL+": it does not answer") {
		t.Errorf("%d %s", r.status, text)
	}
	f.shards[1].handle(nil)
	f.look(t)
	if r = send(t, "GET", admin.URL+"/readyz", nil); r.status != 200 || !strings.HasPrefix(string(r.body), "ok\n") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r = send(t, "GET", admin.URL+"/metrics", nil); !strings.Contains(string(r.body), `privatemail_shard_ready{shard="2"} 1`) {
		t.Error("the metrics do not have the shard")
	}
	if r = send(t, "GET", f.all.URL+"/", nil); r.status != 200 || strings.Contains(string(r.body), f.shards[0].web.URL) || !strings.Contains(string(r.body), "Shards that hold the rows") {
		t.Errorf("status page: %d", r.status)
	}
}

// Shards change to a new gallery one after the other: the old one is served until all have the
// new one, by a front end that was there before and by one that starts in between.
func TestGalleryIsReplaced(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	next := newCells(t, 2, 1)
	for i, s := range f.shards {
		s.publish(t, next, i+1, shardCount)
		fresh, err := New(f.front.settings)
		if err != nil {
			t.Fatal(err)
		}
		f.look(t)
		var version uint64
		fresh.look(t.Context(), func(g service.Offer) error {
			version = g.Source.Codebook().Version
			return nil
		})
		if want := uint64(1 + (i+1)/shardCount); version != want {
			t.Errorf("%d shards are new, and a front end that starts has version %d", i+1, version)
		}
		if r := send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 2)); r.status != 200 {
			t.Errorf("%d shards are new: status %d for the old codebook", i+1, r.status)
		}
		want := 409
		if i == shardCount-1 {
			want = 200
		}
		if r := send(t, "POST", f.all.URL+"/v1/cells", request(t, next, 2)); r.status != want {
			t.Errorf("%d shards are new: status %d for the new codebook, want %d", i+1, r.status, want)
		}
	}
}

// A shard that gives up the old gallery at once is named as long as others have nothing newer;
// when all have, clients are told of the new one.
func TestGalleryIsGone(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	next := newCells(t, 2, 1)
	for i, s := range f.shards { // in their place, servers without a memory
		fresh, err := service.New(service.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fresh.Close)
		part, err := next.Split(t.Context(), i+1, shardCount, 0, nil)
		if err == nil {
			err = fresh.Publish(service.Offer{Name: "birds", Cells: part})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.handle(fresh.Public().ServeHTTP)
		if i == 0 {
			f.wantShard(t, 1, "another gallery")
			f.look(t)
			if s := f.front.Shards()[2]; s.Ready || s.Reason != reasonStale {
				t.Errorf("the shard without the newest gallery: %+v", s)
			}
		}
	}
	f.look(t)
	r := send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 1))
	hash, err := next.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	if kind, _, codebook := problemOf(t, r); r.status != 409 || kind != "urn:privatemail:stale-codebook" || codebook != fmt.Sprintf("%x", hash) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := send(t, "POST", f.all.URL+"/v1/cells", request(t, next, 1)); r.status != 200 {
		t.Errorf("status %d for the new codebook", r.status)
	}
}

// Servers that are no shards of one gallery, in their order, are not published.
func TestShardsMustFit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, f *farm)
		shard  int
		reason string
	}{
		"twice the same":   {func(t *testing.T, f *farm) { f.shards[1].handle(f.shards[0].Public().ServeHTTP) }, 2, "it is shard 1 of 3"},
		"of another split": {func(t *testing.T, f *farm) { f.shards[1].publish(t, f.whole, 2, 4) }, 2, "it is shard 2 of 4"},
		"no shard":         {func(_ *testing.T, f *farm) { f.shards[2].handle(f.one.Config.Handler.ServeHTTP) }, 3, reasonWrong},
		"not our service":  {func(_ *testing.T, f *farm) { f.shards[0].handle(http.NotFound) }, 1, "status 404"},
		"wants a token": {func(_ *testing.T, f *farm) {
			f.shards[0].handle(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
		}, 1, "does not let us in"},
		"busy": {func(_ *testing.T, f *farm) {
			f.shards[0].handle(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
		}, 1, "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFarm(t, 1)
			c.change(t, f)
			f.look(t)
			if s := f.front.Shards()[c.shard-1]; s.Ready || !strings.Contains(s.Reason, c.reason) {
				t.Errorf("%+v, want %q", s, c.reason)
			}
			if r := send(t, "GET", f.all.URL+"/v1/codebook", nil); r.status != 503 {
				t.Errorf("status %d", r.status)
			}
		})
	}
}

// A shard that is slow is given up after Stall.
func TestSlowShard(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	s := f.front.settings
	s.Remote.Stall = 50 * time.Millisecond
	impatient, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	f.front.shards = impatient.shards
	end := make(chan struct{})
	f.shards[2].handle(func(http.ResponseWriter, *http.Request) { <-end })
	defer close(end)
	r := send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 1))
	if kind, _, _ := problemOf(t, r); r.status != 503 || kind != "urn:privatemail:shard" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A shard that hangs keeps one request waiting. Those after it are refused without asking any shard,
// until a look has found it, which is made at once.
func TestHangingShardIsNotAsked(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	s := f.front.settings
	s.Remote.Stall = 50 * time.Millisecond
	impatient, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	f.front.shards, f.front.settings = impatient.shards, impatient.settings
	end := make(chan struct{})
	defer close(end)
	var came atomic.Int32
	hang := func(http.ResponseWriter, *http.Request) { came.Add(1); <-end }
	ask := func() reply { return send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 1)) }
	f.shards[2].handle(hang)
	refused := func(when string) {
		t.Helper()
		before, others := came.Load(), f.shards[0].asked()
		for range 3 {
			r := ask()
			if kind, _, _ := problemOf(t, r); r.status != 503 || kind != "urn:privatemail:shard" || r.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", when, r.status, r.body)
			}
			if r := send(t, "GET", f.all.URL+"/v1/rows", nil); r.status != 503 {
				t.Errorf("%s: %d for all rows", when, r.status)
			}
		}
		if came.Load() != before || f.shards[0].asked() != others {
			t.Errorf("%s: shards were asked", when)
		}
	}
	if r := ask(); r.status != 503 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if len(f.front.wake) != 1 {
		t.Error("nobody looks at the shard")
	}
	refused("after a request that was not answered")
	f.shards[2].handle(nil)
	f.look(t)
	for end := time.Now().Add(20 * time.Second); ask().status != 200; f.look(t) { // a short Stall may cut off a good shard
		if time.Now().After(end) {
			t.Fatal("the shard is back, and is not used")
		}
	}
	f.shards[2].handle(hang)
	f.look(t)
	refused("after a look")
}

// Requests that wait for a shard end when a look finds that it does not answer. They would keep the
// places of others for as long as a shard has.
func TestRequestsThatWaitForAHangingShardEnd(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	s := f.front.settings
	s.Remote.Stall = time.Hour
	patient, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	f.front.shards, f.front.settings = patient.shards, patient.settings
	end := make(chan struct{})
	came := make(chan string, 2)
	f.shards[2].handle(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/gallery" {
			dead(w, r)
		}
		came <- r.URL.Path
		<-end
	})
	defer close(end)
	body := request(t, f.whole, 1)
	replies := make(chan reply, 2)
	go func() { replies <- send(t, "POST", f.all.URL+"/v1/cells", body) }()
	go func() {
		// The last byte, which the last shard has.
		replies <- send(t, "GET", f.all.URL+"/v1/rows", nil, "Range", fmt.Sprintf("bytes=%d-", f.whole.Codebook().AllRowsBytes()-100))
	}()
	if a, b := <-came, <-came; a == b {
		t.Errorf("the shard was asked for %s twice", a)
	}
	f.look(t)
	for range 2 {
		r := <-replies
		if kind, detail, _ := problemOf(t, r); r.status != 503 || kind != "urn:privatemail:shard" || !strings.Contains(detail, "shard 3 of 3: it does not answer") {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	f.shards[2].handle(nil)
	f.look(t)
	if r := send(t, "POST", f.all.URL+"/v1/cells", body); r.status != 200 {
		t.Errorf("%d, and the shard is back", r.status)
	}
}

// A shard that asks for a long pause is given up: a client waits meanwhile, and so do the looks at
// all other shards.
func TestShardThatAsksToWait(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	settings := f.front.settings
	settings.Remote = remote.Settings{}
	patient, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	f.front.shards = patient.shards
	var came atomic.Int32
	f.shards[1].handle(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.Header().Set("Retry-After", "59")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	f.wantShard(t, 2, "busy")
	f.look(t)
	if n := came.Load(); n != 3 {
		t.Errorf("%d requests to a shard that asks for a long pause, want one of each encoding and one look", n)
	}
}

// A request that fails is the fault of the shard that failed by itself, wherever it is among those
// whose requests were ended for that; where none did, it still has failed.
func TestBlame(t *testing.T) {
	ended, own := fmt.Errorf("ended: %w", context.Canceled), errors.New("its own")
	for want, errs := range map[int][]error{-1: {nil, nil, nil}, 1: {ended, own, ended}, 2: {nil, nil, ended}, 0: {ended, nil, ended}} {
		if got := toBlame(errs); got != want {
			t.Errorf("%v: shard %d, want %d", errs, got, want)
		}
	}
}

// The base sample comes from shards that are ready, as long as there is one.
func TestBaseComesFromReadyShards(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	f.shards[1].handle(dead)
	f.look(t)
	var came atomic.Int32
	f.shards[1].handle(func(http.ResponseWriter, *http.Request) {
		came.Add(1)
		panic(http.ErrAbortHandler)
	})
	for range 2 * shardCount {
		if r := send(t, "GET", f.all.URL+"/v1/base", nil); r.status != 200 || r.err != nil {
			t.Errorf("status %d %v", r.status, r.err)
		}
	}
	if came.Load() > 0 {
		t.Errorf("a shard that is not ready was asked %d times", came.Load())
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		settings Settings
		want     error
	}{
		"no shards":   {Settings{}, ErrSettings},
		"many shards": {Settings{Shards: make([]string, server.MaxShards+1)}, ErrSettings},
		"no address":  {Settings{Shards: []string{"http://127.0.0.1:1", "ftp://a"}}, remote.ErrSettings},
		"a time":      {Settings{Shards: []string{"http://127.0.0.1:1"}, Every: -1}, ErrSettings},
	} {
		if _, err := New(c.settings); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Answers that are put together take room, and those that find none are refused.
func TestAnswersNeedRoom(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	s, err := service.New(service.Settings{SealedBytes: 1})
	if err == nil {
		err = s.Publish(service.Offer{Name: "birds", Source: f.front.current})
	}
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	defer web.Close()
	came, end := make(chan struct{}), make(chan struct{})
	f.shards[0].handle(func(w http.ResponseWriter, r *http.Request) {
		close(came)
		<-end
		f.shards[0].Public().ServeHTTP(w, r)
	})
	first := make(chan reply)
	go func() { first <- send(t, "POST", web.URL+"/v1/cells", request(t, f.whole, 1)) }()
	<-came
	r := send(t, "POST", web.URL+"/v1/cells", request(t, f.whole, 1))
	if kind, _, _ := problemOf(t, r); r.status != 503 || kind != "urn:privatemail:busy" {
		t.Errorf("%d %s", r.status, r.body)
	}
	close(end)
	if r := <-first; r.status != 200 {
		t.Errorf("status %d for who came first", r.status)
	}
	f.shards[0].handle(nil)
	if r := send(t, "POST", web.URL+"/v1/cells", request(t, f.whole, 1)); r.status != 200 {
		t.Errorf("status %d afterwards", r.status)
	}
}

// What a look has found is told also where it could not be published, and the next one tries again.
func TestPublishThatFails(t *testing.T) {
	f := newFarm(t, 1)
	f.front.look(t.Context(), func(service.Offer) error { return errors.New("no") })
	for i, s := range f.front.Shards() {
		if !s.Ready {
			t.Errorf("shard %d: %+v", i+1, s)
		}
	}
	if f.look(t); f.front.current == nil {
		t.Error("the next look publishes nothing")
	}
}

// Run publishes when shards come, and ends with its context.
func TestRun(t *testing.T) {
	f := newFarm(t, 1)
	f.shards[1].handle(dead)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	settings := f.front.settings
	settings.Every = time.Millisecond
	front, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	published, ended := make(chan service.Offer), make(chan struct{})
	go func() {
		front.Run(ctx, func(g service.Offer) error {
			published <- g
			return nil
		})
		close(ended)
	}()
	f.shards[1].handle(nil)
	if g := <-published; g.Name != "birds" || g.Source.Codebook().Rows != 250 || g.Map == nil {
		t.Errorf("%+v", g)
	}
	cancel()
	<-ended
}

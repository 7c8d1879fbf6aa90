package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// held waits until the wanted number of places or bytes is taken.
func (r *room) held(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		taken, _ := r.load()
		if taken == int64(want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d are taken, want %d", taken, want)
		}
	}
}

// lined waits until the wanted number of requests waits.
func (r *room) lined(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		_, waiting := r.load()
		if waiting == int64(want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d wait, want %d", waiting, want)
		}
	}
}

// One client has its share and no more, however often it asks, and others have theirs.
func TestRoomShares(t *testing.T) {
	r := newRoom(16, 0.25)
	taken := map[string]int{}
	for _, client := range []string{"a", "b", "c", "d", "e"} {
		for range 10 {
			if r.tryEnter(client, 1) {
				taken[client]++
			}
		}
	}
	if want := map[string]int{"a": 4, "b": 4, "c": 4, "d": 4}; fmt.Sprint(taken) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", taken, want)
	}
	r.leave("a", 1)
	if r.tryEnter("b", 1) || !r.tryEnter("e", 1) {
		t.Error("the place of one client went to one that has its share, or to nobody")
	}
	r = newRoom(16, 0.25)
	r.give(r.tenant("a"), 3)
	r.leave("a", 3)
	if n, _ := r.load(); n != 0 || len(r.clients) != 0 {
		t.Errorf("%d places are taken, and %d clients are remembered", n, len(r.clients))
	}
	// One request always has room: it may want more than the share, or than there is.
	if !r.tryEnter("a", 100) || r.tryEnter("a", 1) || r.tryEnter("b", 1) {
		t.Error("a request that wants more than there is, alone")
	}
	r.leave("a", 100)
	for most, want := range map[int64]int64{1: 1, 2: 1, 4: 1, 5: 2, 256: 64} {
		if got := newRoom(most, 0.25).share; got != want {
			t.Errorf("a quarter of %d is %d, want %d", most, got, want)
		}
	}
}

// has reports whether a request has its places.
func (v *visitor) has() bool {
	select {
	case <-v.come:
		return true
	default:
		return false
	}
}

// Clients that wait are let in past those who have their share. Behind one that does
// not fit everybody waits: small requests would keep a large one out for ever.
func TestRoomLine(t *testing.T) {
	r := newRoom(10, 0.5)
	r.give(r.tenant("a"), 5)
	r.give(r.tenant("b"), 4)
	more, large, small := r.arrive("a", 1), r.arrive("c", 3), r.arrive("d", 1)
	check := func(when string, want ...bool) {
		t.Helper()
		if got := []bool{more.has(), large.has(), small.has()}; !slices.Equal(got, want) {
			t.Errorf("%s: %v are let in, want %v", when, got, want)
		}
	}
	check("there is one place, and large came before small", false, false, false)
	if r.tryEnter("e", 1) {
		t.Error("somebody overtook those who wait")
	}
	r.leave("b", 2)
	check("large fits", false, true, false)
	r.leave("b", 1)
	check("small fits, and a has its share", false, true, true)
	r.leave("a", 1)
	check("a has less than its share", true, true, true)
	// Where the one in front gives up, those behind it are let in.
	r.leave("c", 1)
	tooMuch, last := r.arrive("f", 5), r.arrive("g", 1)
	if last.has() || !r.goAway(tooMuch) || !last.has() || r.goAway(last) {
		t.Error("who waits behind one that gave up is not let in")
	}
}

// Clients take turns, however many requests of one wait, and each one's requests come in their order.
func TestRoomTurns(t *testing.T) {
	r := newRoom(4, 0.75)
	r.give(r.tenant("a"), 3)
	r.give(r.tenant("b"), 1)
	var order []*visitor
	for _, client := range []string{"c", "c", "c", "d", "d"} {
		order = append(order, r.arrive(client, 1))
	}
	for i, want := range [][]bool{{true, false, false, false, false}, {true, false, false, true, false}, {true, true, false, true, false}, {true, true, false, true, true}} {
		if i < 3 {
			r.leave("a", 1)
		} else {
			r.leave("b", 1)
		}
		var got []bool
		for _, v := range order {
			got = append(got, v.has())
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d places: %v are let in, want %v", i+1, got, want)
		}
	}
	// A request that gave up had the turn of its client: the next one does not keep the way closed.
	r = newRoom(10, 0.5)
	r.give(r.tenant("a"), 5)
	r.give(r.tenant("b"), 4)
	large, small := r.arrive("c", 2), r.arrive("d", 1)
	r.arrive("c", 2)
	if r.goAway(large); !small.has() {
		t.Error("a client whose requests give up keeps others out")
	}
	// What waits of a client that has its share does not stand in the way of anybody.
	r = newRoom(4, 0.5)
	r.give(r.tenant("a"), 2)
	for range 5 {
		r.arrive("a", 1)
	}
	if len(r.turns) != 0 || !r.tryEnter("b", 1) {
		t.Error("those who have their share are asked again and again")
	}
}

// BenchmarkRoom is a client coming and going while others have their shares and fill the line.
func BenchmarkRoom(b *testing.B) {
	for _, others := range []int{0, 3} {
		b.Run(fmt.Sprint(others), func(b *testing.B) {
			r := newRoom(4096, 0.25)
			for i := range others {
				r.give(r.tenant(fmt.Sprint(i)), r.share)
				for range r.lineShare {
					r.arrive(fmt.Sprint(i), 1)
				}
			}
			for b.Loop() {
				if v := r.arrive("a", 1); !v.has() {
					b.Fatal("a place is free")
				}
				r.leave("a", 1)
			}
		})
	}
}

// Nobody waits for ever, and as many as may.
func TestRoomPatience(t *testing.T) {
	r := newRoom(4, 0.25) // one place and four in the line for each client
	r.give(r.tenant("a"), 1)
	r.patience = time.Millisecond
	if r.enter(t.Context(), "a", 1) {
		t.Error("a client has more than its share")
	}
	r.patience = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if r.enter(ctx, "a", 1) {
				t.Error("a client has more than its share")
			}
		})
	}
	r.lined(t, 4)
	if r.arrive("a", 1) != nil {
		t.Error("a client has more than its share of the line")
	}
	if !r.enter(t.Context(), "b", 1) {
		t.Error("the line of one client keeps others out")
	}
	cancel()
	all.Wait()
	r.leave("a", 1)
	r.leave("b", 1)
	if n, waiting := r.load(); n != 0 || waiting != 0 || len(r.clients) != 0 {
		t.Errorf("%d places are taken, %d wait, %d clients are remembered", n, waiting, len(r.clients))
	}
}

// untouched is a body that must not be read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body of a request that is refused was read")
	return 0, io.EOF
}

// A request of mode sealed is refused before anything of its body is read: for a client that has
// its share of the places or of the bytes. Expect keeps discard from reading what is refused.
func TestSealedRefusedUnread(t *testing.T) {
	s, g, _ := startSealed(t, Settings{})
	for _, r := range []*room{s.passes[epochPart], s.bodies, s.places} {
		r.patience = time.Millisecond
	}
	_, q := ask(t, g, 7)
	good := frameOf(t, q.Request())
	post := func(client string, body io.Reader) reply {
		r, err := http.NewRequest("POST", "http://a/v1/sealed/ask", body)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength, r.RemoteAddr = int64(len(good)), client+":1"
		r.Header.Set("Expect", "100-continue")
		return serveDirect(s, r)
	}
	for name, r := range map[string]*room{"places of passes": s.passes[epochPart], "bytes": s.bodies, "places": s.places} {
		r.give(r.tenant("10.0.0.1"), r.share)
		wantProblem(t, post("10.0.0.1", untouched{t}), 503, "busy")
		if got := post("10.0.0.2", bytes.NewReader(good)); got.status != 200 {
			t.Errorf("%s: another client gets %d %s", name, got.status, got.body)
		}
		r.leave("10.0.0.1", r.share)
		if got := post("10.0.0.1", bytes.NewReader(good)); got.status != 200 {
			t.Errorf("%s: then %d %s", name, got.status, got.body)
		}
		if n, _ := r.load(); n != 0 {
			t.Errorf("%s: %d stay taken", name, n)
		}
	}
	// What is too long is refused without taking room.
	r, err := http.NewRequest("POST", "http://a/v1/sealed/ask", untouched{t})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength, r.RemoteAddr = 1<<40, "10.0.0.1:1"
	r.Header.Set("Expect", "100-continue")
	wantProblem(t, serveDirect(s, r), 413, "too-large")
}

// While the body of a request comes, it has its place and room for all of it, and no more.
func TestSealedRoom(t *testing.T) {
	s, g, web := startSealed(t, Settings{SealedQueue: 4})
	s.passes[epochPart].patience = time.Millisecond
	_, q := ask(t, g, 7)
	good := frameOf(t, q.Request())
	out, ended := hold(t, s, web.URL+"/v1/sealed/ask", int64(len(good)))
	s.bodies.held(t, len(good)) // nothing of it has come
	s.passes[epochPart].held(t, 1)
	wantProblem(t, send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(good)), 503, "busy")
	if _, err := out.Write(good); err != nil {
		t.Error(err)
	}
	out.Close()
	if r := <-ended; r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	s.bodies.held(t, 0)
	s.passes[epochPart].held(t, 0)

	// A length that is not announced counts as the longest.
	in, chunks := io.Pipe()
	r, err := http.NewRequest("POST", web.URL+"/v1/sealed/ask", in)
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- 0
			return
		}
		answer.Body.Close()
		status <- answer.StatusCode
	}()
	limit, _ := s.longest(epochPart)
	s.bodies.held(t, int(limit))
	if _, err := chunks.Write(good); err != nil {
		t.Error(err)
	}
	chunks.Close()
	if got := <-status; got != 200 {
		t.Errorf("%d in chunks", got)
	}
	s.bodies.held(t, 0)

	_, _, other := startSealed(t, Settings{SealedBytes: 1})
	if r := send(t, "POST", other.URL+"/v1/sealed/ask", bytes.NewReader(good)); r.status != 200 {
		t.Errorf("%d for a request that is longer than the room, alone", r.status)
	}

	s.changes.patience = time.Millisecond
	s.changes.give(s.changes.tenant("127.0.0.1"), s.changes.share)
	changes := web.URL + "/v1/sealed/changes?since=0&to=0"
	wantProblem(t, send(t, "GET", changes, nil), 503, "busy")
	s.changes.leave("127.0.0.1", 1)
	if r := send(t, "GET", changes, nil); r.status != 200 {
		t.Errorf("%d, and a place is free", r.status)
	}
}

// serveDirect hands a request to the service without a network.
func serveDirect(s *Service, r *http.Request) reply {
	w := httptest.NewRecorder()
	s.Public().ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.Bytes()}
}

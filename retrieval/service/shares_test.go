package service

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"
)

// A client whose bodies do not come, or who takes nothing of its answers, has its share of the
// places, and others are answered.
func TestOneClientHasAShare(t *testing.T) {
	tokens := writeTokens(t, "first-token-of-all\nsecond-token-of-all\n")
	s, web := start(t, Settings{MaxRequests: 8, Tokens: tokens})
	s.places.patience = time.Millisecond
	body := s.frame(t, 1)
	post := func(token string, body io.Reader) int {
		r, err := http.NewRequest("POST", web.URL+"/v1/cells", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	statuses := make(chan int, 2)
	var bodies []*io.PipeWriter
	for range 2 {
		in, out := io.Pipe()
		bodies = append(bodies, out)
		go func() { statuses <- post("first-token-of-all", in) }()
	}
	s.places.held(t, 2)
	for range 10 {
		if got := post("first-token-of-all", bytes.NewReader(body)); got != 503 {
			t.Errorf("%d beyond the share", got)
		}
		if got := post("second-token-of-all", bytes.NewReader(body)); got != 200 {
			t.Errorf("%d for another client", got)
		}
		if got := post("a guess", bytes.NewReader(body)); got != 401 {
			t.Errorf("%d without a token", got)
		}
	}
	for _, out := range bodies {
		out.CloseWithError(io.ErrUnexpectedEOF)
		<-statuses
	}
	s.places.held(t, 0)
	http.DefaultClient.CloseIdleConnections()
}

// Whoever may not ask, or asks too often, takes no place.
func TestRefusedTakeNoPlace(t *testing.T) {
	s, web := start(t, Settings{Tokens: writeTokens(t, "first-token-of-all\n"), MaxRequests: 1, Rate: 1e-6, Burst: 1})
	s.places.patience = time.Millisecond
	s.places.give(s.places.tenant("other"), 1)
	wantProblem(t, send(t, "GET", web.URL+"/v1/gallery", nil), 401, "unauthorized")
	wantProblem(t, send(t, "GET", web.URL+"/v1/gallery", nil), 429, "rate")
	s.places.leave("other", 1)
}

// frame2 returns a frame of HTTP/2.
func frame2(kind, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = append(b, flags)
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// get2 returns the head of a GET, in fields that are not compressed.
func get2(path string) (head []byte) {
	head = []byte{0x82, 0x86} // GET, http
	for _, field := range [][2]string{{":path", path}, {":authority", "a"}} {
		head = append(head, 0)
		for _, text := range field {
			head = append(append(head, byte(len(text))), text...)
		}
	}
	return head
}

// Streams of HTTP/2 with a window of 0 end, and give their places back.
func TestStreamsThatTakeNothing(t *testing.T) {
	r := runWith(t, Settings{Stall: 50 * time.Millisecond, Share: 1}, nil, longMap)
	c := dial(t, r.public, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	send := frame2(4, 0, 0, []byte{0, 4, 0, 0, 0, 0}) // INITIAL_WINDOW_SIZE is 0
	for i, path := range []string{"/v1/map", "/v1/gallery", "/nowhere"} {
		send = append(send, frame2(1, 5, uint32(2*i+1), get2(path))...)
	}
	if _, err := c.Write(send); err != nil {
		t.Fatal(err)
	}
	if got := resets(t, c, 3); len(got) != 3 {
		t.Errorf("%v were reset", got)
	}
	r.places.held(t, 0)
	for r.metrics.running.Load() != 0 {
		time.Sleep(time.Millisecond)
	}
}

// A connection of HTTP/2 announces short frames and a small window, and ends with a longer frame:
// its memory is not for clients to choose.
func TestConnectionsTakeLittle(t *testing.T) {
	r := run(t, Settings{}, nil)
	c := dial(t, r.public, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if _, err := c.Write(frame2(4, 0, 0, nil)); err != nil {
		t.Fatal(err)
	}
	settings, window := map[uint16]uint32{}, uint32(65535)
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(c, head); err != nil {
			t.Fatalf("the connection does not end in order: %v", err)
		}
		payload := make([]byte, binary.BigEndian.Uint32(head)>>8)
		if _, err := io.ReadFull(c, payload); err != nil {
			t.Fatal(err)
		}
		switch kind, stream := head[3], binary.BigEndian.Uint32(head[5:]); {
		case kind == 4:
			for ; len(payload) >= 6; payload = payload[6:] {
				settings[binary.BigEndian.Uint16(payload)] = binary.BigEndian.Uint32(payload[2:])
			}
		case kind == 8 && stream == 0:
			window += binary.BigEndian.Uint32(payload)
			// The head of a frame of a kind that does not exist.
			if _, err := c.Write(frame2(0x20, 0, 0, make([]byte, frameBytes+1))[:9]); err != nil {
				t.Fatal(err)
			}
		case kind == 7:
			if code := binary.BigEndian.Uint32(payload[4:]); code != 6 { // FRAME_SIZE_ERROR
				t.Errorf("it ends with the error %d", code)
			}
			if settings[3] != streams || settings[4] != windowBytes || settings[5] != frameBytes || window != windowBytes {
				t.Errorf("settings %v, and a window of %d", settings, window)
			}
			return
		}
	}
}

// resets reads frames until the wanted number of streams is reset, and returns which.
func resets(t *testing.T, c net.Conn, want int) map[uint32]bool {
	t.Helper()
	got := map[uint32]bool{}
	head := make([]byte, 9)
	for len(got) < want {
		if _, err := io.ReadFull(c, head); err != nil {
			t.Errorf("after %v: %v", got, err)
			return got
		}
		if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head)>>8)); err != nil {
			t.Errorf("after %v: %v", got, err)
			return got
		}
		if head[3] == 3 {
			got[binary.BigEndian.Uint32(head[5:])] = true
		}
	}
	return got
}

// Short answers that the client does not take, which HTTP/2 keeps after the handler, count as requests
// that run, and those of refused requests have a limit as well.
func TestShortAnswersThatAreNotTaken(t *testing.T) {
	r := runWith(t, Settings{MaxRequests: 8, Stall: time.Hour}, nil, shortMap)
	r.places.patience = time.Millisecond
	r.refusals = newRoom(12, 0.25)
	before := runtime.NumGoroutine()
	for range 4 {
		c := dial(t, r.public, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		send := frame2(4, 0, 0, []byte{0, 4, 0, 0, 0, 0}) // INITIAL_WINDOW_SIZE is 0
		for i := range 16 {
			send = append(send, frame2(1, 5, uint32(2*i+1), get2("/v1/gallery"))...)
		}
		if _, err := c.Write(send); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, c)
	}
	r.places.held(t, 2)
	r.refusals.held(t, 3)
	for r.metrics.running.Load() != 5 {
		time.Sleep(time.Millisecond)
	}
	// Each connection has some goroutines here and at the service.
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before+4*6; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines more than before", runtime.NumGoroutine()-before)
		}
	}
}

// What package http answers itself does not stay where the client does not take it.
func TestAnswersOfTheServerEnd(t *testing.T) {
	r := runWith(t, Settings{Header: 100 * time.Millisecond}, nil, shortMap)
	c := dial(t, r.public, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	send := frame2(4, 0, 0, []byte{0, 4, 0, 0, 0, 0})
	for i := range 3 {
		head := append(get2("/"), 0, 10)
		head = append(append(head, "connection"...), 5)
		send = append(send, frame2(1, 5, uint32(2*i+1), append(head, "close"...))...)
	}
	if _, err := c.Write(send); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := resets(t, c, 3); len(got) != 3 {
		t.Errorf("%v were reset", got)
	}
}

// An answer that is prepared for longer than a head may take has its time.
func TestAnswersOutlastTheHead(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		r := runWith(t, Settings{Header: 50 * time.Millisecond, MaxRequests: 1}, nil, shortMap)
		r.places.patience = 20 * time.Second
		r.places.give(r.places.tenant("other"), 1)
		protocols := new(http.Protocols)
		protocols.SetHTTP1(protocol == "HTTP/1.1")
		protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
		transport := &http.Transport{Protocols: protocols}
		time.AfterFunc(300*time.Millisecond, func() { r.places.leave("other", 1) })
		answer, err := (&http.Client{Transport: transport}).Get("http://" + r.public + "/v1/gallery")
		if err != nil {
			t.Errorf("%s: %v", protocol, err)
			continue
		}
		if _, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 || answer.Proto != protocol {
			t.Errorf("%s: %s %d, %v", protocol, answer.Proto, answer.StatusCode, err)
		}
		answer.Body.Close()
		transport.CloseIdleConnections()
	}
}

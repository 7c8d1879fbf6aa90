package server

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A slowLine says when it is written to, and waits.
type slowLine struct {
	began, goOn chan struct{}
	once        *sync.Once
	got         []byte
}

func (l *slowLine) Write(p []byte) (int, error) {
	l.once.Do(func() { close(l.began) })
	<-l.goOn
	l.got = append(l.got, p...)
	return len(p), nil
}

// Close waits for answers that are being written, which are whole, and refuses others.
func TestCloseWaits(t *testing.T) {
	for _, settings := range []CellsSettings{{Epsilon: 4}, {Epsilon: 4, Encoded: -1}} {
		c, err := OpenCells(t.Context(), saved(t, newCells(t, settings)))
		if err != nil {
			t.Fatal(err)
		}
		request := &wire.CellsRequest{Codebook: c.hash, Cells: []uint32{2}}
		lines := []*slowLine{}
		goOn := make(chan struct{})
		var answers sync.WaitGroup
		for i := range 6 {
			line := &slowLine{began: make(chan struct{}), goOn: goOn, once: new(sync.Once)}
			lines = append(lines, line)
			answers.Go(func() {
				if _, err := c.WriteAnswer(line, request, wire.Encoding(i%2)); err != nil {
					t.Error(err)
				}
			})
			<-line.began
		}
		release, err := c.Hold()
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error)
		go func() { closed <- c.Close() }()
		for { // until Close has begun
			if _, err := c.Answer(request, wire.Int8); errors.Is(err, ErrClosed) {
				break
			}
		}
		frame := len(c.AllRowsFrame())
		close(goOn)
		answers.Wait()
		select {
		case <-closed:
			t.Fatal("it is closed while somebody holds it")
		default:
		}
		sum := 0
		for _, b := range c.AllRowsFrame() {
			sum += int(b)
		}
		if sum == 0 || frame == 0 {
			t.Error("the gallery is gone")
		}
		release()
		release()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		for i, line := range lines {
			var answer wire.CellsAnswer
			if err := answer.UnmarshalBinary(line.got); err != nil || answer.Encoding != wire.Encoding(i%2) {
				t.Errorf("answer %d: %v", i, err)
			}
		}
	}
}

package remote

import (
	"fmt"
	"math"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// What a message takes, as multiples of its length. While it is taken there are its bytes, with
// those that were copied when the buffer grew, and its numbers. Afterwards there are the numbers,
// and a copy that a client makes of them. Numbers in JSON may be four times as long as their text.
// A map has them twice while it is made a supervised.Guarded, and half as long a third time.
const (
	takenFrame, heldFrame = 3, 2
	takenJSON, heldJSON   = 12, 6
)

// taken and held say how much a message of one byte takes.
func (o *order) taken() int64 {
	if o.frame {
		return takenFrame
	}
	return takenJSON
}

func (o *order) held() int64 {
	if o.frame {
		return heldFrame
	}
	return heldJSON
}

// A memory counts what the messages take that a caller keeps: each sort counts once, with the
// longest that is there. The zero value is ready.
type memory struct {
	mutex sync.Mutex
	sorts map[string]int64
	total int64
}

// hold notes what the message of a sort takes, in place of the one before it. 0 forgets it.
func (m *memory) hold(sort string, bytes int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.sorts == nil {
		m.sorts = make(map[string]int64)
	}
	m.total += bytes - m.sorts[sort]
	if m.sorts[sort] = bytes; bytes == 0 {
		delete(m.sorts, sort)
	}
}

func (m *memory) held() int64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.total
}

// ofHash names a sort of which there may be several at a time, on a shelf.
func ofHash(what string, hash wire.Hash) string { return what + " " + string(hash[:]) }

// Hold counts what a caller makes of messages against Settings.Memory, in addition to the messages, and in
// place of what it has counted under that name before. The error is ErrTooLong where there is no
// room for it; then it is not counted.
func (s *Server) Hold(what string, bytes int64) error {
	sort := "the caller's " + what // no name of a message
	s.memory.hold(sort, 0)
	if most := s.settings.Memory; most > 0 && bytes > most-s.memory.held() {
		return fmt.Errorf("remote: %w: %s takes %d bytes, and %d are free", ErrTooLong, what, bytes, max(0, most-s.memory.held()))
	}
	s.memory.hold(sort, bytes)
	return nil
}

// room returns the longest message of an order that there is memory for.
func (s *Server) room(o *order) int64 {
	if s.settings.Memory == 0 {
		return math.MaxInt64
	}
	return max(0, s.settings.Memory-s.memory.held()) / o.taken()
}

// Room returns the length of the longest answer that Settings.Memory has room for, in addition to what
// was taken already. Whoever pays for answers asks before.
func (s *Server) Room() int64 { return s.room(&order{frame: true}) }

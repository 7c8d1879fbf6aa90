//go:build mpi && cgo

package cluster

import (
	"fmt"
	"time"
)

// A heart reports to the next rank that this one lives and which calls it has made, and
// listens to the one before. The owner calls it.
type heart struct {
	*communicator
	silence  time.Duration
	calls    *calls
	in, out  *transfer     // out is nil while nothing is on its way
	got, say []byte        // a byte for the kind of message, and the calls
	heard    []byte        // the calls of the rank before
	over     bool          // the rank before has sent bye
	last     time.Time     // the time of the last turn
	silent   time.Duration // how long nothing was heard
	unsaid   time.Duration // time since the last beat was sent
}

// The kinds of message between hearts.
const (
	beat = 0
	bye  = 1 // the last one
)

// newHeart makes a communicator for beats and begins to listen. All ranks call it.
func newHeart(silence time.Duration, made *calls) (*heart, error) {
	c, err := newCommunicator()
	if err != nil {
		return nil, err
	}
	h := &heart{
		communicator: c, silence: silence, calls: made, last: time.Now(),
		got: make([]byte, 1+callBytes), say: make([]byte, 1+callBytes), heard: make([]byte, callBytes),
	}
	return h, h.listen()
}

func (h *heart) before() int { return (h.rank + h.size - 1) % h.size }
func (h *heart) next() int   { return (h.rank + 1) % h.size }

func (h *heart) listen() error {
	h.in = newTransfer("listening to a rank")
	return h.in.receive(h.communicator, h.got, h.before())
}

// hear takes the message that the rank before has sent, if any.
func (h *heart) hear() error {
	for !h.over && h.in.test(0) {
		h.in.pins.Unpin()
		if h.in.err != nil {
			return h.in.err
		}
		h.silent = 0
		copy(h.heard, h.got[1:])
		if h.over = h.got[0] == bye; !h.over {
			if err := h.listen(); err != nil {
				return err
			}
		}
	}
	return nil
}

// free reports whether nothing is on its way to the next rank.
func (h *heart) free() (bool, error) {
	if h.out == nil || !h.out.test(0) {
		return h.out == nil, nil
	}
	err := h.out.err
	h.out.pins.Unpin()
	h.out = nil
	return true, err
}

// speak sends a message to the next rank, unless another is on its way.
func (h *heart) speak(what byte) (sent bool, err error) {
	if free, err := h.free(); !free || err != nil {
		return false, err
	}
	h.say[0] = what
	h.calls.put(h.say[1:])
	h.out = newTransfer("reporting to a rank that this one lives")
	return true, h.out.send(h.communicator, h.say, h.next())
}

// turn sends and receives due messages. It returns a lostError if nothing was heard for too
// long, and errMismatch if the rank before makes other calls: each could wait for ever in a
// call that the other does not make. Only time in which this process has run counts: no rank
// is lost because a whole run was suspended.
func (h *heart) turn() error {
	now := time.Now()
	passed := min(now.Sub(h.last), time.Second)
	h.last = now
	h.silent += passed
	h.unsaid += passed
	if h.unsaid >= h.silence/10 {
		h.unsaid = 0
		if _, err := h.speak(beat); err != nil {
			return err
		}
	}
	if err := h.hear(); err != nil {
		return err
	}
	if h.calls.differs(h.heard) {
		return fmt.Errorf("cluster: rank %d and rank %d: %w", h.before(), h.rank, errMismatch)
	}
	if h.silent >= h.silence && !h.over {
		return &lostError{Rank: h.before(), Silent: h.silence}
	}
	return nil
}

// stop tells the next rank that no more messages will come, and waits until the rank
// before has said the same: MPI ends when no message is on its way.
func (h *heart) stop() error {
	for said := false; ; time.Sleep(time.Millisecond) {
		free, err := h.free()
		if err == nil && said && free && h.over {
			return nil
		}
		if err == nil && !said {
			said, err = h.speak(bye)
		}
		if err == nil {
			err = h.hear()
		}
		if err != nil {
			return err
		}
	}
}

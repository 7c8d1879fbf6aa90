package rows

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// Memory is the memory that the writers of a search may take.
type Memory struct {
	request     *Request
	held        int64 // bytes that the search holds in addition to it
	entry       int64 // bytes of an entry, until the matrix is made
	writers     int64
	first       int          // entries of the first slab of a writer
	left, taken atomic.Int64 // bytes
	short       atomic.Bool  // a writer wanted more than was left

	mu       sync.Mutex
	reserved int64 // bytes that writers may take or have taken
	denied   bool  // Request.Reserve has refused more
}

// Begin reserves what writers are expected to take, in bytes, in addition to the bytes that the
// search holds. An entry takes the given number of bytes. Where writers take more, it is
// reserved as they go. Without Request.Reserve they may take all that is left of
// Request.Memory from the beginning. Where there is room for all that is expected, the first slab
// of a writer is about a quarter of its share: where memory is scarce slabs begin small, so that
// none lies idle with one writer while another wants it.
func (m *Memory) Begin(ctx context.Context, r *Request, held int64, expected float64, entry int64) error {
	m.request, m.held, m.entry, m.writers = r, held, entry, int64(r.Workers.Count())
	m.reserved = max(r.Memory-held, 0)
	if r.Reserve != nil {
		m.reserved = min(m.reserved, mem.Saturate(expected))
	}
	if m.reserved >= mem.Saturate(expected) {
		m.first = int(min(expected/float64(4*entry*m.writers), MostSlab))
	}
	m.left.Store(m.reserved)
	return r.TakeEqual(ctx, "", held+m.reserved)
}

// Taken returns how many bytes the writers have taken.
func (m *Memory) Taken() int64 { return m.taken.Load() }

// Short reports whether a writer wanted more than was left.
func (m *Memory) Short() bool { return m.short.Load() }

// Exhaust notes that somebody wanted more than was left.
func (m *Memory) Exhaust() { m.short.Store(true) }

// Err returns nil, or, where a writer wanted more than was left, the error of a search
// that by its own estimate needs that many bytes for weights.
func (m *Memory) Err(need float64) error {
	if !m.Short() {
		return nil
	}
	if m.denied {
		return &MemoryError{Need: m.request.Memory, Denied: true}
	}
	return TooManyWeights(max(need+float64(m.held), float64(m.request.Memory+m.entry)))
}

// Take takes the memory of the given number of entries and reports whether there was as
// much. The memory that is left never falls below zero, not for a moment: otherwise a
// writer that asks for too much would have another writer refused that asks for little.
func (m *Memory) Take(entries int) bool {
	bytes := int64(entries) * m.entry
	for {
		left := m.left.Load()
		if bytes > left {
			if !m.grow(bytes) {
				return false
			}
			continue
		}
		if m.left.CompareAndSwap(left, left-bytes) {
			m.taken.Add(bytes)
			return true
		}
	}
}

// grow reserves what is missing to the given number of bytes, or an eighth more than there
// is, and reports whether that was possible.
func (m *Memory) grow(bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	missing := bytes - m.left.Load()
	if missing <= 0 {
		return true // another writer has seen to it
	}
	beyond := m.request.Memory - m.held - m.reserved
	if missing > beyond {
		return false
	}
	more := min(max(missing, m.reserved/8), beyond)
	if m.request.Reserve(m.held + m.reserved + more) {
		m.reserved += more
		m.left.Add(more)
		return true
	}
	m.denied = true
	return false
}

// share returns how many entries a writer may take beyond its need. As memory runs out
// slabs get smaller, so that no memory lies idle with one writer while another wants it.
func (m *Memory) share() int { return int(m.left.Load() / (2 * m.writers * m.entry)) }

// TightBytes is the bytes that writers need for the given number of entries where memory is
// scarce: slabs are small then, and each writer has left some pieces behind that moved on,
// which are at most about as much again where there are few entries.
func TightBytes(entries, entry float64, writers int) float64 {
	const moved = 4
	return entry * (entries + min(moved*PieceEntries*float64(writers), entries))
}

// SlabBytes is the bytes that writers take for the given number of entries, a number that
// may be beyond all integers: slabs are not full, and pieces move from one to the next.
func SlabBytes(entries, entry float64, writers int) float64 {
	w := float64(writers)
	share := 1 + min(1, MostSlab*w/max(entries, 1)) + float64(PieceEntries)/MostSlab
	return entries*entry*share + PieceEntries*entry*w
}

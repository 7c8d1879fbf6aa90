package remote

import (
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// mostKnown is how many things of one sort a Server knows at a time.
const mostKnown = 8

// A shelf has things by their hash, the newest last. It is safe for concurrent use.
type shelf[T any] struct {
	mutex sync.Mutex
	all   []shelved[T]
}

type shelved[T any] struct {
	hash  wire.Hash
	thing T
}

// find returns the thing of a hash.
func (s *shelf[T]) find(hash wire.Hash) (thing T, ok bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if i := slices.IndexFunc(s.all, func(t shelved[T]) bool { return t.hash == hash }); i >= 0 {
		return s.all[i].thing, true
	}
	return thing, false
}

// add keeps a thing, and forgets the oldest of many, whose hash it returns.
func (s *shelf[T]) add(hash wire.Hash, thing T) (gone wire.Hash, ok bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if slices.ContainsFunc(s.all, func(t shelved[T]) bool { return t.hash == hash }) {
		return gone, false
	}
	if len(s.all) == mostKnown {
		gone, ok = s.all[0].hash, true
		s.all = slices.Delete(s.all, 0, 1)
	}
	s.all = append(s.all, shelved[T]{hash, thing})
	return gone, ok
}

package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Key stands for one release of a record under one codebook and one price, and for who paid.
type Key [sha256.Size]byte

// A Memory keeps what was released. A record that is asked for again by who has
// paid for it gets the same message, which discloses nothing new but that it was
// asked again; a fresh one would spend the budget again. Clients and ledgers may
// share a memory: each gets what it has paid for itself.
//
// Implementations are safe for concurrent use. One that several processes or machines
// share had better be a Locker.
type Memory interface {
	// Recall returns what is kept under a key, nil if nothing is. It finds everything
	// that Keep has returned, to whoever shares the memory.
	Recall(key Key) ([]byte, error)
	// Ready tries whether Keep can be expected to work. It is called before the
	// budget is spent on a message to keep.
	Ready() error
	// Keep stores a message unless one is there already, durably if that is the
	// memory's kind, and returns the one that is there.
	Keep(key Key, message []byte) ([]byte, error)
	// Secret returns random bytes that were drawn once for the memory: the same for all who
	// share it, as long as what is kept. Keys are made with them, so that a key tells nothing
	// to who does not have them. older says that the memory may also hold sets of the formats
	// before there was a secret.
	Secret() (secret [32]byte, older bool, err error)
}

// A Locker is a Memory that lets one client at a time release a record. Clients hold the
// key of a record from Recall through Keep, so that of many who ask for it at the same
// time one pays, and the others get what that one has kept.
//
// For a Memory that is no Locker the clients of one process take turns. Clients of several
// processes may then meet. All of them take the set that Keep returns, which is the same for
// all, and a ledger pays for its number once: one that comes second may get ErrLedger from
// that, and its next call sends the set.
type Locker interface {
	Memory
	// Lock waits until nobody holds the key, and holds it until unlock is called. That
	// is so for all who share the memory: goroutines, processes, machines. Whoever dies
	// holds nothing any more. Recall and Keep work for who holds a key and for who does
	// not. Keys may share a lock, if there are many locks. A context that is done ends
	// the wait, with its error.
	Lock(ctx context.Context, key Key) (unlock func(), err error)
}

// turnsOfKeys are those of clients whose memories are no Lockers.
var turnsOfKeys turns[Key]

// lockKey holds a key of a memory.
func lockKey(ctx context.Context, memory Memory, key Key) (unlock func(), err error) {
	if locker, ok := memory.(Locker); ok {
		return locker.Lock(ctx, key)
	}
	unlock, err = turnsOfKeys.take(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return unlock, nil
}

// NewMemory returns a memory that lasts as long as the program.
func NewMemory() Memory {
	v := &volatile{kept: make(map[Key][]byte)}
	rand.Read(v.secret[:]) // never fails
	return v
}

type volatile struct {
	secret    [secretSize]byte
	mutex     sync.Mutex
	kept      map[Key][]byte
	codebooks []wire.Hash
}

func (v *volatile) Recall(key Key) ([]byte, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return bytes.Clone(v.kept[key]), nil
}

func (v *volatile) Ready() error { return nil }

func (v *volatile) Secret() (secret [secretSize]byte, older bool, err error) {
	return v.secret, false, nil
}

func (v *volatile) Keep(key Key, message []byte) ([]byte, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if _, there := v.kept[key]; !there {
		v.kept[key] = bytes.Clone(message)
	}
	return bytes.Clone(v.kept[key]), nil
}

// memoryError leaves the names of files out: they are hashes of the names of
// records, or parts of such hashes, which whoever reads the error could guess and test.
func memoryError(err error) error {
	var named *fs.PathError
	var linked *os.LinkError
	switch {
	case errors.As(err, &named):
		err = fmt.Errorf("%s: %w", named.Op, named.Err)
	case errors.As(err, &linked):
		err = fmt.Errorf("%s: %w", linked.Op, linked.Err)
	}
	return fmt.Errorf("client: %w: %w", ErrMemory, err)
}

package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// What is kept of a release is a tag of the row that it was drawn for, the number of the release
// and the request:
//
//	 0 tag, 16 bytes of HMAC-SHA-256 under the memory's secret
//	16 number of the release
//	32 request
//
// A record that is its content has one release under a codebook and a price. A name has one for
// each of its rows that was paid for. They are numbered from 0 on, and each has a key of its own.
// What the formats before this one kept has no tag, see olderKey.
const tagSize = 16

// A storedSet is a set that the memory holds.
type storedSet struct {
	key   Key
	entry []byte        // as it is kept
	tag   [tagSize]byte // of its row; zero where it has none
	body  []byte        // number and request
	kept  bool          // it is kept under its key, and not as pending alone
}

// A standing is what the memory and the ledger know of a record.
type standing struct {
	first Key           // of the unit's first release, which is locked
	free  Key           // of its next one
	tag   [tagSize]byte // of the row
	own   *storedSet    // released for this row
	last  *storedSet    // released last, for another row
	drawn *storedSet    // drawn for this row after all releases, and not paid for
}

// look returns the standing of a record. It changes nothing.
func (c *Cells) look(id RecordID) (s standing, err error) {
	if err := id.check(); err != nil {
		return s, err
	}
	payer, err := c.Unit(id).Payer(c.settings.Ledger)
	if err != nil {
		return s, fmt.Errorf("client: %w", err)
	}
	secret, older, err := c.settings.Memory.Secret()
	if err != nil {
		return s, err
	}
	if older && !id.named() {
		return s, fmt.Errorf("client: %w", ErrEarlierNames)
	}
	s.tag = c.tag(secret, payer, id)
	for n := uint64(0); ; n++ {
		s.free = c.key(secret, payer, id, n)
		if n == 0 {
			s.first = s.free
		}
		set, paid, err := c.stored(s.free, tagSize)
		if err != nil {
			return s, err
		}
		if set == nil {
			break
		}
		switch own := set.tag == s.tag; {
		case own && paid:
			s.own = set
			return s, nil
		case paid:
			s.last, s.drawn = set, nil
		case own:
			s.drawn = set
		}
	}
	if id.named() && s.last == nil {
		set, paid, err := c.stored(c.olderKey(payer, id.name), 0)
		if err != nil {
			return s, err
		}
		if paid {
			s.last = set
		}
	}
	return s, nil
}

// choose returns the set that is sent for a record, nil where one is to be released.
func (s *standing) choose(changed Changed) (*storedSet, error) {
	switch {
	case s.own != nil || s.last == nil:
		return s.own, nil
	case changed == ResendChanged:
		return s.last, nil
	case changed == SpendChanged:
		return nil, nil
	case s.last.tag == [tagSize]byte{}:
		return nil, fmt.Errorf("client: %w, or may be: it was released before rows were noted", ErrChanged)
	}
	return nil, fmt.Errorf("client: %w", ErrChanged)
}

// stored returns the set that is kept under a key or is pending for it, nil if there is none, and
// whether it was released: one that is pending was if it is paid for. tagged is the length of its
// tag.
func (c *Cells) stored(key Key, tagged int) (set *storedSet, released bool, err error) {
	set = &storedSet{key: key, kept: true}
	if set.entry, err = c.settings.Memory.Recall(key); err == nil && set.entry == nil {
		set.kept = false
		set.entry, err = c.settings.Memory.Recall(pendingKey(key))
	}
	if set.entry == nil || err != nil {
		return nil, false, err
	}
	if len(set.entry) < tagged {
		return nil, false, errShort
	}
	copy(set.tag[:tagged], set.entry)
	set.body = set.entry[tagged:]
	if set.kept {
		return set, true, nil
	}
	number, _, err := c.open(set.body)
	if err != nil {
		return nil, false, err
	}
	paid, err := mechanism.Paid(c.settings.Ledger, number)
	if err != nil {
		return nil, false, fmt.Errorf("client: %w", err)
	}
	return set, paid, nil
}

var errShort = memoryError(errors.New("a message of it is damaged"))

// key returns the key of a release of a record: HMAC-SHA-256, under the memory's secret, of a
// name for its purpose, what the release is for, its number, and the record.
func (c *Cells) key(secret [secretSize]byte, payer [sha256.Size]byte, id RecordID, number uint64) (key Key) {
	b := binary.LittleEndian.AppendUint64(c.terms("privatemail cells 3", payer), number)
	if id.named() {
		b = append(append(b, 'n'), id.name...)
	} else {
		b = append(append(b, 'c'), id.content[:]...)
	}
	return Key(keyed(secret, b))
}

// tag returns what stands for the row of a record.
func (c *Cells) tag(secret [secretSize]byte, payer [sha256.Size]byte, id RecordID) (tag [tagSize]byte) {
	b := append(c.terms("privatemail row 3", payer), id.content[:]...)
	copy(tag[:], keyed(secret, append(b, id.name...)))
	return tag
}

func keyed(secret [secretSize]byte, b []byte) []byte {
	mac := hmac.New(sha256.New, secret[:])
	mac.Write(b)
	return mac.Sum(nil)
}

// terms returns a name for a purpose, the payer, the codebook's hash, m, w and epsilon.
func (c *Cells) terms(purpose string, payer [sha256.Size]byte) []byte {
	b := append([]byte(purpose), payer[:]...)
	b = append(b, c.settings.Codebook[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Items))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Size))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(c.subset.Epsilon))
}

// olderKey returns the key that the second format had for a name: SHA-256, without a secret. The
// first format, "privatemail cells 1", did not say who paid, and nothing of it is served.
func (c *Cells) olderKey(payer [sha256.Size]byte, name string) Key {
	return sha256.Sum256(append(c.terms("privatemail cells 2", payer), name...))
}

// pendingKey is the key of the set that is drawn for a release. Its first byte is that of the
// release's key, so that a Folder has both in one log.
func pendingKey(key Key) Key {
	pending := Key(sha256.Sum256(append([]byte("privatemail pending 1"), key[:]...)))
	pending[0] = key[0]
	return pending
}

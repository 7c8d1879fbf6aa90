package mechanism

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// ledgerState is the result of all blocks of a ledger.
type ledgerState struct {
	header   *ledgerHeader
	sequence uint64            // of the last record
	sum      [sha256.Size]byte // of the last record, or the header
	units    map[unitHash]unitState
	releases map[[16]byte]uint64 // sequence of the reserve, 0 after its commit
}

// end returns the offset of the next record.
func (s *ledgerState) end() int64 { return int64(s.sequence+1) * blockSize }

// add adds the next record, whose hash has been set or verified.
func (s *ledgerState) add(b *block) error {
	if b.word(8) != s.sequence+1 {
		return s.damaged()
	}
	id := [16]byte(b[16:])
	switch b[0] {
	case reserveRecord:
		unit := unitHash(b[32:])
		cost, ok := s.header.total.Kind.cost(b)
		_, used := s.releases[id]
		protects, valid := decodeProtection(b[2:8])
		left := s.header.whole.minus(s.units[unit].Pots)
		if b[1] == 0 || int(b[1]) > len(unitKinds) || !valid || used || !ok || !cost.within(left) {
			return s.damaged()
		}
		s.units[unit] = s.units[unit].after(cost, protects)
		s.releases[id] = b.word(8)
	case commitRecord:
		if of := b.word(64); of == 0 || s.releases[id] != of || !b.zero(1, 8) || !b.zero(72, bodySize) {
			return s.damaged()
		}
		s.releases[id] = 0
	default:
		return s.damaged()
	}
	s.sequence++
	s.sum = b.sum()
	return nil
}

func (s *ledgerState) damaged() error {
	return ledgerError(fmt.Sprintf("damaged record %d", s.sequence+1))
}

// readLedger reads the size bytes of a ledger and verifies the chain. visit is
// called after each record, and for the header with nil.
//
// A record is written in one piece, and a spend is granted only when all of it
// is on the disk, so a crash leaves at most one partial record, at the end. If
// its body is whole, it counts and is returned, completed, as tail. Otherwise it
// is left out: its reserve has not returned. A last record of zeros is left out
// as well: some file systems leave zeros at the end of a file whose data they
// lost.
func readLedger(r io.ReaderAt, size int64, visit func(*ledgerState, *block) error) (s *ledgerState, tail *block, err error) {
	buffered := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), int(min(size, 1<<16)))
	if s, err = readLedgerHeader(buffered); err != nil {
		return nil, nil, err
	}
	if err := visit(s, nil); err != nil {
		return nil, nil, err
	}
	var b block
	for {
		n, err := readRecord(buffered, &b)
		if err != nil {
			return nil, nil, err
		}
		if n == 0 {
			return s, nil, nil
		}
		if err := s.verify(&b, n); err != nil {
			return nil, nil, err
		}
		if err := visit(s, &b); err != nil {
			return nil, nil, err
		}
		if n < blockSize {
			return s, &b, nil
		}
	}
}

// cutOff says what to do with a file that ends within its header. It cannot say that
// nothing was spent: the file may have been longer.
const cutOff = ": it was cut off, or never finished. Put back its newest copy; if nothing was ever released with it, remove it and create a new one"

// readLedgerHeader reads the first block and returns the state before any record.
func readLedgerHeader(r io.Reader) (*ledgerState, error) {
	var b block
	switch n, err := io.ReadFull(r, b[:]); {
	case err == io.EOF:
		return nil, ledgerError("empty file" + cutOff)
	case err == io.ErrUnexpectedEOF:
		if string(b[:min(n, 8)]) != ledgerMagic[:min(n, 8)] {
			return nil, ledgerError("not a ledger")
		}
		return nil, ledgerError("incomplete header" + cutOff)
	case err != nil:
		return nil, ledgerFailure(err)
	}
	header, err := decodeLedgerHeader(&b)
	if err != nil {
		return nil, err
	}
	return &ledgerState{header: header, sum: b.sum(), units: make(map[unitHash]unitState), releases: make(map[[16]byte]uint64)}, nil
}

// readRecord reads the next record and returns how many bytes of it are there: at least
// its body, or 0 where the ledger ends or its last record is left out.
func readRecord(r *bufio.Reader, b *block) (n int, err error) {
	n, err = io.ReadFull(r, b[:])
	if err == io.EOF {
		return 0, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, ledgerFailure(err)
	}
	last := n < blockSize
	if !last {
		_, err := r.Peek(1)
		last = err == io.EOF
	}
	if last && (n < bodySize || allZero(b[:n])) {
		return 0, nil
	}
	return n, nil
}

// verify adds the next record if the n bytes of it that are there continue the
// chain, and completes its hash.
func (s *ledgerState) verify(b *block, n int) error {
	closing := b.chain(s.sum)
	if !bytes.Equal(b[bodySize:n], closing[:n-bodySize]) {
		return s.damaged()
	}
	b.setSum(closing)
	return s.add(b)
}

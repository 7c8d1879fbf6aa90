package mechanism

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A ledger is a header and records of the same size, little-endian. Each ends
// with the SHA-256 of the hash before it and its own body. A record lies within
// one sector of a disk and is never changed.
//
//	header              reserve               commit
//	 0 magic             0 1                   0 2
//	 8 version, uint32   1 kind of unit        1 zero
//	12 kind              2 protection          2 zero
//	13 zero              8 sequence            8 sequence
//	16 ledger id        16 release id         16 release id
//	32 key of units     32 unit               32 hash of the release
//	64 epsilon          48 amount: low, high  64 sequence of the reserve
//	72 delta            64 epsilon, delta     72 zero
//	80 total: low, high 80 rho, pure epsilon
//	96 SHA-256          96 SHA-256            96 SHA-256
//
// The 6 bytes of a protection are those of Protection.encode. They are zero in spends of
// programs that noted no protection: the relation of these is unknown. Such a program
// takes a spend with other bytes for damage, and refuses the ledger.
//
// The amount and the total belong to the one pot that a ledger counts in. A mixed
// ledger, version 2, has its two totals as floats: rho at 80 and pure epsilon at 88.
// Its amounts are amounts of rho, and a spend takes the pure epsilon at 88 from the
// pure pot.
const (
	blockSize = bodySize + sha256.Size
	bodySize  = 96

	ledgerMagic                = "PMLEDGER"
	ledgerVersion, mixedLedger = 1, 2

	reserveRecord, commitRecord = 1, 2
)

// The number of each kind of unit in the file is its index here plus one.
var unitKinds = [...]string{release.UnitRecord, release.UnitClient}

// A block is the header or a record.
type block [blockSize]byte

// chain returns the hash that closes a block after one with hash previous.
func (b *block) chain(previous [sha256.Size]byte) (sum [sha256.Size]byte) {
	var text [sha256.Size + bodySize]byte
	copy(text[:], previous[:])
	copy(text[sha256.Size:], b[:bodySize])
	return sha256.Sum256(text[:])
}

func (b *block) sum() [sha256.Size]byte     { return [sha256.Size]byte(b[bodySize:]) }
func (b *block) setSum(s [sha256.Size]byte) { copy(b[bodySize:], s[:]) }

func (b *block) word(at int) uint64           { return binary.LittleEndian.Uint64(b[at:]) }
func (b *block) setWord(at int, x uint64)     { binary.LittleEndian.PutUint64(b[at:], x) }
func (b *block) float(at int) float64         { return math.Float64frombits(b.word(at)) }
func (b *block) setFloat(at int, x float64)   { b.setWord(at, math.Float64bits(x)) }
func (b *block) amount(at int) Amount         { return Amount{hi: b.word(at + 8), lo: b.word(at)} }
func (b *block) setAmount(at int, a Amount)   { b.setWord(at, a.lo); b.setWord(at+8, a.hi) }
func (b *block) zero(from, to int) (all bool) { return allZero(b[from:to]) }

func allZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }

// A unitHash stands for a unit in the file. Two units with the same hash would
// share a budget, which is safe.
type unitHash [16]byte

// ledgerHeader is the first block.
type ledgerHeader struct {
	id    [16]byte
	key   [32]byte
	total Total
	whole Pots // of the total
}

func newLedgerHeader(total Total) (*ledgerHeader, error) {
	whole, err := total.pots()
	if err != nil {
		return nil, err
	}
	h := &ledgerHeader{total: total, whole: whole}
	for _, secret := range [][]byte{h.id[:], h.key[:]} {
		if _, err := io.ReadFull(system, secret); err != nil {
			return nil, fmt.Errorf("mechanism: %w: %w", ErrEntropy, err)
		}
	}
	return h, nil
}

func (h *ledgerHeader) encode() *block {
	var b block
	copy(b[:], ledgerMagic)
	binary.LittleEndian.PutUint32(b[8:], h.total.Kind.version())
	b[12] = byte(h.total.Kind)
	copy(b[16:], h.id[:])
	copy(b[32:], h.key[:])
	b.setFloat(64, h.total.Epsilon)
	b.setFloat(72, h.total.Delta)
	switch h.total.Kind {
	case Mixed:
		b.setFloat(80, h.whole.Rho.Float())
		b.setFloat(88, h.total.PureEpsilon)
	case Pure:
		b.setAmount(80, h.whole.Pure)
	default:
		b.setAmount(80, h.whole.Rho)
	}
	b.setSum(sha256.Sum256(b[:bodySize]))
	return &b
}

// version returns the version of the format of a ledger of the kind.
func (k Kind) version() uint32 {
	if k == Mixed {
		return mixedLedger
	}
	return ledgerVersion
}

func decodeLedgerHeader(b *block) (*ledgerHeader, error) {
	if string(b[:8]) != ledgerMagic {
		return nil, ledgerError("not a ledger")
	}
	version := binary.LittleEndian.Uint32(b[8:])
	if version != ledgerVersion && version != mixedLedger {
		return nil, ledgerError(fmt.Sprintf("format version %d, this program reads %d and %d", version, ledgerVersion, mixedLedger))
	}
	if b.sum() != sha256.Sum256(b[:bodySize]) {
		return nil, ledgerError("damaged header")
	}
	h := &ledgerHeader{
		id:    [16]byte(b[16:]),
		key:   [32]byte(b[32:]),
		total: Total{Kind: Kind(b[12]), Epsilon: b.float(64), Delta: b.float(72)},
	}
	if h.total.Kind == Mixed {
		h.total.PureEpsilon = b.float(88)
	}
	computed, err := h.total.pots()
	if err != nil || h.total.Kind.version() != version || !b.zero(13, 16) {
		return nil, ledgerError("invalid header")
	}
	switch h.total.Kind {
	case Mixed:
		rho := b.float(80)
		if !(rho > 0 && rho <= maxRho) {
			return nil, ledgerError("invalid header")
		}
		h.whole.Rho, _ = amountOf(rho)
		h.whole.Pure = computed.Pure // exact
	case Pure:
		h.whole.Pure = b.amount(80)
	default:
		h.whole.Rho = b.amount(80)
	}
	if !worth(h.whole.Rho, computed.Rho) || !worth(h.whole.Pure, computed.Pure) {
		return nil, ledgerError("invalid header: the total does not match its epsilon and delta")
	}
	return h, nil
}

// worth reports whether the total of a file is the computed one, up to its last
// digits: another machine may round them differently. Within this tolerance the total
// is still (epsilon, delta)-private.
func worth(total, computed Amount) bool {
	low, high := total, computed
	if low.Cmp(high) > 0 {
		low, high = high, low
	}
	return high.minus(low).Float() <= computed.Float()*0x1p-42
}

// hash returns the hash of the unit in the file.
func (h *ledgerHeader) hash(u Unit) (hash unitHash, kind byte, err error) {
	if h == nil {
		return hash, 0, ledgerError("the ledger was not opened")
	}
	if err := u.check(); err != nil {
		return hash, 0, err
	}
	kind = u.kind()
	mac := hmac.New(sha256.New, h.key[:])
	mac.Write([]byte{kind})
	io.WriteString(mac, u.Name)
	copy(hash[:], mac.Sum(nil))
	return hash, kind, nil
}

// reserveBlock returns the body of a reserve in a ledger of the kind.
func (k Kind) reserveBlock(sequence uint64, unit unitHash, unitKind byte, id [16]byte, cost Pots, s Spend) *block {
	var b block
	b[0], b[1] = reserveRecord, unitKind
	s.Protects.encode(b[2:8])
	b.setWord(8, sequence)
	copy(b[16:], id[:])
	copy(b[32:], unit[:])
	if k == Pure {
		b.setAmount(48, cost.Pure)
	} else {
		b.setAmount(48, cost.Rho)
	}
	b.setFloat(64, s.Epsilon)
	b.setFloat(72, s.Delta)
	b.setFloat(80, s.Rho)
	b.setFloat(88, s.PureEpsilon)
	return &b
}

// cost returns what a reserve in a ledger of the kind takes, and whether the block is a
// valid reserve.
func (k Kind) cost(b *block) (cost Pots, ok bool) {
	switch k {
	case Pure:
		cost.Pure = b.amount(48)
	case Mixed:
		cost.Rho = b.amount(48)
		if pure := b.float(88); pure != 0 {
			if !validPure(pure) {
				return Pots{}, false
			}
			cost.Pure, _ = amountOf(pure)
		}
	default:
		cost.Rho = b.amount(48)
	}
	return cost, cost != Pots{}
}

// commitBlock returns the body of a commit.
func commitBlock(sequence uint64, r Receipt, sum [sha256.Size]byte) *block {
	var b block
	b[0] = commitRecord
	b.setWord(8, sequence)
	copy(b[16:], r.id[:])
	copy(b[32:], sum[:])
	b.setWord(64, r.sequence)
	return &b
}

package client

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
)

// A RecordID says which record a row is, for mode cells. [ByContent] and [ByName] make one.
//
// Rows are equal if their values are as float32: values are rounded, -0 is 0, and so is a value
// below 2^-126 in size. The row is the record's own, ahead of any map of a server, so that a
// record stays itself when the server has another map.
//
// RecordIDs can be compared. Packages fmt and slog do not print what is in one, unless it lies in
// an unexported field of another value.
type RecordID struct {
	name    string // "" for a record that is its content
	content [sha256.Size]byte
}

// ByContent returns the record that a row is by its content: equal rows are one record, wherever
// they come from, and a row that differs in one value is another. The error is kernel.ErrNonFinite
// or ErrRecord.
func ByContent[F float32 | float64](row []F) (RecordID, error) {
	content, err := contentOf(row)
	return RecordID{content: content}, err
}

// ByName returns the record of a name. It is for people and things that have several rows, or
// whose rows change: whatever is released for a row of the name is paid for from one budget. The
// row says whether it has changed, see CellsSettings.Changed. Errors are those of ByContent.
func ByName[F float32 | float64](name string, row []F) (RecordID, error) {
	if name == "" {
		return RecordID{}, fmt.Errorf("client: %w: it has no name", ErrRecord)
	}
	content, err := contentOf(row)
	if err != nil {
		return RecordID{}, err
	}
	return RecordID{name: name, content: content}, nil
}

// contentOf returns SHA-256 of a name for its purpose, the length of a row and its values. It
// leaves the process in keyed hashes alone.
func contentOf[F float32 | float64](row []F) (sum [sha256.Size]byte, err error) {
	if len(row) == 0 {
		return sum, fmt.Errorf("client: %w: it has no features", ErrRecord)
	}
	const exponent = 0xff << 23
	b := append(make([]byte, 0, 64+4*len(row)), "privatemail row 1"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(row)))
	for _, v := range row {
		bits := math.Float32bits(sametime.DropSubnormal(float32(v)))
		if bits&exponent == exponent {
			return sum, fmt.Errorf("client: the record: %w", points.ErrNonFinite)
		}
		b = binary.LittleEndian.AppendUint32(b, bits)
	}
	return sha256.Sum256(b), nil
}

// check refuses the zero RecordID.
func (id RecordID) check() error {
	if id == (RecordID{}) {
		return fmt.Errorf("client: %w: it is neither its content nor a name", ErrRecord)
	}
	return nil
}

// named reports whether the record goes by a name.
func (id RecordID) named() bool { return id.name != "" }

// unitName is what a record is called in a ledger, which keeps a keyed hash of it. It does not
// depend on the memory: whatever folder a client has, a record has one budget in a ledger.
func (id RecordID) unitName() string {
	if id.named() {
		return id.name
	}
	return "content " + hex.EncodeToString(id.content[:])
}

// Format implements fmt.Formatter: for all verbs it says what kind of RecordID it is and no more.
func (id RecordID) Format(s fmt.State, _ rune) {
	if id.named() {
		fmt.Fprint(s, "private record by name")
		return
	}
	fmt.Fprint(s, "private record by content")
}

// LogValue implements slog.LogValuer, as Format does for fmt.
func (id RecordID) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(id)) }

package mechanism

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A Protection says which pairs of data sets a spend protects: those whose two releases
// cannot be distinguished beyond the price of the spend. It holds a relation of package
// sensitivity, the number of records that may change together, the rows that may be
// private, and whether all other rows are public.
//
// Releases add up for a pair that every one of them protects, and for no other. Both returns
// these pairs. The zero value stands for unknown pairs: a Budget refuses a spend with it,
// and spends of a ledger that noted no protection have it. Protections are compared with ==.
// They can be kept and printed as text, such as "replace-one", "replace-one, 20 records" or
// "null, row 17, rest public".
//
// Rows are identified by their numbers, which must mean the same records in all
// releases of a unit. For a list of rows only a hash of 32 bits is kept.
type Protection struct {
	relation byte // of sensitivity, or anyData
	form     byte
	records  uint32 // that change together, 1 where one row is private
	rows     uint32 // the number of the row, or the hash of a list
}

// anyData is the number of the relation of AnyData, after those of package sensitivity.
const anyData = byte(sensitivity.FeaturesNull) + 1

const anyDataName = "any data"

// Which rows may be private.
const (
	anyRow        = iota // with the number of records
	oneRow               // whatever the others are
	oneRestPublic        // the others are as they were
	someRows             // a list
)

// maxListed is the largest number of records noted with a list of rows. A smaller number
// states less and is also true.
const maxListed = 63

// AnyRow returns the protection of a mechanism whose bound is for a relation, for any private
// row, and for that many records that change together. It is the zero Protection, which is
// refused, for an invalid relation and for fewer records than 1.
func AnyRow(relation sensitivity.Relation, records int) Protection {
	if relation < sensitivity.ReplaceOne || relation > sensitivity.FeaturesNull || records < 1 {
		return Protection{}
	}
	return Protection{relation: byte(relation), records: uint32(min(uint64(records), math.MaxUint32))}
}

// AnyData returns the protection of a mechanism that protects every data set against every
// other, such as Subset.Select: its price holds for any two items, whatever they were computed
// from.
func AnyData() Protection { return Protection{relation: anyData} }

// restPublic is the derivation of bounds for which all rows but one are public.
const restPublic = "theorem-2"

// protectionOf returns the protection of noise that was calibrated to a bound.
func protectionOf(b sensitivity.Bound) Protection {
	return AnyRow(b.Relation(), b.Records()).only(b.Rows().Private, b.Derivation() == restPublic)
}

// ProtectionOfRelease returns the protection that a release states. Check must accept the
// release.
func ProtectionOfRelease(r *release.Release) Protection {
	relation, err := sensitivity.RelationByName(r.Sensitivity.Relation)
	if err != nil {
		return Protection{}
	}
	rows := make([]int, len(r.Sensitivity.PrivateRows))
	for i, row := range r.Sensitivity.PrivateRows {
		rows[i] = int(row)
	}
	return AnyRow(relation, r.Sensitivity.Records).only(rows, r.Sensitivity.Derivation == restPublic)
}

// only returns p for a list of private rows; any row may be private when the list is empty.
// No more records than rows can change.
func (p Protection) only(rows []int, restPublic bool) Protection {
	switch {
	case p == Protection{} || len(rows) == 0:
		return p
	case len(rows) == 1 && restPublic:
		p.form = oneRestPublic
	case len(rows) == 1:
		p.form = oneRow
	default:
		p.form, p.rows = someRows, hashRows(rows)
		p.records = min(p.records, uint32(min(len(rows), maxListed)))
		return p
	}
	p.records, p.rows = 1, uint32(rows[0])
	return p
}

// hashRows returns a hash of a list of rows that does not depend on their
// order.
func hashRows(rows []int) uint32 {
	b := []byte("privatemail private rows 1")
	for _, row := range slices.Sorted(slices.Values(rows)) {
		b = binary.LittleEndian.AppendUint64(b, uint64(row))
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint32(sum[:])
}

// known is false for the zero Protection.
func (p Protection) known() bool { return p != Protection{} }

// Both returns the pairs that p and q both protect, or the zero Protection where none is
// known. Spends with p and q add up for these pairs.
//
// A pair of FeaturesReplace is also a pair of ReplaceOne, with equal labels. No other two
// relations have pairs in common that have a name: a pair either has a null record or has
// none, and Null changes the label to 0, which FeaturesNull keeps. A change of fewer records
// is a case of a change of more. A single private row is a case of any row; what two lists
// share is unknown. With rest public the pairs are those with the actual other rows.
func (p Protection) Both(q Protection) Protection {
	switch {
	case !p.known() || !q.known():
		return Protection{}
	case p.relation == anyData:
		return q
	case q.relation == anyData:
		return p
	}
	out := Protection{relation: bothRelations(p.relation, q.relation), records: min(p.records, q.records)}
	switch {
	case out.relation == 0:
		return Protection{}
	case p.form == anyRow:
		out.form, out.rows = q.form, q.rows
	case q.form == anyRow:
		out.form, out.rows = p.form, p.rows
	case p.rows != q.rows || (p.form == someRows) != (q.form == someRows):
		return Protection{}
	default:
		out.form, out.rows = max(p.form, q.form), p.rows // with rest public in one of them, in both
	}
	return out
}

// bothRelations returns the relation of the pairs that a and b share, 0 for none.
func bothRelations(a, b byte) byte {
	const whole, features = byte(sensitivity.ReplaceOne), byte(sensitivity.FeaturesReplace)
	switch {
	case a == b:
		return a
	case a == whole && b == features || a == features && b == whole:
		return features
	}
	return 0
}

// AllProtect returns the text of the pairs that all the given protections protect. Where no
// such pair is known it is "unknown" if one of them is zero, and else "none".
func AllProtect(all ...Protection) string {
	both := AnyData()
	for _, p := range all {
		both = both.Both(p)
	}
	if both.known() || slices.Contains(all, Protection{}) {
		return both.String()
	}
	return "none"
}

// Includes reports whether p protects every pair that q does, for a q that is not
// zero.
func (p Protection) Includes(q Protection) bool { return q.known() && p.Both(q) == q }

// String returns the text of p, and "unknown" for the zero Protection.
func (p Protection) String() string {
	if !p.known() {
		return "unknown"
	}
	if p.relation == anyData {
		return anyDataName
	}
	text := sensitivity.Relation(p.relation).String()
	if p.records > 1 {
		text += fmt.Sprintf(", %d records", p.records)
	}
	switch p.form {
	case oneRow, oneRestPublic:
		text += fmt.Sprintf(", row %d", p.rows)
	case someRows:
		text += fmt.Sprintf(", rows %08x", p.rows)
	}
	if p.form == oneRestPublic {
		text += ", rest public"
	}
	return text
}

// MarshalText returns String, which UnmarshalText reads.
func (p Protection) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the text of MarshalText. The error is ErrParam.
func (p *Protection) UnmarshalText(text []byte) error {
	parsed := parseProtection(string(text))
	if parsed.String() != string(text) {
		return fmt.Errorf("mechanism: invalid protection %q: %w", text, ErrParam)
	}
	*p = parsed
	return nil
}

// parseProtection returns a protection whose String is the text, if there is one, and
// otherwise an arbitrary one.
func parseProtection(text string) (p Protection) {
	if text == anyDataName {
		return AnyData()
	}
	parts := strings.Split(text, ", ")
	relation, err := sensitivity.RelationByName(parts[0])
	if err != nil {
		return Protection{}
	}
	p = AnyRow(relation, 1)
	for _, part := range parts[1:] {
		if count, ok := strings.CutSuffix(part, " records"); ok {
			n, _ := strconv.ParseUint(count, 10, 32)
			p.records = uint32(n)
		} else if row, ok := strings.CutPrefix(part, "row "); ok {
			n, _ := strconv.ParseUint(row, 10, 32)
			p.form, p.rows = oneRow, uint32(n)
		} else if hash, ok := strings.CutPrefix(part, "rows "); ok {
			n, _ := strconv.ParseUint(hash, 16, 32)
			p.form, p.rows = someRows, uint32(n)
		} else if part == "rest public" {
			p.form = oneRestPublic
		}
	}
	if !p.valid() {
		return Protection{}
	}
	return p
}

// valid reports whether p is the zero Protection or one that this package
// makes.
func (p Protection) valid() bool {
	switch {
	case p.relation == 0 || p.relation == anyData:
		return p == Protection{relation: p.relation}
	case p.relation > anyData || p.records == 0:
		return false
	case p.form == anyRow:
		return p.rows == 0
	case p.form == oneRow || p.form == oneRestPublic:
		return p.records == 1
	}
	return p.form == someRows && p.records <= maxListed
}

// encode fills 6 bytes: the relation; the form, with the records of a list in the
// higher bits; and the records, the row or the hash of the list.
func (p Protection) encode(to []byte) {
	to[0], to[1] = p.relation, p.form
	number := p.rows
	switch p.form {
	case anyRow:
		number = p.records
	case someRows:
		to[1] |= byte(p.records) << 2
	}
	binary.LittleEndian.PutUint32(to[2:6], number)
}

// decodeProtection reads the bytes of encode; ok is false for other bytes.
func decodeProtection(b []byte) (p Protection, ok bool) {
	p = Protection{relation: b[0], form: b[1] & 3, records: 1}
	switch number := binary.LittleEndian.Uint32(b[2:6]); p.form {
	case anyRow:
		p.records = number
	case someRows:
		p.rows, p.records = number, uint32(b[1]>>2)
	default:
		p.rows = number
	}
	var again [6]byte
	p.encode(again[:])
	return p, p.valid() && again == [6]byte(b[:6])
}

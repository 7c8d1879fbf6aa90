package sections

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/crc"
)

// The kinds of files that several packages read.
const (
	Model      = "model"      // of supervised.Model.Save
	Checkpoint = "checkpoint" // of privatemail.Checkpoint
)

const (
	magic     = "\x89PMFILE\n" // no text begins like this, and a transfer in text mode changes it
	lastMagic = "\x89PMTAIL\n"

	containerVersion = 1

	headSize  = 64
	tailSize  = 32
	alignment = 64 // of sections: a cache line, and more than any number needs

	kindSize     = 16
	longestName  = 64
	mostSections = 1 << 12
	entrySize    = 1 + 8 + 8 + crc.Size // without the name
	largestTable = mostSections * (entrySize + longestName)
)

// A section is an entry of the table.
type section struct {
	name           string
	offset, length int64
	sum            [crc.Size]byte
}

// validName reports whether a section or a kind may have a name: it is short and consists
// of small letters, digits, hyphens and dots.
func validName(name string, longest int) bool {
	strange := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-.", r) }
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, strange)
}

// aligned returns where the next section begins after one that ends at end.
func aligned(end int64) int64 { return (end + alignment - 1) / alignment * alignment }

// appendHead appends the head of a file. The kind is valid.
func appendHead(b []byte, kind string, version uint32) []byte {
	var head [headSize]byte
	copy(head[:], magic)
	binary.LittleEndian.PutUint32(head[8:], containerVersion)
	binary.LittleEndian.PutUint32(head[12:], version)
	copy(head[16:16+kindSize], kind)
	return append(b, head[:]...)
}

// kindOf reads the kind from a head.
func kindOf(head []byte) (kind string, ok bool) {
	name, rest, _ := bytes.Cut(head[16:16+kindSize], []byte{0})
	return string(name), validName(string(name), kindSize) && zeros(rest) && zeros(head[16+kindSize:headSize])
}

func zeros(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// appendTable appends the table of sections.
func appendTable(b []byte, all []section) []byte {
	for _, s := range all {
		b = append(b, byte(len(s.name)))
		b = append(b, s.name...)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.offset))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.length))
		b = append(b, s.sum[:]...)
	}
	return b
}

// appendTail appends the tail of a file with this head, and this table at an offset.
func appendTail(b []byte, head, table []byte, offset int64) []byte {
	begin := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(table)))
	var sum crc.Pair
	sum.Write(head)
	sum.Write(table)
	sum.Write(b[begin:])
	return append(sum.Sum(b), lastMagic...)
}

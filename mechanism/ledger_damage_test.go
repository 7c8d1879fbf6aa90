package mechanism

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

func refused(t *testing.T, name string, data []byte) {
	t.Helper()
	l, d, err := load(data)
	if l != nil || !errors.Is(err, ErrLedger) {
		t.Fatalf("%s: opened, %v", name, err)
	}
	if !bytes.Equal(d.data, data) {
		t.Fatalf("%s: changed", name)
	}
	if _, err := snapshot(&ledgerDisk{data: data}, int64(len(data)), nil); !errors.Is(err, ErrLedger) {
		t.Fatalf("%s: read, %v", name, err)
	}
}

// A hash covers each bit of the file: every flip is noticed, and none is taken
// for a crash.
func TestLedgerWithAFlippedBit(t *testing.T) {
	data, _ := smallLedger(t)
	for i := range data {
		for bit := range 8 {
			damaged := slices.Clone(data)
			damaged[i] ^= 1 << bit
			refused(t, "flipped", damaged)
		}
	}
}

func TestLedgerRearranged(t *testing.T) {
	data, _ := smallLedger(t)
	records := len(data)/blockSize - 1
	at := func(i int) []byte { return data[(i+1)*blockSize : (i+2)*blockSize] }
	for i := range records {
		for j := range records {
			if i < j {
				swapped := slices.Clone(data)
				copy(swapped[(i+1)*blockSize:], at(j))
				copy(swapped[(j+1)*blockSize:], at(i))
				refused(t, "swapped", swapped)
			}
			refused(t, "repeated", slices.Insert(slices.Clone(data), (j+2)*blockSize, at(i)...))
		}
		if i < records-1 {
			refused(t, "removed", slices.Delete(slices.Clone(data), (i+1)*blockSize, (i+2)*blockSize))
		}
	}
	other, _ := smallLedger(t)
	refused(t, "header of another", append(slices.Clone(other[:blockSize]), data[blockSize:]...))
	refused(t, "record of another", append(slices.Clone(data[:3*blockSize]), other[3*blockSize:]...))
	refused(t, "garbage at the end", append(slices.Clone(data), bytes.Repeat([]byte{7}, 100)...))
	refused(t, "two records of zeros", append(slices.Clone(data), make([]byte, 2*blockSize)...))
	refused(t, "zeros within", append(append(slices.Clone(data), make([]byte, blockSize)...), 1))

	// Some file systems leave a record of zeros, whole or in part, where a write
	// was lost.
	for n := 1; n <= blockSize; n++ {
		l, d, err := load(append(slices.Clone(data), make([]byte, n)...))
		if err != nil || !bytes.Equal(d.data, data) {
			t.Fatalf("%d zeros: %v", n, err)
		}
		mustReserve(t, l, bob, 200, oneUnit)
	}
}

// seal makes the hashes of a ledger right again.
func seal(data []byte) []byte {
	sum := sha256.Sum256(data[:bodySize])
	copy(data[bodySize:], sum[:])
	for at := blockSize; at+blockSize <= len(data); at += blockSize {
		b := block(data[at:])
		sum = b.chain(sum)
		copy(data[at+bodySize:], sum[:])
	}
	return data
}

// Correct hashes do not make a record valid: programs with errors write such
// records.
func TestLedgerWithWrongContents(t *testing.T) {
	data, _ := smallLedger(t)
	if l, _, err := load(seal(slices.Clone(data))); err != nil || spentUnits(t, l, alice) == 0 {
		t.Fatal(err)
	}
	set := func(at int, bytes ...byte) func([]byte) {
		return func(data []byte) { copy(data[at:], bytes) }
	}
	word := func(at int, x uint64) func([]byte) {
		return func(data []byte) { binary.LittleEndian.PutUint64(data[at:], x) }
	}
	const reserve, commit, second = blockSize, 2 * blockSize, 3 * blockSize
	for name, change := range map[string]func([]byte){
		"magic":                    set(0, 'Q'),
		"version 0":                set(8, 0),
		"version 2":                set(8, 2),
		"version 3":                set(8, 3),
		"kind 0":                   set(12, 0),
		"kind mixed":               set(12, 4),
		"kind 5":                   set(12, 5),
		"kind pure with a delta":   set(12, 3),
		"kind of another total":    set(12, 2),
		"header padding":           set(13, 1),
		"epsilon NaN":              word(64, 0x7ff8<<48),
		"epsilon of another total": word(64, 0x4000<<48),
		"delta zero":               word(72, 0),
		"total larger":             word(88, 1<<31),
		"total nothing":            func(data []byte) { clear(data[80:96]) },
		"record kind":              set(reserve, 3),
		"unit kind 0":              set(reserve+1, 0),
		"unit kind 3":              set(reserve+1, 3),
		"relation 6":               set(reserve+2, 6),
		"form without a relation":  set(reserve+2, 0),
		"any row with a number":    set(reserve+3, 4),
		"rows without records":     set(reserve+3, 3),
		"no records":               set(reserve+4, 0),
		"sequence 0":               word(reserve+8, 0),
		"sequence ahead":           word(second+8, 4),
		"amount nothing":           word(reserve+48, 0),
		"amount above the total":   word(reserve+56, 1<<63),
		"amounts overflow":         func(data []byte) { word(reserve+56, 1<<25)(data); word(second+56, 1<<63)(data) },
		"release twice":            func(data []byte) { copy(data[second+16:second+32], data[reserve+16:]) },
		"commit of nothing":        set(commit+16, 99),
		"commit of a commit":       word(commit+64, 2),
		"commit of zero":           word(commit+64, 0),
		"commit padding":           set(commit+1, 1),
		"commit padding, end":      set(commit+95, 1),
	} {
		wrong := slices.Clone(data)
		change(wrong)
		if bytes.Equal(wrong, data) {
			t.Fatalf("%s: no change", name)
		}
		refused(t, name, seal(wrong))
	}
	newer := slices.Clone(data)
	newer[8] = 3
	if _, _, err := load(newer); !strings.Contains(err.Error(), "format version 3, this program reads 1 and 2") {
		t.Error(err)
	}
}

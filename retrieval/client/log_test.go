package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"crypto/sha256"
)

// logKey returns a key of the log 0.
func logKey(i int) (key Key) {
	key = sha256.Sum256([]byte{byte(i), byte(i >> 8)})
	key[0] &= 0x0f
	return key
}

// logMessage returns the message of a key; one is long enough for several sectors.
func logMessage(i int) []byte {
	n := 20 + 13*i
	if i == 2 {
		n = 1300
	}
	return bytes.Repeat([]byte{byte(i + 1)}, n)
}

// plainLog is the log 0 by the letter of the format, with the ends of its entries.
func plainLog(entries int) (data []byte, ends []int) {
	data = append([]byte("PMMEMORY"), 1, 0, 0, 0, 0, 0, 0, 0)
	for i := range entries {
		place := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
		key, message := logKey(i), logMessage(i)
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(message)))
		sum := crc32.Checksum(slices.Concat(place, length), crc32.MakeTable(crc32.Castagnoli))
		entry := slices.Concat(length, binary.LittleEndian.AppendUint32(nil, sum), key[:], message)
		whole := sha256.Sum256(slices.Concat(place, entry))
		data = append(append(data, entry...), whole[:16]...)
		ends = append(ends, len(data))
	}
	return data, ends
}

const testEntries = 5

// folderOf returns a folder whose log 0 has these bytes.
func folderOf(t testing.TB, data []byte) *Folder {
	t.Helper()
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "releases-0.log"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return openAgain(t, path)
}

func openAgain(t testing.TB, path string) *Folder {
	t.Helper()
	f, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// kept returns which keys the folder has. Messages must be the right ones.
func kept(t testing.TB, f *Folder) (have []bool, errs []error) {
	t.Helper()
	for i := range testEntries {
		message, err := f.Recall(logKey(i))
		if err != nil && !errors.Is(err, ErrMemory) || message != nil && !bytes.Equal(message, logMessage(i)) {
			t.Fatalf("entry %d: %q, %v", i, message, err)
		}
		have, errs = append(have, message != nil), append(errs, err)
	}
	return have, errs
}

// The folder writes what the format says, byte by byte, and reads it.
func TestLogFormat(t *testing.T) {
	want, _ := plainLog(testEntries)
	f := openAgain(t, t.TempDir())
	for i := range testEntries {
		if got, err := f.Keep(logKey(i), logMessage(i)); err != nil || !bytes.Equal(got, logMessage(i)) {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(f.logs[0].path)
	if err != nil || !bytes.Equal(data, want) {
		t.Errorf("%x, want %x: %v", data, want, err)
	}
	have, errs := kept(t, folderOf(t, want))
	if slices.Contains(have, false) || errors.Join(errs...) != nil {
		t.Error(have, errs)
	}
}

func shortOf(key Key) shortKey { return shortKey(key[:]) }

// memoryFile is a logFile that takes no time.
type memoryFile struct{ data []byte }

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(f.data).ReadAt(b, at)
}

func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	f.data = append(f.data[:at], b...)
	return len(b), nil
}

func (f *memoryFile) Size() (int64, error)      { return int64(len(f.data)), nil }
func (f *memoryFile) Truncate(size int64) error { f.data = f.data[:size]; return nil }
func (f *memoryFile) Sync() error               { return nil }

// read opens a log in memory and returns which entries it has.
func read(t *testing.T, data []byte) (l *keyLog, f *memoryFile, have []bool, err error) {
	t.Helper()
	l, f = new(keyLog), &memoryFile{slices.Clone(data)}
	err = l.mend(f)
	for i := range testEntries {
		at := l.find(logKey(i))
		have = append(have, at != 0)
		if at == 0 {
			continue
		}
		if message, err := readEntry(f, at, logKey(i)); err != nil || !bytes.Equal(message, logMessage(i)) {
			t.Fatalf("entry %d: %q, %v", i, message, err)
		}
	}
	return l, f, have, err
}

// A crash can leave any number of the bytes that were being written, and zeros in place of
// the others. Whole entries count, the rest is taken off, and the log goes on from there.
func TestLogCutAtEveryByte(t *testing.T) {
	data, ends := plainLog(testEntries)
	for n := range len(data) + 1 {
		next := n
		if i := slices.IndexFunc(ends, func(end int) bool { return end > n }); i >= 0 {
			next = ends[i]
		}
		for _, zeros := range []int{0, next - n} {
			if zeros > 0 && zeros < 8 {
				continue // less than a disk leaves out
			}
			l, f, have, err := read(t, append(slices.Clone(data[:n]), make([]byte, zeros)...))
			if err != nil {
				t.Fatalf("%d bytes, %d zeros: %v", n, zeros, err)
			}
			for i, end := range ends {
				if have[i] != (end <= n) {
					t.Fatalf("%d bytes, %d zeros: entry %d: %v", n, zeros, i, have[i])
				}
			}
			for i := range testEntries {
				if have[i] {
					continue
				}
				at, end, err := l.append(f, l.end, logKey(i), logMessage(i))
				if err != nil {
					t.Fatal(err)
				}
				l.add(map[shortKey]int64{shortOf(logKey(i)): at}, end)
			}
			if !bytes.Equal(f.data, data) {
				t.Fatalf("%d bytes, %d zeros: the log is another one when it is whole again", n, zeros)
			}
		}
	}
}

// A byte that has changed is an error where it matters: what is served is right, and
// nothing that was paid for looks as if it had never been released.
func TestLogDamagedAtEveryByte(t *testing.T) {
	data, ends := plainLog(testEntries)
	for n := range data {
		for _, flip := range []byte{0x01, 0x55, data[n]} { // the last one makes it zero
			if flip == 0 {
				continue
			}
			bad := slices.Clone(data)
			bad[n] ^= flip
			_, f, have, err := read(t, bad)
			if err == nil {
				t.Fatalf("byte %d: no damage was found", n)
			}
			if !bytes.Equal(f.data, bad) {
				t.Fatalf("byte %d: the damaged log was changed", n)
			}
			for i, end := range ends {
				if have[i] != (end <= n && n >= logHeader) {
					t.Fatalf("byte %d, entry %d: %v", n, i, have[i])
				}
			}
		}
	}
}

// The same through a folder: entries ahead of the damage are served, nobody is told that
// the others were never released, and nothing is added.
func TestDamagedFolder(t *testing.T) {
	data, ends := plainLog(testEntries)
	bad := slices.Clone(data)
	bad[ends[1]+100] ^= 1
	for _, again := range []string{"first", "second"} {
		f := folderOf(t, bad)
		have, errs := kept(t, f)
		for i := range have {
			if have[i] != (i < 2) || (errs[i] == nil) != (i < 2) {
				t.Errorf("%s time, entry %d: %v, %v", again, i, have[i], errs[i])
			}
		}
		if _, err := f.Keep(Key{1}, []byte("x")); !errors.Is(err, ErrMemory) {
			t.Errorf("a damaged log goes on: %v", err)
		}
		if err := f.Check(); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "releases-0.log") {
			t.Error(err)
		}
		if now, err := os.ReadFile(f.logs[0].path); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("the damaged log was changed: %v", err)
		}
	}
}

// Sectors that are lost after they were written are damage where another entry follows.
func TestLogLostSectors(t *testing.T) {
	const sector = 512
	data, ends := plainLog(testEntries)
	for from := 0; from+sector < len(data); from += sector {
		bad := slices.Clone(data)
		clear(bad[from : from+sector])
		_, f, have, err := read(t, bad)
		if err == nil || !bytes.Equal(f.data, bad) {
			t.Errorf("sector at %d: no damage was found", from)
		}
		for i, end := range ends {
			if have[i] != (end <= from) {
				t.Errorf("sector at %d, entry %d: %v", from, i, have[i])
			}
		}
	}
}

// Files that are no log of this folder are refused, and stay as they are.
func TestForeignLogs(t *testing.T) {
	data, _ := plainLog(testEntries)
	change := func(at int, value byte) []byte {
		bad := slices.Clone(data)
		bad[at] = value
		return bad
	}
	for name, bad := range map[string][]byte{
		"text":          []byte("a letter to nobody, with several words in it"),
		"short text":    []byte("hello"),
		"later version": change(8, 2),
		"another log":   change(12, 3),
		"two logs":      append(slices.Clone(data), data[logHeader:]...),
	} {
		f := folderOf(t, bad)
		if _, err := f.Recall(logKey(900)); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(f.logs[0].path); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("%s: it was changed", name)
		}
	}
	f := folderOf(t, data)
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.logs[0].path); err != nil {
		t.Fatal(err)
	}
	// Links are not followed, also to a log.
	for _, target := range []string{"elsewhere", folderOf(t, data).logs[0].path} {
		linked := openAgain(t, t.TempDir())
		if err := os.Symlink(target, linked.logs[0].path); err != nil {
			t.Skip(err)
		}
		for _, f := range []*Folder{f, linked} {
			if _, err := f.Recall(logKey(0)); !errors.Is(err, ErrMemory) {
				t.Errorf("a log that is a link or gone: %v", err)
			}
		}
		if _, err := linked.Keep(logKey(0), logMessage(0)); !errors.Is(err, ErrMemory) {
			t.Errorf("kept behind a link: %v", err)
		}
	}
}

// changedLogs returns folders whose log was removed, or cut off behind its second entry,
// since read has read it.
func changedLogs(t *testing.T, read func(f *Folder)) map[string]*Folder {
	t.Helper()
	data, ends := plainLog(testEntries)
	out := map[string]*Folder{}
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut off": func(path string) error { return os.Truncate(path, int64(ends[1])) },
	} {
		f := folderOf(t, data)
		read(f)
		if err := change(f.logs[0].path); err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	return out
}

// A log that changes behind the back of a program that has read it is an error.
func TestLogChangedWhileInUse(t *testing.T) {
	for name, f := range changedLogs(t, func(f *Folder) {
		if have, _ := kept(t, f); slices.Contains(have, false) {
			t.Fatal(have)
		}
	}) {
		for _, key := range []Key{logKey(4), logKey(900)} {
			if _, err := f.Recall(key); !errors.Is(err, ErrMemory) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The index has a part of a key. Two keys that share it are not taken for one another.
func TestLogKeysOfOnePrefix(t *testing.T) {
	f := openAgain(t, t.TempDir())
	one, two := Key{31: 1}, Key{31: 2}
	if _, err := f.Keep(one, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if message, err := f.Recall(two); message != nil || !errors.Is(err, ErrMemory) {
		t.Errorf("%q, %v", message, err)
	}
	if message, err := f.Keep(two, []byte("two")); message != nil || !errors.Is(err, ErrMemory) {
		t.Errorf("%q, %v", message, err)
	}
}

// A message is not empty, and not as long as nothing that is released.
func TestLogRefusesMessages(t *testing.T) {
	f := openAgain(t, t.TempDir())
	for _, n := range []int{0, maxKept + 1} {
		if _, err := f.Keep(Key{1}, make([]byte, n)); !errors.Is(err, ErrMemory) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// brokenFile fails at a step.
type brokenFile struct {
	openLog
	fail string
}

var errBroken = errors.New("disk failure")

func (f brokenFile) WriteAt(b []byte, at int64) (int, error) {
	if !strings.Contains(f.fail, "write") {
		return f.openLog.WriteAt(b, at)
	}
	n, _ := f.openLog.WriteAt(b[:len(b)/2], at)
	return n, errBroken
}

func (f brokenFile) Sync() error {
	if strings.Contains(f.fail, "sync") {
		return errBroken
	}
	return f.openLog.Sync()
}

func (f brokenFile) Truncate(size int64) error {
	if strings.Contains(f.fail, "truncate") {
		return errBroken
	}
	return f.openLog.Truncate(size)
}

// What could not be written is taken off. Where that cannot be known, the log takes
// nothing more until it is opened again, and finds then what the disk has.
func TestLogOnAFailingDisk(t *testing.T) {
	data, _ := plainLog(2)
	for fail, goesOn := range map[string]bool{"write": true, "write, truncate": false, "write, sync": false, "sync": false} {
		f := folderOf(t, data)
		if have, _ := kept(t, f); !have[1] {
			t.Fatal(have)
		}
		l := &f.logs[0]
		file, err := os.OpenFile(l.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.append(brokenFile{openLog{file}, fail}, l.end, logKey(2), logMessage(2)); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", fail, err)
		}
		file.Close()
		_, kept2 := f.Keep(logKey(3), logMessage(3))
		missing, recalled := f.Recall(logKey(2))
		if goesOn != (kept2 == nil) || goesOn != (recalled == nil) || missing != nil {
			t.Errorf("%s: %v, %v", fail, kept2, recalled)
		}
		if message, err := f.Recall(logKey(1)); err != nil || !bytes.Equal(message, logMessage(1)) {
			t.Errorf("%s: what was kept is gone: %v", fail, err)
		}
		again := openAgain(t, f.path)
		have, errs := kept(t, again)
		if !have[0] || !have[1] || have[3] != goesOn || have[2] != (fail == "sync") || errors.Join(errs...) != nil {
			t.Errorf("%s: %v, %v", fail, have, errs)
		}
		if _, err := again.Keep(logKey(4), logMessage(4)); err != nil {
			t.Errorf("%s: %v", fail, err)
		}
	}
}

// Whatever the bytes of a log are, they are read or refused; what is served stays, and
// the log goes on or is left alone.
func FuzzLog(f *testing.F) {
	data, ends := plainLog(testEntries)
	f.Add(data)
	f.Add(data[:ends[2]-5])
	f.Add(append(slices.Clone(data[:ends[1]]), make([]byte, 700)...))
	f.Add(data[:9])
	f.Add([]byte{})
	f.Add(sealEntries(bytes.Repeat([]byte{9, 0, 0, 0}, 60)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, sealEntries(data)} {
			l, file := new(keyLog), &memoryFile{slices.Clone(data)}
			if err := l.mend(file); err != nil {
				if !bytes.Equal(file.data, data) {
					t.Fatal("a log that was refused was changed")
				}
				continue
			}
			if !bytes.HasPrefix(data, file.data) || int64(len(file.data)) != l.end {
				t.Fatal("more than the end was changed")
			}
			l.path = filepath.Join(t.TempDir(), "log") // its folder is synced
			at, end, err := l.append(file, l.end, logKey(999), []byte("new"))
			if err != nil {
				t.Fatal(err)
			}
			again := new(keyLog)
			if err := again.mend(file); err != nil || again.end != end {
				t.Fatal("the log does not go on:", err)
			}
			for key, at := range l.places {
				if again.places[key] != at {
					t.Fatal("an entry has moved")
				}
			}
			if message, err := readEntry(file, at, logKey(999)); err != nil || string(message) != "new" {
				t.Fatalf("%q, %v", message, err)
			}
		}
	})
}

// sealEntries makes the sums of a log right, as far as its lengths go.
func sealEntries(data []byte) []byte {
	data = slices.Clone(data)
	copy(data, newLogHeader(0))
	for at := logHeader; at+entryBody+entrySum < len(data); {
		length := int(binary.LittleEndian.Uint32(data[at:]) % 64)
		binary.LittleEndian.PutUint32(data[at:], uint32(length))
		binary.LittleEndian.PutUint32(data[at+4:], headSum(append(appendPlace(nil, int64(at)), data[at:at+4]...)))
		end := at + entryBody + length
		if end+entrySum > len(data) {
			break
		}
		sum := sha256.Sum256(append(appendPlace(nil, int64(at)), data[at:end]...))
		copy(data[end:], sum[:entrySum])
		at = end + entrySum
	}
	return data
}

// A million records in 16 files: what it takes to read their indexes, and to find one.
func BenchmarkFolder(b *testing.B) {
	const records = 1_000_000
	path := b.TempDir()
	message := make([]byte, 16+100)
	var logs [logCount][]byte
	for i := range logs {
		logs[i] = newLogHeader(i)
	}
	var keys []Key
	for i := range records {
		key := Key(sha256.Sum256(fmt.Append(nil, i)))
		log := &logs[key[0]>>4]
		*log = appendEntry(*log, int64(len(*log)), key, message)
		if i%1000 == 0 {
			keys = append(keys, key)
		}
	}
	for i, data := range logs {
		if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("releases-%x.log", i)), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	clear(logs[:])
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	b.Run("open", func(b *testing.B) {
		before := heap()
		var f *Folder
		for b.Loop() {
			f = openAgain(b, path)
			if err := f.Check(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/records, "B/entry")
		runtime.KeepAlive(f)
	})
	b.Run("recall", func(b *testing.B) {
		f := openAgain(b, path)
		if err := f.Check(); err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			if message, err := f.Recall(keys[i%len(keys)]); err != nil || message == nil {
				b.Fatal(err)
			}
		}
	})
}

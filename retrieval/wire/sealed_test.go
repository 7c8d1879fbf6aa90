package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

func testManifest() *SealedManifest {
	return &SealedManifest{
		Rows: 5, Cells: 3, Length: 2, Dimension: 2, Probes: 2, Scale: 63.5, Kappa: 1 << 20, MaxNorm: 1000, NormBase: 500, NormUnit: 2,
		Map: Hash{7}, Centres: []float32{0, 1, 2, 3, 4, 5}, Norms: []int16{1, -250, EmptySlot, 250, 0, -1},
	}
}

func testHint() *SealedHint {
	return &SealedHint{Epoch: Hash{1}, Version: 2, Rows: 2, Words: testWords(2 * sealed.SecretWords), Names: []uint32{1, 5}, Norms: []int16{EmptySlot, 3}}
}

func testWords(n int) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		words[i] = uint32(i) * 0x9e3779b9
	}
	return words
}

func testChanges() *SealedChanges {
	return &SealedChanges{
		Epoch: Hash{1}, Since: 1, Version: 3, Rows: []uint32{0, 7}, Words: testWords(2 * sealed.SecretWords),
		Names: []uint32{3, 4, 9}, Norms: []int16{1, EmptySlot, -1}, IDs: []uint32{12, Padding, 0},
	}
}

func testRecords() *SealedRecords {
	return &SealedRecords{Gallery: Hash{1}, Records: 7, Length: 30, PerColumn: 2, Contents: Hash{2}}
}

func testSealedRequest() *SealedRequest {
	return &SealedRequest{Epoch: Hash{1}, Count: 2, Columns: 3, Width: 3, Bytes: []byte("abcdefghijklmnopqr")}
}

func testSealedAnswer() *SealedAnswer {
	return &SealedAnswer{Epoch: Hash{1}, Version: 4, Count: 2, Rows: 3, Words: testWords(6)}
}

// sealedMessages returns valid messages, each with an empty one of its type.
func sealedMessages() map[string][2]message {
	return map[string][2]message{
		"manifest": {testManifest(), new(SealedManifest)},
		"hint":     {testHint(), new(SealedHint)},
		"ids":      {&SealedIDs{Epoch: Hash{1}, Version: 2, IDs: []uint32{4, Padding, 2}}, new(SealedIDs)},
		"request":  {testSealedRequest(), new(SealedRequest)},
		"answer":   {testSealedAnswer(), new(SealedAnswer)},
		"changes":  {testChanges(), new(SealedChanges)},
		"records":  {testRecords(), new(SealedRecords)},
	}
}

func TestSealedMessagesComeBack(t *testing.T) { checkComeBack(t, sealedMessages()) }

// A changed byte is found, wherever it is, and so is a message of another kind or version.
func TestSealedMessagesChanged(t *testing.T) {
	for name, m := range sealedMessages() {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for at := range frame {
			frame[at] ^= 1 << (at % 8)
			if err := m[1].UnmarshalBinary(frame); err == nil {
				t.Fatalf("%s: byte %d changed, and it is read", name, at)
			}
			frame[at] ^= 1 << (at % 8)
		}
		for other, o := range sealedMessages() {
			if err := o[1].UnmarshalBinary(frame); other != name && !errors.Is(err, ErrMessage) {
				t.Errorf("%s read as %s: %v", name, other, err)
			}
		}
		f := m[0].format()
		f.version++
		if err := m[1].UnmarshalBinary(seal(t, f, bodyOf(m[0], frame))); !errors.Is(err, ErrVersion) {
			t.Errorf("%s of another version: %v", name, err)
		}
		if m[1].Check() == nil && name != "changes" { // no changes at all are changes
			t.Errorf("%s: something was read", name)
		}
	}
}

// A length that is not there takes no memory.
func TestSealedHostileLengths(t *testing.T) {
	for name, m := range sealedMessages() {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		body := bodyOf(m[0], frame)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tries := 0
		for at := 0; at+8 <= len(body) && at < 256; at += 8 {
			for _, length := range []uint64{1 << 31, 1 << 40, math.MaxInt64, math.MaxUint64} {
				hostile := bytes.Clone(body)
				binary.LittleEndian.PutUint64(hostile[at:], length)
				_ = m[1].UnmarshalBinary(seal(t, m[0].format(), hostile)) // hashes may be anything
				tries++
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / uint64(tries); each > 1<<20 {
			t.Errorf("%s: %d bytes of memory for a message of %d", name, each, len(frame))
		}
	}
}

func TestSealedMessagesRefuse(t *testing.T) {
	manifest := func(f func(*SealedManifest)) message { m := testManifest(); f(m); return m }
	hint := func(f func(*SealedHint)) message { h := testHint(); f(h); return h }
	changes := func(f func(*SealedChanges)) message { c := testChanges(); f(c); return c }
	request := func(f func(*SealedRequest)) message { r := testSealedRequest(); f(r); return r }
	answer := func(f func(*SealedAnswer)) message { a := testSealedAnswer(); f(a); return a }
	records := func(f func(*SealedRecords)) message { r := testRecords(); f(r); return r }
	for name, c := range map[string]struct {
		field string
		m     message
	}{
		"no rows":              {"rows", manifest(func(m *SealedManifest) { m.Rows = 0 })},
		"rows beyond slots":    {"length", manifest(func(m *SealedManifest) { m.Rows = 7 })},
		"rows that are not":    {"norms", manifest(func(m *SealedManifest) { m.Rows = 4 })},
		"no cells":             {"cells", manifest(func(m *SealedManifest) { m.Cells = 0 })},
		"negative cells":       {"cells", manifest(func(m *SealedManifest) { m.Cells = -3 })},
		"cells beyond":         {"cells", manifest(func(m *SealedManifest) { m.Cells = limits.MaxCells + 1 })},
		"columns beyond":       {"cells", manifest(func(m *SealedManifest) { m.Cells, m.Dimension = limits.MaxCells, limits.MaxDimension })},
		"no length":            {"length", manifest(func(m *SealedManifest) { m.Length = 0 })},
		"slots beyond":         {"length", manifest(func(m *SealedManifest) { m.Length = limits.MaxSlots })},
		"hint no message":      {"length", manifest(func(m *SealedManifest) { m.Length = 1 << 19 })},
		"ids no message":       {"length", manifest(func(m *SealedManifest) { m.Cells, m.Length = 1<<13, 1<<17 })},
		"request no message":   {"length", manifest(func(m *SealedManifest) { m.Cells, m.Dimension, m.Probes = 1<<13, 1<<13, 1<<12 })},
		"no dimension":         {"dimension", manifest(func(m *SealedManifest) { m.Dimension = 0 })},
		"no probes":            {"probes", manifest(func(m *SealedManifest) { m.Probes = 0 })},
		"probes beyond cells":  {"probes", manifest(func(m *SealedManifest) { m.Probes = 4 })},
		"no scale":             {"scale", manifest(func(m *SealedManifest) { m.Scale = 0 })},
		"negative scale":       {"scale", manifest(func(m *SealedManifest) { m.Scale = -1 })},
		"scale is no number":   {"scale", manifest(func(m *SealedManifest) { m.Scale = math.NaN() })},
		"scale not finite":     {"scale", manifest(func(m *SealedManifest) { m.Scale = math.Inf(1) })},
		"scale tiny":           {"scale", manifest(func(m *SealedManifest) { m.Scale = 1e-101 })},
		"no kappa":             {"kappa", manifest(func(m *SealedManifest) { m.Kappa = 0 })},
		"kappa beyond":         {"kappa", manifest(func(m *SealedManifest) { m.Kappa = 1 << 31 })},
		"no max norm":          {"max norm", manifest(func(m *SealedManifest) { m.MaxNorm = 0 })},
		"max norm beyond":      {"max norm", manifest(func(m *SealedManifest) { m.MaxNorm = 127*127*limits.MaxDimension + 1 })},
		"no norm unit":         {"norm unit", manifest(func(m *SealedManifest) { m.NormUnit = 0 })},
		"norm unit beyond":     {"norm unit", manifest(func(m *SealedManifest) { m.NormUnit = math.MaxInt64 })},
		"negative norm base":   {"norm base", manifest(func(m *SealedManifest) { m.NormBase = -1 })},
		"norm base beyond":     {"norm base", manifest(func(m *SealedManifest) { m.NormBase = math.MaxInt64 })},
		"half a centre":        {"centres", manifest(func(m *SealedManifest) { m.Centres = m.Centres[:5] })},
		"centre not finite":    {"centres", manifest(func(m *SealedManifest) { m.Centres[4] = float32(math.Inf(-1)) })},
		"norms missing":        {"norms", manifest(func(m *SealedManifest) { m.Norms = m.Norms[:5] })},
		"norm below 0":         {"norms", manifest(func(m *SealedManifest) { m.Norms[0] = -252 })},
		"norm above the most":  {"norms", manifest(func(m *SealedManifest) { m.Norms[0] = 252 })},
		"hint without rows":    {"rows", hint(func(h *SealedHint) { h.Rows, h.Words = 0, nil })},
		"hint of other rows":   {"words", hint(func(h *SealedHint) { h.Rows = 3 })},
		"hint overflows":       {"words", hint(func(h *SealedHint) { h.Rows = limits.MaxSlots })},
		"hint names fall":      {"names", hint(func(h *SealedHint) { slices.Reverse(h.Names) })},
		"hint names beyond":    {"names", hint(func(h *SealedHint) { h.Names[1] = limits.MaxRows })},
		"hint norms missing":   {"norms", hint(func(h *SealedHint) { h.Norms = h.Norms[:1] })},
		"no ids":               {"ids", &SealedIDs{}},
		"no ciphertexts":       {"count", request(func(r *SealedRequest) { r.Count, r.Bytes = 0, nil })},
		"negative ciphertexts": {"count", request(func(r *SealedRequest) { r.Count = -1 })},
		"ciphertexts beyond":   {"count", request(func(r *SealedRequest) { r.Count = limits.MaxCiphertexts + 1 })},
		"no columns":           {"columns", request(func(r *SealedRequest) { r.Columns, r.Bytes = 0, nil })},
		"other columns":        {"bytes", request(func(r *SealedRequest) { r.Columns = 4 })},
		"other width":          {"width", request(func(r *SealedRequest) { r.Width, r.Count = 2, 3 })},
		"request overflows":    {"bytes", request(func(r *SealedRequest) { r.Count, r.Columns = limits.MaxCiphertexts, limits.MaxSealedColumns })},
		"answer to nothing":    {"count", answer(func(a *SealedAnswer) { a.Count, a.Words = 0, nil })},
		"answer without rows":  {"rows", answer(func(a *SealedAnswer) { a.Rows, a.Words = 0, nil })},
		"answer too short":     {"words", answer(func(a *SealedAnswer) { a.Words = a.Words[:5] })},
		"answer overflows":     {"words", answer(func(a *SealedAnswer) { a.Count, a.Rows = limits.MaxCiphertexts, limits.MaxSlots })},
		"changes backwards":    {"version", changes(func(c *SealedChanges) { c.Since = 4 })},
		"changed rows fall":    {"rows", changes(func(c *SealedChanges) { slices.Reverse(c.Rows) })},
		"changed row twice":    {"rows", changes(func(c *SealedChanges) { c.Rows[1] = 0 })},
		"changed words":        {"words", changes(func(c *SealedChanges) { c.Words = c.Words[1:] })},
		"changed names fall":   {"names", changes(func(c *SealedChanges) { c.Names[2] = 4 })},
		"changed norms":        {"norms", changes(func(c *SealedChanges) { c.Norms = c.Norms[:2] })},
		"changed ids":          {"ids", changes(func(c *SealedChanges) { c.IDs = append(c.IDs, 1) })},
		"no records":           {"records", records(func(r *SealedRecords) { r.Records = 0 })},
		"empty records":        {"length", records(func(r *SealedRecords) { r.Length = 0 })},
		"long records":         {"length", records(func(r *SealedRecords) { r.Length = sealed.MaxRecord + 1 })},
		"no records a column":  {"per column", records(func(r *SealedRecords) { r.PerColumn = 0 })},
		"hint of records":      {"per column", records(func(r *SealedRecords) { r.PerColumn, r.Length = 100, sealed.MaxRecord })},
		"columns of records":   {"per column", records(func(r *SealedRecords) { r.Records, r.PerColumn = sealed.MaxRecordColumns+1, 1 })},
	} {
		var e *Error
		if _, err := c.m.MarshalBinary(); !errors.Is(err, ErrMessage) || !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%s: error %v, want one of field %s", name, err, c.field)
		}
	}
}

// A norm fits where a row of the epoch can have it.
func TestFitsNorm(t *testing.T) {
	m := testManifest() // 500 + 2 v, from 0 to 1000
	for v, want := range map[int16]bool{EmptySlot: true, EmptySlot + 1: false, -252: false, -251: true, 0: true, 251: true, 252: false, math.MaxInt16: false} {
		if m.FitsNorm(v) != want {
			t.Errorf("%d fits: %v", v, !want)
		}
	}
}

// The hash is that of the content: every field changes it, and it survives the line.
func TestSealedHashes(t *testing.T) {
	type hashed interface {
		message
		Hash() (Hash, error)
	}
	hash := func(m hashed) Hash {
		t.Helper()
		h, err := m.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seen := map[Hash]string{hash(testManifest()): "the manifest", hash(testRecords()): "the records"}
	add := func(name string, m hashed) {
		t.Helper()
		if other, again := seen[hash(m)]; again {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash(m)] = name
	}
	for name, f := range map[string]func(*SealedManifest){
		"rows":      func(m *SealedManifest) { m.Rows, m.Norms[0] = 4, EmptySlot },
		"shape":     func(m *SealedManifest) { m.Cells, m.Length, m.Dimension = 2, 3, 3 },
		"probes":    func(m *SealedManifest) { m.Probes = 1 },
		"scale":     func(m *SealedManifest) { m.Scale = 63.25 },
		"kappa":     func(m *SealedManifest) { m.Kappa++ },
		"max norm":  func(m *SealedManifest) { m.MaxNorm++ },
		"norm base": func(m *SealedManifest) { m.NormBase-- },
		"norm unit": func(m *SealedManifest) { m.NormUnit = 1 },
		"map":       func(m *SealedManifest) { m.Map[31] = 1 },
		"centres":   func(m *SealedManifest) { m.Centres[5] = 6 },
		"norms":     func(m *SealedManifest) { m.Norms[4] = 1 },
	} {
		m := testManifest()
		f(m)
		add(name, m)
	}
	for name, f := range map[string]func(*SealedRecords){
		"gallery":    func(r *SealedRecords) { r.Gallery[0]++ },
		"records":    func(r *SealedRecords) { r.Records++ },
		"length":     func(r *SealedRecords) { r.Length++ },
		"per column": func(r *SealedRecords) { r.PerColumn++ },
		"contents":   func(r *SealedRecords) { r.Contents[0]++ },
	} {
		r := testRecords()
		f(r)
		add("records: "+name, r)
	}
	for _, m := range []hashed{new(SealedManifest), new(SealedRecords)} {
		if _, err := m.Hash(); !errors.Is(err, ErrMessage) {
			t.Errorf("nothing has a hash: %v", err)
		}
	}
	if r := testRecords(); r.Columns() != 4 || r.MatrixRows() != 60 {
		t.Errorf("%d columns of %d", r.Columns(), r.MatrixRows())
	}
	if m := testManifest(); m.Columns() != 6 || m.Slots() != 6 {
		t.Errorf("%d columns, %d slots", m.Columns(), m.Slots())
	}
}

// FuzzSealed reads any body as each of the messages: no panic, no memory beyond what the bytes
// account for, and what is accepted is written back as it was.
func FuzzSealed(f *testing.F) {
	for _, m := range sealedMessages() {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(bodyOf(m[0], frame)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, m := range sealedMessages() {
			frame := seal(t, m[0].format(), body)
			if m[1].UnmarshalBinary(frame) != nil {
				continue
			}
			again, err := m[1].MarshalBinary()
			if err != nil || !bytes.Equal(again, frame) {
				t.Errorf("%s: %x became %x: %v", name, frame, again, err)
			}
		}
	})
}

package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// someGallery names the gallery of tests.
var someGallery = wire.Hash{1, 2, 3}

// randomRecords returns n records of 0 to longest bytes, the first of that length.
func randomRecords(r *rand.Rand, n, longest int) [][]byte {
	records := make([][]byte, n)
	for i := range records {
		length := longest
		if i > 0 {
			length = r.IntN(longest + 1)
		}
		records[i] = make([]byte, length)
		for j := range records[i] {
			records[i][j] = byte(r.Uint32())
		}
	}
	return records
}

func newRecords(t *testing.T, records [][]byte, s RecordsSettings) *Records {
	t.Helper()
	r, err := NewRecords(t.Context(), someGallery, recordtest.InMemory(records), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recordMatrix is the definition of the matrix of records, as whole numbers by rows.
func recordMatrix(m *wire.SealedRecords, records [][]byte) [][]int64 {
	rows := make([][]int64, m.MatrixRows())
	for i := range rows {
		rows[i] = make([]int64, m.Columns())
	}
	for i, record := range records {
		padded := make([]byte, m.Length)
		binary.LittleEndian.PutUint16(padded, uint16(len(record)))
		copy(padded[2:], record)
		for j, b := range padded {
			rows[i%m.PerColumn*m.Length+j][i/m.PerColumn] = int64(int8(b))
		}
	}
	return rows
}

// bigDot is the product of a row and words modulo 2^32, in whole numbers of any size.
func bigDot(row []int64, word func(int) uint32) uint32 {
	sum, product := new(big.Int), new(big.Int)
	for c, v := range row {
		sum.Add(sum, product.Mul(big.NewInt(v), big.NewInt(int64(word(c)))))
	}
	return uint32(sum.Mod(sum, big.NewInt(1<<32)).Uint64())
}

// randomRequest has random words, the extremes among them.
func randomRequest(r *rand.Rand, records *Records, count int) *wire.SealedRequest {
	columns := records.Manifest().Columns()
	b := make([]byte, 4*count*columns)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	copy(b, []byte{255, 255, 255, 255})
	return &wire.SealedRequest{Epoch: records.Epoch(), Count: count, Columns: columns, Width: 4, Bytes: b}
}

// TestRecordsAnswer holds answers and hints against the definition, in whole numbers of any size.
func TestRecordsAnswer(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name      string
		records   [][]byte
		perColumn int
	}{
		{"one", randomRecords(r, 1, 9), 0},
		{"one, empty", [][]byte{{}}, 0},
		{"every byte", [][]byte{every, bytes.Repeat([]byte{0x80}, 256), bytes.Repeat([]byte{0x7f}, 200)}, 0},
		{"two a column", randomRecords(r, 10, 5), 2},
		{"three a column, one is missing", randomRecords(r, 11, 5), 3},
		{"all in a column", randomRecords(r, 4, 17), 4},
		{"more a column than there are", randomRecords(r, 3, 2), 5},
		{"several blocks", randomRecords(r, 2*blockColumns+70, 1), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := newRecords(t, c.records, RecordsSettings{PerColumn: c.perColumn, Workers: workers})
			manifest := records.Manifest()
			rows := recordMatrix(manifest, c.records)
			requests := []*wire.SealedRequest{randomRequest(r, records, 1), randomRequest(r, records, 3)}
			answers, err := records.Answer(t.Context(), requests...)
			if err != nil {
				t.Fatal(err)
			}
			for i, request := range requests {
				answer := answers[i]
				if err := answer.Check(); err != nil || answer.Epoch != records.Epoch() || answer.Version != 0 || answer.Count != request.Count || answer.Rows != len(rows) {
					t.Fatalf("answer %d: %v", i, err)
				}
				for f := range request.Count {
					for row, values := range rows {
						want := bigDot(values, func(c int) uint32 {
							return binary.LittleEndian.Uint32(request.Bytes[4*(f*request.Columns+c):])
						})
						if got := answer.Words[f*len(rows)+row]; got != want {
							t.Fatalf("request %d, ciphertext %d, row %d: %d, want %d", i, f, row, got, want)
						}
					}
				}
			}
			checkRecordsHint(t, records, rows)
		})
	}
}

// checkRecordsHint looks at some words of each row of a hint.
func checkRecordsHint(t *testing.T, records *Records, rows [][]int64) {
	t.Helper()
	hint := records.Hint()
	if err := hint.Check(); err != nil || hint.Epoch != records.Epoch() || hint.Version != 0 || hint.Rows != len(rows) {
		t.Fatalf("hint: %v", err)
	}
	public := make([]uint32, records.Manifest().Columns()*scheme.SecretWords)
	scheme.NewMatrix(records.Epoch()).Rows(public, 0)
	for row, values := range rows {
		for _, j := range []int{0, 1, row % scheme.SecretWords, scheme.SecretWords - 1} {
			want := bigDot(values, func(c int) uint32 { return public[c*scheme.SecretWords+j] })
			if got := hint.Words[row*scheme.SecretWords+j]; got != want {
				t.Fatalf("hint, row %d, word %d: %d, want %d", row, j, got, want)
			}
		}
	}
}

// TestRecordsWorkers demands the same bits of any number of workers.
func TestRecordsWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := randomRecords(r, 300, 40)
	alone := newRecords(t, all, RecordsSettings{PerColumn: 2})
	request := randomRequest(r, alone, 5)
	want, err := alone.Answer(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	workers := par.New(4)
	defer workers.Close()
	shared := newRecords(t, all, RecordsSettings{PerColumn: 2, Workers: workers})
	got, err := shared.Answer(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if shared.Epoch() != alone.Epoch() || !slices.Equal(shared.Hint().Words, alone.Hint().Words) || !slices.Equal(got[0].Words, want[0].Words) {
		t.Error("other bits")
	}
}

// TestRecordsManifest holds what is published against its definition.
func TestRecordsManifest(t *testing.T) {
	records := newRecords(t, [][]byte{[]byte("abc"), {}, []byte("\x00\xff")}, RecordsSettings{Rows: 3})
	got := records.Manifest()
	want := wire.SealedRecords{
		Gallery: someGallery, Records: 3, Length: 5, PerColumn: 1,
		Contents: sha256.Sum256([]byte("\x03\x00abc" + "\x00\x00\x00\x00\x00" + "\x02\x00\x00\xff\x00")),
	}
	if *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
	hash, err := want.Hash()
	if err != nil || records.Epoch() != hash {
		t.Errorf("epoch %v, want %v, %v", records.Epoch(), hash, err)
	}
	got.Records = 7
	if records.Manifest().Records != 3 {
		t.Error("the manifest of the caller is that of the records")
	}
	other, err := NewRecords(t.Context(), wire.Hash{9}, recordtest.InMemory([][]byte{[]byte("abc"), {}, []byte("\x00\xff")}), RecordsSettings{})
	if err != nil || other.Epoch() == records.Epoch() {
		t.Errorf("records of another gallery have the same epoch, %v", err)
	}
}

func TestLeastPerColumn(t *testing.T) {
	for _, c := range []struct{ n, want int }{
		{1, 1}, {scheme.MaxRecordColumns, 1}, {scheme.MaxRecordColumns + 1, 2}, {2 * scheme.MaxRecordColumns, 2},
		{2*scheme.MaxRecordColumns + 1, 3}, {limits.MaxRows, (limits.MaxRows-1)/scheme.MaxRecordColumns + 1},
	} {
		got := leastPerColumn(c.n)
		if got != c.want {
			t.Errorf("%d records: %d a column, want %d", c.n, got, c.want)
		}
		if m := (&wire.SealedRecords{Records: c.n, Length: 2, PerColumn: got}); m.Check() != nil {
			t.Errorf("%d records: %v", c.n, m.Check())
		}
	}
}

// changing is a sequence that differs each time it is read.
func changing(times ...[][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		now := times[0]
		times = times[1:]
		for record, err := range recordtest.InMemory(now) {
			if !yield(record, err) {
				return
			}
		}
	}
}

// breaking is a sequence that fails at its second record, from some time on.
func breaking(after int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		after--
		if yield([]byte("a"), nil) {
			if after < 0 {
				yield(nil, errBroken)
			} else {
				yield([]byte("b"), nil)
			}
		}
	}
}

var errBroken = errors.New("the disk is broken")

func TestNewRecordsRefuses(t *testing.T) {
	two := [][]byte{[]byte("a"), []byte("b")}
	for name, c := range map[string]struct {
		records  iter.Seq2[[]byte, error]
		settings RecordsSettings
		want     error
	}{
		"none":                 {recordtest.InMemory(nil), RecordsSettings{}, errRecords},
		"too long":             {recordtest.InMemory([][]byte{{}, make([]byte, maxContent+1)}), RecordsSettings{}, errRecords},
		"too few":              {recordtest.InMemory(two), RecordsSettings{Rows: 3}, errRecords},
		"too many":             {recordtest.InMemory(two), RecordsSettings{Rows: 1}, errRecords},
		"-1 a column":          {recordtest.InMemory(two), RecordsSettings{PerColumn: -1}, wire.ErrMessage},
		"too many a column":    {recordtest.InMemory(two), RecordsSettings{PerColumn: limits.MaxRows}, errRecords},
		"fewer later":          {changing(two, two[:1]), RecordsSettings{}, errRecords},
		"more later":           {changing(two, slices.Repeat(two, 100)), RecordsSettings{}, errRecords},
		"longer later":         {changing(two, [][]byte{[]byte("a"), []byte("bb")}), RecordsSettings{}, errRecords},
		"breaks at once":       {breaking(0), RecordsSettings{}, errBroken},
		"breaks in the second": {breaking(1), RecordsSettings{}, errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := NewRecords(t.Context(), someGallery, c.records, c.settings); !errors.Is(err, c.want) || r != nil {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// The error of a record says which it is, and nothing of what is in it.
func TestNewRecordsNamesTheRecord(t *testing.T) {
	_, err := NewRecords(t.Context(), someGallery, recordtest.InMemory([][]byte{{}, bytes.Repeat([]byte("x"), maxContent+1)}), RecordsSettings{})
	if err == nil || !strings.Contains(err.Error(), "record 1 ") || strings.Contains(err.Error(), "xx") {
		t.Error(err)
	}
}

// Memory is estimated before it is taken.
func TestRecordsMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	if r, err := NewRecords(t.Context(), someGallery, recordtest.InMemory([][]byte{make([]byte, maxContent)}), RecordsSettings{PerColumn: 8}); !errors.Is(err, ErrMemory) || r != nil {
		t.Error(err)
	}
}

func TestRecordsRequestsRefused(t *testing.T) {
	records := newRecords(t, [][]byte{[]byte("a"), []byte("b")}, RecordsSettings{})
	good := func() *wire.SealedRequest {
		return &wire.SealedRequest{Epoch: records.Epoch(), Count: 1, Columns: 2, Width: 4, Bytes: make([]byte, 8)}
	}
	for name, c := range map[string]struct {
		change func(*wire.SealedRequest)
		want   error
	}{
		"another epoch": {func(r *wire.SealedRequest) { r.Epoch[0]++ }, ErrEpoch},
		"three bytes":   {func(r *wire.SealedRequest) { r.Width, r.Bytes = 3, r.Bytes[:6] }, ErrQuestion},
		"a column":      {func(r *wire.SealedRequest) { r.Columns, r.Bytes = 1, r.Bytes[:4] }, ErrQuestion},
		"no ciphertext": {func(r *wire.SealedRequest) { r.Count, r.Bytes = 0, nil }, ErrQuestion},
		"short":         {func(r *wire.SealedRequest) { r.Bytes = r.Bytes[:7] }, ErrQuestion},
		"too many": {func(r *wire.SealedRequest) {
			r.Count, r.Bytes = scheme.MaxFetches+1, make([]byte, 8*(scheme.MaxFetches+1))
		}, ErrQuestion},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good()
			c.change(bad)
			if answers, err := records.Answer(t.Context(), good(), bad); !errors.Is(err, c.want) || answers != nil {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err := records.CheckRequest(bad); !errors.Is(err, c.want) {
				t.Errorf("check: error %v, want %v", err, c.want)
			}
		})
	}
	if err := records.CheckRequest(good()); err != nil {
		t.Error(err)
	}
	if _, err := records.Answer(t.Context(), nil); !errors.Is(err, ErrQuestion) {
		t.Errorf("no request: %v", err)
	}
	most := good()
	most.Count, most.Bytes = scheme.MaxFetches, make([]byte, 8*scheme.MaxFetches)
	if _, err := records.Answer(t.Context(), most); err != nil {
		t.Error(err)
	}
	if answers, err := records.Answer(t.Context()); len(answers) != 0 || err != nil {
		t.Errorf("%d answers without a request, %v", len(answers), err)
	}
}

// TestRecordsCancelled ends the context at each stage.
func TestRecordsCancelled(t *testing.T) {
	all := randomRecords(rand.New(rand.NewPCG(5, 6)), 2*blockColumns, 1)
	for _, stage := range []string{"before", "records", "hint"} {
		ctx, cancel := context.WithCancel(t.Context())
		if stage == "before" {
			cancel()
		}
		_, err := NewRecords(ctx, someGallery, recordtest.InMemory(all), RecordsSettings{Progress: func(at string, _, _ int) {
			if at == stage {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stage, err)
		}
	}
	records := newRecords(t, all, RecordsSettings{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := records.Answer(ctx, randomRequest(rand.New(rand.NewPCG(7, 8)), records, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("answer: %v", err)
	}
}

// TestRecordsHolds compares records with others.
func TestRecordsHolds(t *testing.T) {
	all := [][]byte{[]byte("abc"), {}, []byte("de")}
	records := newRecords(t, all, RecordsSettings{PerColumn: 2})
	for name, c := range map[string]struct {
		records [][]byte
		want    bool
	}{
		"the same":        {all, true},
		"none":            {nil, false},
		"fewer":           {all[:2], false},
		"more":            {append(slices.Clone(all), []byte("f")), false},
		"another order":   {[][]byte{[]byte("abc"), []byte("de"), {}}, false},
		"another byte":    {[][]byte{[]byte("abd"), {}, []byte("de")}, false},
		"a zero more":     {[][]byte{[]byte("abc"), {}, []byte("de\x00")}, false},
		"a longer record": {[][]byte{[]byte("abc"), {}, make([]byte, maxContent+1)}, false},
	} {
		if got, err := records.Holds(t.Context(), recordtest.InMemory(c.records)); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := records.Holds(t.Context(), breaking(0)); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := records.Holds(ctx, recordtest.InMemory(all)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRecordsProgress demands stages that end at their total.
func TestRecordsProgress(t *testing.T) {
	var calls []string
	newRecords(t, [][]byte{{1}, {2}, {3}}, RecordsSettings{Progress: func(stage string, done, total int) {
		calls = append(calls, fmt.Sprint(stage, " ", done, "/", total))
	}})
	if want := []string{"records 0/3", "records 3/3", "hint 1/1"}; !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}

// TestRecordsConcurrent has many callers, who get the answers that they get alone.
func TestRecordsConcurrent(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	r := rand.New(rand.NewPCG(9, 10))
	records := newRecords(t, randomRecords(r, 50, 20), RecordsSettings{Workers: workers})
	var wait sync.WaitGroup
	for range 8 {
		request := randomRequest(r, records, 2)
		want, err := records.Answer(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			got, err := records.Answer(t.Context(), request)
			if err != nil || !slices.Equal(got[0].Words, want[0].Words) {
				t.Errorf("another answer, %v", err)
			}
		})
	}
	wait.Wait()
}

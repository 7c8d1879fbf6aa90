package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// everyByte has all bytes.
func everyByte() []byte {
	out := make([]byte, 256)
	for i := range out {
		out[i] = byte(i)
	}
	return out
}

// TestFetch fetches every record, with dummies between them.
func TestFetch(t *testing.T) {
	longest := someRecords(1, 0)
	for _, n := range []int{1, 2, 255, 256, 4095, 4096} {
		longest = append(longest, bytes.Repeat([]byte{byte(n), 0x80, 0x7f, 0xff}, n)[:n])
	}
	for name, c := range map[string]struct {
		records   [][]byte
		perColumn int
	}{
		"one":                      {[][]byte{[]byte("alone")}, 1},
		"one, empty":               {[][]byte{{}}, 1},
		"one in a large column":    {[][]byte{[]byte("alone")}, 3},
		"every byte":               {[][]byte{everyByte(), {}, everyByte()[128:], bytes.Repeat([]byte{0x80}, 256)}, 1},
		"lengths 0 to 4096":        {longest, 1},
		"two a column":             {someRecords(10, 30), 2},
		"three, one is missing":    {someRecords(11, 30), 3},
		"more than one block":      {someRecords(2*encryptedColumns+3, 4), 1},
		"all in one column":        {someRecords(5, 40), 5},
		"more blocks, four a line": {someRecords(4*encryptedColumns+3, 3), 4},
	} {
		t.Run(name, func(t *testing.T) {
			server := newRecordServer(t, c.records, c.perColumn)
			client := server.client(t)
			var ids []uint32
			for i := range c.records {
				ids = append(ids, uint32(i))
			}
			for part := range slices.Chunk(ids, scheme.MaxFetches-1) {
				part = append(slices.Clone(part), wire.Padding)
				f := fetch(t, client, part...)
				if err := f.Request().Check(); err != nil || f.Request().Epoch != client.Epoch() || f.Request().Count != len(part) || f.Request().Width != 4 {
					t.Fatalf("request of %d ciphertexts for %d fetches, %v", f.Request().Count, len(part), err)
				}
				got, err := client.Open(f, server.answer(f.Request()))
				if err != nil || len(got) != len(part) {
					t.Fatalf("%d records, %v", len(got), err)
				}
				for i, id := range part {
					if id == wire.Padding {
						if got[i] != nil {
							t.Error("a dummy has a record")
						}
					} else if got[i] == nil || !bytes.Equal(got[i], c.records[id]) {
						t.Errorf("record %d is another one", id)
					}
				}
			}
		})
	}
}

// TestFetchCiphertexts takes ciphertexts apart with their secrets, in whole numbers of any size:
// they are A s + e + 2^24 in the column of the record, with errors within the table, and nothing
// but D e is left next to the bytes after decryption.
func TestFetchCiphertexts(t *testing.T) {
	const n, perColumn = 121, 2
	server := newRecordServer(t, someRecords(n, 3), perColumn)
	client := server.client(t)
	ids := []uint32{0, 1, 2, n - 1, wire.Padding, 60, n, 60}
	f := fetch(t, client, ids...)
	answer := server.answer(f.Request())
	decrypted, err := f.secret.sealed.decrypt(nil, client.hint, answer.Words)
	if err != nil {
		t.Fatal(err)
	}
	modulus := big.NewInt(1 << 32)
	seen := make(map[string]bool)
	for i, id := range ids {
		secret := f.secret.sealed.secrets[i*scheme.SecretWords : (i+1)*scheme.SecretWords]
		errs := make([]int64, f.Request().Columns)
		zeros := 0
		for c, u := range words(f.Request(), i) {
			v := new(big.Int).SetInt64(int64(u))
			for j, s := range secret {
				v.Sub(v, new(big.Int).Mul(big.NewInt(int64(server.public[c*scheme.SecretWords+j])), big.NewInt(int64(s))))
			}
			if id < n && int(id)/perColumn == c {
				v.Sub(v, big.NewInt(1<<24))
			}
			errs[c] = int64(int32(uint32(v.Mod(v, modulus).Uint64())))
			if math.Abs(float64(errs[c])) > 59 {
				t.Fatalf("fetch %d, column %d: next to the message there is %d", i, c, errs[c])
			}
			if errs[c] == 0 {
				zeros++
			}
		}
		// 61 errors of standard deviation 6.4 are 0 about 4 times: 40 have a chance below 1e-30.
		if zeros > 40 {
			t.Errorf("fetch %d: %d of %d errors are 0", i, zeros, len(errs))
		}
		if key := fmt.Sprint(errs); seen[key] {
			t.Errorf("fetch %d has the errors of another one", i)
		} else {
			seen[key] = true
		}
		for r, row := range server.matrix {
			want := new(big.Int)
			for c, v := range row {
				want.Add(want, big.NewInt(int64(v)*errs[c]))
			}
			if id < n {
				want.Add(want, big.NewInt(int64(row[id/perColumn])<<24))
			}
			if got := decrypted[r*len(ids)+i]; uint64(got) != want.Mod(want, modulus).Uint64() {
				t.Fatalf("fetch %d, row %d: decrypted to %d, want %d", i, r, got, want)
			}
		}
	}
}

// TestFetchesShareNothing fetches one record again and again: no ciphertext and no secret comes
// twice, not even in part, and neither does that of a dummy.
func TestFetchesShareNothing(t *testing.T) {
	server := newRecordServer(t, someRecords(40, 3), 1)
	client := server.client(t)
	ciphertexts, secrets := make(map[uint64]bool), make(map[uint64]bool)
	pairs := func(of map[uint64]bool, words []uint32) {
		t.Helper()
		for i := range len(words) / 2 {
			key := uint64(words[2*i])<<32 | uint64(words[2*i+1])
			if of[key] {
				t.Fatal("two words are those of another ciphertext or secret")
			}
			of[key] = true
		}
	}
	for range 5 { // 5 x 4 x 704 pairs of 64 bits: a chance below 1e-11
		f := fetch(t, client, 7, 7, wire.Padding, wire.Padding)
		for i := range 4 {
			pairs(ciphertexts, words(f.Request(), i))
			pairs(secrets, f.secret.sealed.secrets[i*scheme.SecretWords:(i+1)*scheme.SecretWords])
		}
	}
}

// A retry sends the bytes of the first time.
func TestFetchRetry(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	client := server.client(t)
	f := fetch(t, client, 3)
	first, err := f.Request().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // opening changes nothing either
		if got, err := client.Open(f, server.answer(f.Request())); err != nil || !bytes.Equal(got[0], server.records[3]) {
			t.Fatal("another record", err)
		}
		if again, err := f.Request().MarshalBinary(); err != nil || !bytes.Equal(again, first) {
			t.Fatal("other bytes", err)
		}
	}
}

// A server that lies spoils records. Nothing fails before all are decrypted, and what is wrong
// with one record leaves the others.
func TestOpenLies(t *testing.T) {
	server := newRecordServer(t, someRecords(9, 20), 2)
	client := server.client(t)
	r := rand.New(rand.NewPCG(1, 2))
	for name, lie := range map[string]func() uint32{
		"zeros":  func() uint32 { return 0 },
		"ones":   func() uint32 { return math.MaxUint32 },
		"random": r.Uint32,
	} {
		for range 20 {
			f := fetch(t, client, 1, wire.Padding, 8)
			answer := server.answer(f.Request())
			for i := range answer.Rows {
				answer.Words[i] = lie() // of the first fetch
			}
			got, err := client.Open(f, answer)
			if len(got) != 3 || got[1] != nil || !bytes.Equal(got[2], server.records[8]) {
				t.Fatalf("%s: the other records are gone, %v", name, err)
			}
			if (err != nil) != (got[0] == nil) || err != nil && (!errors.Is(err, errRecordData) || !errors.Is(err, wire.ErrMessage) || errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), "fetch 0")) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A record with an impossible length is an error of that record alone.
func TestOpenWrongLength(t *testing.T) {
	server := newRecordServer(t, [][]byte{[]byte("first"), []byte("second"), []byte("third")}, 1)
	for name, c := range map[string]struct {
		low, high int8
		ok        bool
	}{"longest": {6, 0, true}, "one more": {7, 0, false}, "the largest": {-1, -1, false}, "256": {0, 1, false}} {
		server.matrix[0][1], server.matrix[1][1] = c.low, c.high
		client := server.client(t) // the hint follows
		f := fetch(t, client, 0, 1, 2)
		got, err := client.Open(f, server.answer(f.Request()))
		if len(got) != 3 || string(got[0]) != "first" || string(got[2]) != "third" {
			t.Fatalf("%s: the other records are gone, %v", name, err)
		}
		if c.ok != (err == nil) || c.ok != (got[1] != nil) || err != nil && !errors.Is(err, errRecordData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers that no record has are fetched as dummies, and said to be wrong at the end.
func TestFetchBeyond(t *testing.T) {
	const n = 7 // three a column: the last column has room for two more
	server := newRecordServer(t, someRecords(n, 5), 3)
	client := server.client(t)
	for _, beyond := range []uint32{n, n + 1, n + 2, 1 << 31, wire.Padding - 1} {
		f := fetch(t, client, beyond, 6)
		if f.Request().Count != 2 {
			t.Fatalf("%d ciphertexts", f.Request().Count)
		}
		got, err := client.Open(f, server.answer(f.Request()))
		if !errors.Is(err, ErrRecord) || errors.Is(err, wire.ErrMessage) || len(got) != 2 || got[0] != nil || !bytes.Equal(got[1], server.records[6]) {
			t.Errorf("%d of %d: %v", beyond, n, err)
		}
		if err != nil && strings.Contains(err.Error(), fmt.Sprint(beyond)) {
			t.Errorf("the message says which: %v", err)
		}
	}
}

func TestFetchRefuses(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	client := server.client(t)
	for _, n := range []int{0, scheme.MaxFetches + 1} {
		if f, err := client.Fetch(t.Context(), make([]uint32, n)); !errors.Is(err, ErrRecord) || f != nil {
			t.Errorf("%d fetches: %v", n, err)
		}
	}
	if _, err := client.Fetch(t.Context(), make([]uint32, scheme.MaxFetches)); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := client.Fetch(ctx, []uint32{1}); !errors.Is(err, context.Canceled) || f != nil {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("no randomness")
	client.seeds = io.MultiReader(bytes.NewReader(make([]byte, 33)), iotest.ErrReader(broken))
	if f, err := client.Fetch(t.Context(), []uint32{1, 2}); !errors.Is(err, broken) || f != nil {
		t.Errorf("without randomness: %v", err)
	}
}

// Answers to other questions are refused before anything is decrypted.
func TestOpenRefuses(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	client := server.client(t)
	f := fetch(t, client, 1, 2)
	for name, c := range map[string]struct {
		change func(*wire.SealedAnswer)
		want   error
	}{
		"epoch":   {func(a *wire.SealedAnswer) { a.Epoch[0]++ }, ErrAnswer},
		"version": {func(a *wire.SealedAnswer) { a.Version++ }, ErrAnswer},
		"count":   {func(a *wire.SealedAnswer) { a.Count, a.Words = 1, a.Words[:a.Rows] }, ErrAnswer},
		"rows":    {func(a *wire.SealedAnswer) { a.Rows, a.Words = a.Rows-1, a.Words[:2*(a.Rows-1)] }, ErrAnswer},
		"short":   {func(a *wire.SealedAnswer) { a.Words = a.Words[:1] }, wire.ErrMessage},
	} {
		answer := server.answer(f.Request())
		c.change(answer)
		if got, err := client.Open(f, answer); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := client.Open(new(Fetching), server.answer(f.Request())); !errors.Is(err, ErrAnswer) {
		t.Errorf("not one of Fetch: %v", err)
	}
	if _, err := client.Open(f, nil); !errors.Is(err, ErrAnswer) {
		t.Error(err)
	}
	if _, err := client.Open(nil, server.answer(f.Request())); !errors.Is(err, ErrAnswer) {
		t.Error(err)
	}
	others := someRecords(5, 3)
	slices.Reverse(others)
	other := newRecordServer(t, others, 1)
	answer := server.answer(f.Request())
	answer.Epoch = other.epoch
	if _, err := other.client(t).Open(f, answer); !errors.Is(err, ErrAnswer) {
		t.Errorf("a fetch of other records: %v", err)
	}
}

func TestNewRecordsRefuses(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	good := RecordsSettings{Gallery: server.manifest.Gallery, Epoch: server.epoch}
	short := server.manifest
	short.Length = 1
	none := server.manifest
	none.Records = 0
	later := server.hint()
	later.Version = 1
	foreign := server.hint()
	foreign.Epoch[0]++
	rows := server.hint()
	rows.Rows, rows.Words = rows.Rows-1, rows.Words[scheme.SecretWords:]
	broken := server.hint()
	broken.Words = broken.Words[1:]
	for name, c := range map[string]struct {
		manifest *wire.SealedRecords
		hint     *wire.SealedHint
		settings RecordsSettings
		want     error
	}{
		"no manifest":           {nil, server.hint(), good, ErrEpoch},
		"no hint":               {&server.manifest, nil, good, ErrEpoch},
		"no records":            {&none, server.hint(), good, wire.ErrMessage},
		"no room for a length":  {&short, server.hint(), RecordsSettings{Gallery: good.Gallery, UnconfirmedEpoch: true}, wire.ErrMessage},
		"another gallery":       {&server.manifest, server.hint(), RecordsSettings{Epoch: server.epoch}, ErrEpoch},
		"another epoch":         {&server.manifest, server.hint(), RecordsSettings{Gallery: good.Gallery, Epoch: wire.Hash{1}}, ErrEpoch},
		"no epoch":              {&server.manifest, server.hint(), RecordsSettings{Gallery: good.Gallery}, ErrEpoch},
		"both":                  {&server.manifest, server.hint(), RecordsSettings{Gallery: good.Gallery, Epoch: server.epoch, UnconfirmedEpoch: true}, ErrEpoch},
		"hint of a version":     {&server.manifest, later, good, ErrEpoch},
		"hint of another epoch": {&server.manifest, foreign, good, ErrEpoch},
		"hint of fewer rows":    {&server.manifest, rows, good, ErrEpoch},
		"hint that is broken":   {&server.manifest, broken, good, wire.ErrMessage},
		"good":                  {&server.manifest, server.hint(), good, nil},
		"unconfirmed":           {&server.manifest, server.hint(), RecordsSettings{Gallery: good.Gallery, UnconfirmedEpoch: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewRecords(c.manifest, c.hint, c.settings); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// Secrets of a fetch are overwritten on demand, and no printing shows them.
func TestFetchingForgets(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	client := server.client(t)
	f := fetch(t, client, 4, 3)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		if got := fmt.Sprintf(verb, f) + fmt.Sprintf(verb, *f); got != "sealed fetchsealed fetch" {
			t.Errorf("%s: %q", verb, got)
		}
	}
	if text, err := json.Marshal([]any{f}); err != nil || string(text) != "[{}]" {
		t.Errorf("as JSON %s, %v", text, err)
	}
	answer := server.answer(f.Request())
	f.Forget()
	secret := f.secret
	if slices.Max(secret.sealed.secrets) > 0 || slices.Max(secret.choices.ids) > 0 || slices.Max(secret.choices.parts) > 0 {
		t.Error("a secret is left")
	}
	if got, err := client.Open(f, answer); !errors.Is(err, errForgotten) || got != nil {
		t.Error(err)
	}
}

// The numbers of the caller are his to change.
func TestFetchCopiesNumbers(t *testing.T) {
	server := newRecordServer(t, someRecords(5, 3), 1)
	client := server.client(t)
	ids := []uint32{4, 2}
	f := fetch(t, client, ids...)
	ids[0], ids[1] = wire.Padding, wire.Padding
	got, err := client.Open(f, server.answer(f.Request()))
	if err != nil || !bytes.Equal(got[0], server.records[4]) || !bytes.Equal(got[1], server.records[2]) {
		t.Error("other records", err)
	}
}

// TestFetchConcurrent has many callers of one client.
func TestFetchConcurrent(t *testing.T) {
	server := newRecordServer(t, someRecords(70, 6), 2)
	client := server.client(t)
	var wait sync.WaitGroup
	for i := range uint32(8) {
		wait.Go(func() {
			f, err := client.Fetch(t.Context(), []uint32{i, 69 - i})
			if err != nil {
				t.Error(err)
				return
			}
			got, err := client.Open(f, server.answer(f.Request()))
			if err != nil || !bytes.Equal(got[0], server.records[i]) || !bytes.Equal(got[1], server.records[69-i]) {
				t.Error("other records", err)
			}
		})
	}
	wait.Wait()
}

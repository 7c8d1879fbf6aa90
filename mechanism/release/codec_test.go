package release

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the files in testdata again")

var (
	_ encoding.BinaryMarshaler   = Release{}
	_ encoding.BinaryUnmarshaler = (*Release)(nil)
	_ json.Marshaler             = Release{}
	_ json.Unmarshaler           = (*Release)(nil)
	_ io.WriterTo                = (*Release)(nil)
)

// The files hold sample and are made by go test -update. A change of their
// bytes is a change of the format.
func TestGolden(t *testing.T) {
	for name, got := range map[string][]byte{
		"release.bin":  mustBinary(t, sample()),
		"release.json": append(mustJSON(t, sample()), '\n'),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is no longer what is written", name)
		}
		r, err := Read(bytes.NewReader(want))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(r, sample()) {
			t.Errorf("%s reads as %+v", name, r)
		}
	}
}

// The offsets in the documentation of the package.
func TestLayout(t *testing.T) {
	r, b := sample(), mustBinary(t, sample())
	words := map[int]uint64{
		8: version, 32: uint64(r.Rows), 40: uint64(r.Columns), 56: uint64(r.Multiple),
		136: uint64(r.Sensitivity.Private), 144: uint64(r.Sensitivity.Records), 184: uint64(r.Query.Classes), 200: r.Query.Seed, 216: r.Ledger,
	}
	for offset, x := range map[int]float64{
		48: r.Step, 64: r.Privacy.Epsilon, 72: r.Privacy.Delta, 80: r.Privacy.Sigma, 88: r.Privacy.Mu, 96: r.Privacy.Rho,
		104: r.Sensitivity.Total, 112: r.Sensitivity.Bound, 120: r.Sensitivity.OperatorError, 128: r.Sensitivity.GridError,
		152: r.Query.Sigma, 160: r.Query.Alpha, 168: r.Query.Radius, 176: r.Query.Background, 192: r.Query.SigmaQ, 208: r.Labels.Epsilon,
	} {
		words[offset] = math.Float64bits(x)
	}
	for offset, want := range words {
		if got := little.Uint64(b[offset:]); got != want {
			t.Errorf("offset %d: %x, want %x", offset, got, want)
		}
	}
	if string(b[:8]) != magic || !bytes.Equal(b[16:32], r.ID[:]) {
		t.Errorf("%x", b[:32])
	}
	rest := b[224:]
	s := &r.Sensitivity
	for _, text := range []string{r.Mechanism, r.Privacy.Rule, s.Norm, s.Derivation, s.Relation, s.Operator, r.Query.Table, r.Labels.Mode, r.Unit} {
		if n := len(text); int(rest[0]) != n || string(rest[1:n+1]) != text {
			t.Fatalf("%q does not begin with the length and %s", rest, text)
		}
		rest = rest[len(text)+1:]
	}
	for _, v := range slices.Concat(s.PrivateRows, r.Labels.Values) {
		if got := int32(little.Uint32(rest)); got != v {
			t.Errorf("label %d, want %d", got, v)
		}
		rest = rest[4:]
	}
	for _, v := range r.Grid {
		if got := int64(little.Uint64(rest)); got != v {
			t.Errorf("grid %d, want %d", got, v)
		}
		rest = rest[8:]
	}
	if sum := sha256.Sum256(b[:len(b)-32]); !bytes.Equal(rest, sum[:]) {
		t.Errorf("checksum %x, want %x", rest, sum)
	}
}

// Both forms restore every bit, and each restores the other.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := arbitrary(t)
		binary, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(*r) // by value, and through package json
		if err != nil {
			t.Fatal(err)
		}
		if direct, err := r.MarshalJSON(); err != nil || !bytes.Equal(direct, text) {
			t.Fatalf("package json makes %s of %s", text, direct)
		}
		for name, decode := range binaryDecoders {
			if got, err := decode(binary); err != nil || !reflect.DeepEqual(got, r) {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
		}
		for name, decode := range jsonDecoders {
			got, err := decode(text)
			if err != nil || !reflect.DeepEqual(got, r) {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
			if again, err := got.MarshalBinary(); err != nil || !bytes.Equal(again, binary) {
				t.Fatalf("%s: other bytes, %v", name, err)
			}
		}
		if sum := r.checksum(); !bytes.Equal(sum[:], binary[len(binary)-32:]) {
			t.Fatalf("checksum %x", sum)
		}
	})
}

// A release longer than the buffers, in pieces of odd sizes.
func TestLongRelease(t *testing.T) {
	r := sample()
	r.Rows, r.Columns = 30_011, 3
	r.Grid, r.Labels.Values = make([]int64, 90_033), make([]int32, 30_011)
	for i := range r.Grid {
		r.Grid[i] = int64(i)*9_999_991 - 1<<40
	}
	for i := range r.Labels.Values {
		r.Labels.Values[i] = int32(i % 3)
	}
	finish(r, 3.8)
	for name, b := range map[string][]byte{"binary": mustBinary(t, r), "JSON": mustJSON(t, r)} {
		for _, in := range []io.Reader{bytes.NewReader(b), iotest.HalfReader(bytes.NewReader(b)), iotest.DataErrReader(bytes.NewReader(b))} {
			got, err := Read(in)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !reflect.DeepEqual(got, r) {
				t.Errorf("%s: another release", name)
			}
		}
	}
	if n := allocated(func() { r.WriteTo(io.Discard) }); n > 1<<20 {
		t.Errorf("writing allocates %d bytes", n)
	}
	if n := allocated(func() { r.checksum() }); n > 1<<20 {
		t.Errorf("the checksum allocates %d bytes", n)
	}
}

func TestEveryBitFlipIsRefused(t *testing.T) {
	b := mustBinary(t, sample())
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			for name, decode := range binaryDecoders {
				if _, err := decode(b); !known(err) {
					t.Fatalf("%s, byte %d, bit %d: %v", name, i, bit, err)
				}
			}
			b[i] ^= 1 << bit
		}
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	whole := mustBinary(t, sample())
	for i := range whole {
		for name, decode := range binaryDecoders {
			if _, err := decode(whole[:i]); !is(err, ErrRelease) {
				t.Fatalf("%s, %d of %d bytes: %v", name, i, len(whole), err)
			}
		}
	}
	text := mustJSON(t, sample())
	for i := range text {
		for name, decode := range jsonDecoders {
			if _, err := decode(text[:i]); !is(err, ErrRelease) {
				t.Fatalf("%s, %d of %d bytes: %v", name, i, len(text), err)
			}
		}
	}
}

func TestTrailingBytesAreRefused(t *testing.T) {
	b := mustBinary(t, sample())
	for name, decode := range binaryDecoders {
		for _, tail := range []string{"\x00", "\n", string(b)} {
			_, err := decode(append(bytes.Clone(b), tail...))
			if wantError(t, err, ErrRelease); t.Failed() {
				t.Fatalf("%s, tail of %d bytes", name, len(tail))
			}
		}
	}
}

// sealed appends the right checksum to a body.
func sealed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// Wrong contents with a right checksum.
func TestHostileBinary(t *testing.T) {
	whole := mustBinary(t, sample())
	body := whole[:len(whole)-32]
	word := func(offset int, v uint64) []byte {
		b := bytes.Clone(body)
		little.PutUint64(b[offset:], v)
		return sealed(b)
	}
	const rows, columns, text = 32, 40, 224
	two := func(n, k uint64) []byte {
		b := bytes.Clone(body)
		little.PutUint64(b[rows:], n)
		little.PutUint64(b[columns:], k)
		return sealed(b)
	}
	length := func(n byte) []byte {
		b := bytes.Clone(body)
		b[text] = n
		return sealed(b)
	}
	cases := map[string]struct {
		data []byte
		err  error
	}{
		"empty":                 {nil, ErrRelease},
		"magic only":            {[]byte(magic), ErrRelease},
		"magic with line ends":  {bytes.Replace(whole, []byte("\r\n"), []byte("\n"), 1), ErrRelease},
		"version 0":             {word(8, 0), errVersion},
		"version 2":             {word(8, 2), errVersion},
		"version 2^64-1":        {word(8, math.MaxUint64), errVersion},
		"no rows":               {two(0, 2), ErrRelease},
		"2^64-1 rows":           {two(math.MaxUint64, 1), ErrRelease},
		"2^63-1 rows":           {two(math.MaxInt64, 1), ErrRelease},
		"2^40 rows":             {two(1<<40, 1), ErrRelease},
		"2^30 rows":             {two(1<<30, 1), ErrRelease},
		"2^40 columns":          {two(1, 1<<40), ErrRelease},
		"product wraps to 0":    {two(1<<32, 1<<32), ErrRelease},
		"product wraps to 2":    {two(1<<63+1, 2), ErrRelease},
		"bytes wrap":            {two(1<<61+1, 1), ErrRelease},
		"one row more":          {two(6, 2), ErrRelease},
		"one row less":          {two(4, 2), nil},
		"as many, another form": {two(2, 5), nil},
		"text of 255 bytes":     {length(255), ErrRelease},
		"text of 65 bytes":      {length(65), ErrRelease},
		"text of 64 bytes":      {length(64), nil},
		"text of 0 bytes":       {length(0), nil},
		"step not a number":     {word(48, math.Float64bits(math.NaN())), ErrRelease},
		"sigma infinite":        {word(80, math.Float64bits(math.Inf(1))), ErrRelease},
		"private rows 2^63":     {word(136, 1<<63), ErrRelease},
		"private rows 1<<40":    {word(136, 1<<40), ErrRelease},
		"classes 2^63":          {word(184, 1<<63), ErrRelease},
	}
	for name, c := range cases {
		for by, decode := range binaryDecoders {
			var err error
			// The buffer of Read, a piece of a slice and its bytes.
			if n := allocated(func() { _, err = decode(c.data) }); n > 1<<19 {
				t.Errorf("%s, %s: %d bytes allocated for %d", name, by, n, len(c.data))
			}
			if !known(err) || c.err != nil && !is(err, c.err) {
				t.Errorf("%s, %s: error %v, want %v", name, by, err, c.err)
			}
		}
	}
}

func TestLongTextIsRefusedByItsLength(t *testing.T) {
	b := mustBinary(t, sample())
	for _, n := range []byte{maxString + 1, 255} {
		b[224] = n
		if e, ok := errors.AsType[*Error](new(Release).UnmarshalBinary(b)); !ok || e.Field != "mechanism" {
			t.Errorf("length %d: %v", n, e)
		}
	}
}

// Claims far above the data cost memory for the data, not for the claims.
func TestMemoryGrowsWithTheData(t *testing.T) {
	whole := mustBinary(t, sample())
	b := bytes.Clone(whole[:len(whole)-32])
	little.PutUint64(b[32:], 1<<25) // rows
	b = append(b, make([]byte, 4<<20)...)
	for by, decode := range binaryDecoders {
		var err error
		if n := allocated(func() { _, err = decode(b) }); n > 8*uint64(len(b)) || !is(err, ErrRelease) {
			t.Errorf("%s: %d bytes allocated for %d, error %v", by, n, len(b), err)
		}
	}
}

// A failure leaves the receiver unchanged.
func TestFailureChangesNothing(t *testing.T) {
	b, text := mustBinary(t, sample()), mustJSON(t, sample())
	b[len(b)-1]++
	if last := &text[len(text)-3]; *last == '0' {
		*last = '1'
	} else {
		*last = '0'
	}
	r := Release{Rows: 77}
	if err := r.UnmarshalBinary(b); !is(err, errChecksum) {
		t.Error(err)
	}
	if err := r.UnmarshalJSON(text); !is(err, errChecksum) {
		t.Error(err)
	}
	if !reflect.DeepEqual(r, Release{Rows: 77}) {
		t.Errorf("%+v", r)
	}
}

// limited fails after n bytes.
type limited struct{ n int }

var errDisk = errors.New("disk full")

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		n := l.n
		l.n = 0
		return n, errDisk
	}
	l.n -= len(p)
	return len(p), nil
}

func TestErrorsOfReaderAndWriterPass(t *testing.T) {
	for _, b := range [][]byte{mustBinary(t, sample()), mustJSON(t, sample())} {
		for i := range len(b) + 1 {
			in := io.MultiReader(bytes.NewReader(b[:i]), iotest.ErrReader(errDisk))
			if _, err := Read(in); !errors.Is(err, errDisk) || errors.Is(err, ErrRelease) {
				t.Fatalf("after %d bytes: %v", i, err)
			}
		}
	}
	size := len(mustBinary(t, sample()))
	for i := range size {
		if n, err := sample().WriteTo(&limited{i}); n != int64(i) || !errors.Is(err, errDisk) {
			t.Fatalf("after %d bytes: %d, %v", i, n, err)
		}
	}
	if n, err := sample().WriteTo(&limited{size}); n != int64(size) || err != nil {
		t.Fatal(n, err)
	}
}

func TestDisplacementIsExact(t *testing.T) {
	r := sample()
	d := r.Displacement()
	for i, v := range r.Grid {
		if got := d.At(i/2, i%2); int64(got/r.Step) != v {
			t.Errorf("entry %d: %g, want %d steps", i, got, v)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	r := sample()
	r.Rows, r.Columns = 100_000, 2
	r.Grid, r.Labels = make([]int64, 200_000), Labels{Mode: ModeDropped}
	for i := range r.Grid {
		r.Grid[i] = int64(i)*9_999_991 - 1<<40
	}
	finish(r, 3.8)
	binary, text := mustBinary(b, r), mustJSON(b, r)
	for name, f := range map[string]func() error{
		"form=binary/do=write": func() error { _, err := r.WriteTo(io.Discard); return err },
		"form=binary/do=read":  func() error { _, err := Read(bytes.NewReader(binary)); return err },
		"form=json/do=write":   func() error { _, err := r.MarshalJSON(); return err },
		"form=json/do=read":    func() error { _, err := Read(bytes.NewReader(text)); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(r.Grid)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

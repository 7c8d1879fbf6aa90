package release

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Text that no release wrote: edits, other spellings of the same values that
// another reader may understand differently, and text that is not a release.
func TestHostileJSON(t *testing.T) {
	whole := string(mustJSON(t, sample()))
	edit := func(pairs ...string) string {
		text := whole
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("%s is not in %s", pairs[i], whole)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	deep := strings.Repeat("[", 1<<20)
	cases := map[string]struct {
		text string
		err  error // nil when it is right
	}{
		"as written":               {whole, nil},
		"space":                    {" \n\t" + edit(`,"`, " , \"", `:1`, ` : 1`, `[`, "[ ", `,1,`, " ,\n1 , ") + "\n ", nil},
		"capital digits":           {edit(`5eed`, `5EED`), nil},
		"another order":            {edit(`"rows":5,`, ``, `"step"`, `"rows":5,"step"`), nil},
		"one written out":          {edit(`"epsilon":1,`, `"epsilon":1.00e0,`), nil},
		"escaped name":             {edit(`"record"`, `"\u0072ecord"`), nil},
		"epsilon edited":           {edit(`"epsilon":1,`, `"epsilon":1.01,`), errChecksum},
		"alpha in its last digit":  {edit(`-0.1`, `-0.10000000000000002`), errChecksum},
		"seed edited":              {edit(`551615"`, `551614"`), errChecksum},
		"ledger edited":            {edit(`"115`, `"116`), errChecksum},
		"id edited":                {edit(`5eed`, `5eee`), errChecksum},
		"grid edited":              {edit(`987654321987`, `987654321988`), errChecksum},
		"grid swapped":             {edit(`[0,1,`, `[1,0,`), errChecksum},
		"label edited":             {edit(`[2,0,1,1,2]`, `[2,0,1,1,1]`), errChecksum},
		"checksum of zeros":        {whole[:len(whole)-66] + strings.Repeat("0", 64) + `"}`, errChecksum},
		"unknown key":              {edit(`"rows"`, `"host":"x","rows"`), ErrRelease},
		"unknown key in a group":   {edit(`"sigma_q"`, `"sigma_x":1,"sigma_q"`), ErrRelease},
		"key in the wrong group":   {edit(`"delta":1e-05,`, ``, `"rows"`, `"delta":1e-05,"rows"`), ErrRelease},
		"dotted key":               {edit(`"rows"`, `"privacy.epsilon":1,"rows"`), ErrRelease},
		"key in capitals":          {edit(`"rows"`, `"Rows"`), ErrRelease},
		"empty key":                {edit(`"rows"`, `"":1,"rows"`), ErrRelease},
		"key twice":                {edit(`"rows":5`, `"rows":5,"rows":5`), ErrRelease},
		"key twice, another first": {edit(`"epsilon":1,`, `"epsilon":0.1,"epsilon":1,`), ErrRelease},
		"group twice":              {edit(`"unit"`, `"labels":{},"unit"`), ErrRelease},
		"key missing":              {edit(`"rows":5,`, ``), ErrRelease},
		"group missing":            {edit(`"labels":{"mode":"randomised","epsilon":0.5,"values":[2,0,1,1,2]},`, ``), ErrRelease},
		"no checksum":              {whole[:strings.Index(whole, `,"checksum"`)] + "}", ErrRelease},
		"null for a number":        {edit(`"epsilon":1,`, `"epsilon":null,`), ErrRelease},
		"null for the grid":        {edit(`"grid":[0,`, `"grid":null,"x":[0,`), ErrRelease},
		"null in the grid":         {edit(`[0,1,`, `[null,1,`), ErrRelease},
		"null for a group":         {edit(`"labels":{`, `"labels":null,"x":{`), ErrRelease},
		"text for a number":        {edit(`"rows":5`, `"rows":"5"`), ErrRelease},
		"number for a text":        {edit(`"record"`, `1`), ErrRelease},
		"number for the seed":      {edit(`"18446744073709551615"`, `18446744073709551615`), ErrRelease},
		"seed too large":           {edit(`"18446744073709551615"`, `"18446744073709551616"`), ErrRelease},
		"seed below zero":          {edit(`"18446744073709551615"`, `"-1"`), ErrRelease},
		"point in an integer":      {edit(`"rows":5`, `"rows":5.0`), ErrRelease},
		"exponent in the grid":     {edit(`[0,1,`, `[0,1e0,`), ErrRelease},
		"text in the grid":         {edit(`[0,1,`, `["0",1,`), ErrRelease},
		"commas in the grid":       {edit(`[0,1,`, `["0,1",`), ErrRelease},
		"array in the grid":        {edit(`[0,1,`, `[[0,1],`), ErrRelease},
		"2^63 in the grid":         {edit(`[0,`, `[9223372036854775808,`), ErrRelease},
		"2^53+1 in the grid":       {edit(`[0,`, `[9007199254740993,`), ErrRelease},
		"empty grid":               {edit(`[0,1,-1,`, `[],"x":[`), ErrRelease},
		"2^31 for a label":         {edit(`[2,0,1,1,2]`, `[2147483648,0,1,1,2]`), ErrRelease},
		"2^32 for a label":         {edit(`[2,0,1,1,2]`, `[4294967296,0,1,1,2]`), ErrRelease},
		"infinite":                 {edit(`"epsilon":1,`, `"epsilon":1e400,`), ErrRelease},
		"NaN":                      {edit(`"epsilon":1,`, `"epsilon":NaN,`), ErrRelease},
		"short id":                 {edit(`5eed`, `5e`), ErrRelease},
		"id of other digits":       {edit(`5eed`, `5exx`), ErrRelease},
		"rows of 2^62":             {edit(`"rows":5`, `"rows":4611686018427387904`), ErrRelease},
		"rows of 2^64":             {edit(`"rows":5`, `"rows":18446744073709551616`), ErrRelease},
		"another format":           {edit(`privatemail-release`, `privatemail-ledger`), ErrRelease},
		"version 2":                {edit(`"version":1`, `"version":2`), errVersion},
		"version 2, other keys":    {edit(`"version":1`, `"version":2,"x":0`), errVersion},
		"another mechanism":        {edit(`gaussian/1`, `gaussian/2`), errVersion},
		"text behind":              {whole + `x`, ErrRelease},
		"twice":                    {whole + whole, ErrRelease},
		"brace behind":             {whole + `}`, ErrRelease},
		"comma at the end":         {whole[:len(whole)-1] + ",}", ErrRelease},
		"empty":                    {"", ErrRelease},
		"space only":               {" \n", ErrRelease},
		"empty object":             {"{}", ErrRelease},
		"array":                    {"[" + whole + "]", ErrRelease},
		"number":                   {"1", ErrRelease},
		"null":                     {"null", ErrRelease},
		"deep":                     {deep, ErrRelease},
		"deep in the grid":         {edit(`[0,`, `[`+deep), ErrRelease},
		"deep in a number":         {edit(`"rows":5`, `"rows":`+deep), ErrRelease},
		"a .npy file":              {"\x93NUMPY", ErrRelease},
	}
	for name, c := range cases {
		for by, decode := range jsonDecoders {
			var got *Release
			var err error
			if n := allocated(func() { got, err = decode([]byte(c.text)) }); n > 1<<19+16*uint64(len(c.text)) {
				t.Errorf("%s, %s: %d bytes allocated for %d", name, by, n, len(c.text))
			}
			switch {
			case c.err != nil && !is(err, c.err), c.err != nil && !known(err):
				t.Errorf("%s, %s: error %v, want %v", name, by, err, c.err)
			case c.err == nil && err != nil:
				t.Errorf("%s, %s: %v", name, by, err)
			case c.err == nil && !reflect.DeepEqual(got, sample()):
				t.Errorf("%s, %s: another release", name, by)
			}
		}
	}
}

// After any change of one character the text is refused or still means the same
// release.
func TestEveryEditIsRefused(t *testing.T) {
	text := mustJSON(t, sample())
	for i, old := range text {
		for _, c := range []byte("07.-eE,:]}\" n\xff") {
			if c == old {
				continue
			}
			text[i] = c
			var r Release
			if err := r.UnmarshalJSON(text); err == nil {
				if !reflect.DeepEqual(&r, sample()) {
					t.Fatalf("byte %d as %q: %+v", i, c, r)
				}
			} else if !known(err) {
				t.Fatalf("byte %d as %q: %v", i, c, err)
			}
		}
		text[i] = old
	}
}

// A reader with only float64, as in JavaScript, reads every number exactly;
// numbers that would not fit are strings.
func TestJSONNumbersFitInFloat64(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(mustJSON(t, sample()), &doc); err != nil {
		t.Fatal(err)
	}
	for i, v := range doc["grid"].([]any) {
		if int64(v.(float64)) != sample().Grid[i] {
			t.Errorf("entry %d reads %v", i, v)
		}
	}
	if int64(doc["multiple"].(float64)) != sample().Multiple {
		t.Error(doc["multiple"])
	}
	if got := doc["query"].(map[string]any)["seed"]; got != "18446744073709551615" {
		t.Error(got)
	}
	if got := doc["ledger"]; got != "1152921504606846976" {
		t.Error(got)
	}
}

// Numbers that rounding or a lost sign would change.
func TestFloatsSurvive(t *testing.T) {
	for _, x := range []float64{
		0, math.Copysign(0, -1), 5e-324, -5e-324, 0x1.fffffffffffffp-1023, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64,
		0.1, 1.0 / 3, 1 << 53, 1<<53 + 2, 1e21, 1e22, 123456789, 1e-7, math.Pi, math.Nextafter(1, 2),
	} {
		r := sample()
		r.Query.Alpha = x
		for _, b := range [][]byte{mustBinary(t, r), mustJSON(t, r)} {
			got, err := Read(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if math.Float64bits(got.Query.Alpha) != math.Float64bits(x) {
				t.Errorf("%g became %g", x, got.Query.Alpha)
			}
		}
	}
}

// A release inside another value of package json.
func TestJSONInside(t *testing.T) {
	type message struct {
		Name    string
		Release *Release
	}
	text, err := json.MarshalIndent(message{"x", sample()}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var got message
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got.Release, sample()) {
		t.Errorf("%+v, %v", got.Release, err)
	}
}

// A dotted key at the top is not a key of the format: another reader of the
// same text sees no epsilon, or a different one.
func TestDottedKeys(t *testing.T) {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(mustJSON(t, sample()), &tree); err != nil {
		t.Fatal(err)
	}
	var privacy map[string]json.RawMessage
	if err := json.Unmarshal(tree["privacy"], &privacy); err != nil {
		t.Fatal(err)
	}
	tree["privacy.epsilon"] = privacy["epsilon"]
	delete(privacy, "epsilon")
	tree["privacy"] = encoded(t, privacy)
	_, err := Read(bytes.NewReader(encoded(t, tree)))
	wantError(t, err, ErrRelease)
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The summary has the fields that describe a release, and no released number.
func TestSummary(t *testing.T) {
	r := sample()
	text, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	var got, whole map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(mustJSON(t, r), &whole); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"format", "version", "grid", "checksum"} {
		delete(whole, key)
	}
	delete(whole["labels"].(map[string]any), "values")
	if !reflect.DeepEqual(got, whole) {
		t.Errorf("%v, want %v", got, whole)
	}
	r.Rows = 0
	if _, err := r.Summary(); !is(err, ErrRelease) {
		t.Errorf("no rows: %v", err)
	}
}

package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// format is the value of the first key of the JSON form.
const format = "privatemail-release"

// document is the JSON form: a release between its format and version and its
// checksum.
type document struct {
	format  string
	version int
	release Release
	sum     [sha256.Size]byte
}

func (d *document) fields() []field {
	list := []field{{"format", &d.format}, {"version", &d.version}}
	return append(append(list, d.release.fields()...), field{"checksum", &d.sum})
}

// MarshalJSON returns the JSON form, and the error of Check when there is one.
func (r Release) MarshalJSON() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	d := &document{format, version, r, r.checksum()}
	return appendFields(make([]byte, 0, 2048+20*len(r.Grid)+8*len(r.Labels.Values)), d.fields()), nil
}

// Summary returns the fields of the JSON form that describe the release: all except the released
// numbers, the randomised labels, the format and version, and the checksum. It is for reports, and
// nothing reads it back. The error is that of Check.
func (r *Release) Summary() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	fields := slices.DeleteFunc(r.fields(), func(f field) bool { return f.name == "grid" || f.name == "labels.values" })
	return appendFields(nil, fields), nil
}

// appendFields appends fields as an object, and each group as an object within it.
func appendFields(b []byte, fields []field) []byte {
	group, before := "", byte('{')
	for _, f := range fields {
		g, key := split(f.name)
		if g != group {
			if group != "" {
				b, before = append(b, '}'), ','
			}
			if g != "" {
				b, before = append(append(b, before), `"`+g+`":`...), '{'
			}
			group = g
		}
		b = append(append(b, before), `"`+key+`":`...)
		b = appendValue(b, f.value)
		before = ','
	}
	return append(b, '}')
}

// split returns the group of a field, "" when it has none, and its key.
func split(name string) (group, key string) {
	if group, key, ok := strings.Cut(name, "."); ok {
		return group, key
	}
	return "", name
}

func appendValue(b []byte, value any) []byte {
	switch p := value.(type) {
	case *[16]byte:
		return appendHex(b, p[:])
	case *[sha256.Size]byte:
		return appendHex(b, p[:])
	case *string: // a known name, with nothing to escape
		return strconv.AppendQuote(b, *p)
	case *int:
		return strconv.AppendInt(b, int64(*p), 10)
	case *int64:
		return strconv.AppendInt(b, *p, 10)
	case *uint64:
		return append(strconv.AppendUint(append(b, '"'), *p, 10), '"')
	case *float64:
		return strconv.AppendFloat(b, *p, 'g', -1, 64)
	case *[]int32:
		return appendIntegers(b, *p)
	case *[]int64:
		return appendIntegers(b, *p)
	}
	return b
}

func appendHex(b, value []byte) []byte {
	return append(hex.AppendEncode(append(b, '"'), value), '"')
}

func appendIntegers[T int32 | int64](b []byte, values []T) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, ']')
}

// UnmarshalJSON reads the JSON form. White space and the order of keys are
// free. When it fails, r is unchanged.
func (r *Release) UnmarshalJSON(data []byte) error { return r.readJSON(bytes.NewReader(data)) }

func (r *Release) readJSON(in io.Reader) error {
	var d document
	p := &parser{json.NewDecoder(in), d.fields(), make(map[string]bool)}
	p.UseNumber()
	if err := p.object(""); err != nil {
		return jsonError(err)
	}
	switch _, err := p.Token(); {
	case err == nil:
		return refuse("", "text follows the release")
	case err != io.EOF:
		return jsonError(err)
	}
	for _, f := range p.fields {
		if !p.seen[f.name] {
			return refuse(f.name, "is missing")
		}
	}
	if d.format != format {
		return refuse("format", "want %s", format)
	}
	if err := d.release.Check(); err != nil {
		return err
	}
	if d.release.checksum() != d.sum {
		return &Error{Detail: "the text was changed", Err: errChecksum}
	}
	*r = d.release
	return nil
}

// jsonError turns an error of package json into an *Error and returns others
// unchanged.
func jsonError(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return refuse("", "%v", err)
	}
	return readError(err)
}

// parser walks the object by its tokens, because package json accepts a
// repeated key, a key that differs in case, and null for any number. Another
// reader could then see a different release in the same text.
type parser struct {
	*json.Decoder
	fields []field
	seen   map[string]bool
}

// object reads one object whose keys are fields with the given prefix.
func (p *parser) object(prefix string) error {
	if t, err := p.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return refuse(strings.TrimSuffix(prefix, "."), "want an object")
	}
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // package json returns only strings as keys
		name := prefix + key
		if strings.Contains(key, ".") { // the dot of a name stands for a group
			return refuse("", "unknown key %.64q", name)
		}
		if p.seen[name] {
			return refuse(name, "occurs twice")
		}
		if err := p.value(name); err != nil {
			return err
		}
		p.seen[name] = true
	}
	_, err := p.Token()
	return err
}

// value reads the value of the key: a field, or a group of them.
func (p *parser) value(name string) error {
	for _, f := range p.fields {
		switch group, _ := split(f.name); {
		case f.name == name:
			return p.field(f)
		case group != "" && group == name:
			return p.object(group + ".")
		}
	}
	return refuse("", "unknown key %.64q", name)
}

func (p *parser) field(f field) error {
	switch target := f.value.(type) {
	case *[]int32:
		return p.integers(f.name, (*integers[int32])(target))
	case *[]int64:
		return p.integers(f.name, (*integers[int64])(target))
	}
	t, err := p.Token()
	if err != nil {
		return err
	}
	text, isText := t.(string)
	number, isNumber := t.(json.Number)
	switch target := f.value.(type) {
	case *[16]byte:
		isText = isText && decodeHex(target[:], text)
	case *[sha256.Size]byte:
		isText = isText && decodeHex(target[:], text)
	case *uint64:
		*target, err = strconv.ParseUint(text, 10, 64)
	case *string:
		*target = text
	default:
		isText, err = isNumber, parseNumber(target, string(number))
	}
	if !isText || err != nil {
		return refuse(f.name, "has the wrong type")
	}
	if f.name == "version" && string(number) != strconv.Itoa(version) {
		return versionError(string(number))
	}
	return nil
}

// decodeHex reports whether text is dst in hexadecimal digits, and sets it.
func decodeHex(dst []byte, text string) bool {
	if len(text) != hex.EncodedLen(len(dst)) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}

func parseNumber(target any, text string) (err error) {
	switch p := target.(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *int64:
		*p, err = strconv.ParseInt(text, 10, 64)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	}
	return err
}

// integers reads an array of them.
func (p *parser) integers(name string, target json.Unmarshaler) error {
	err := p.Decode(target)
	if errors.Is(err, errIntegers) {
		return refuse(name, "want an array of integers of the right size")
	}
	return err
}

var errIntegers = errors.New("not an array of integers")

// integers reads an array of numbers without point or exponent. The package's
// own decoder would take null for 0.
type integers[T int32 | int64] []T

func (list *integers[T]) UnmarshalJSON(b []byte) error {
	if b[0] != '[' { // b is well-formed and without space around it
		return errIntegers
	}
	if b = bytes.TrimSpace(b[1 : len(b)-1]); len(b) == 0 {
		*list = nil
		return nil
	}
	out := make([]T, 0, bytes.Count(b, []byte{','})+1)
	for more := true; more; {
		var item []byte
		item, b, more = bytes.Cut(b, []byte{','})
		v, err := strconv.ParseInt(string(bytes.TrimSpace(item)), 10, 64)
		if err != nil || int64(T(v)) != v {
			return errIntegers
		}
		out = append(out, T(v))
	}
	*list = out
	return nil
}

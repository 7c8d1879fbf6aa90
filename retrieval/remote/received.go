package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// received is what has come of a body, in this try and in those before it.
type received struct {
	data    []byte
	tag     string // the hash of the whole body, "" where the server does not say
	part    *part  // keeps data for a later process; nil if nothing does
	resumed bool   // data began in an earlier try
}

// resumable reports whether the server can be asked for the rest.
func (r *received) resumable() bool { return len(r.data) > 0 && r.tag != "" }

// reset forgets what has come.
func (r *received) reset() { r.begin("") }

// begin forgets what has come, and notes the hash of what is to come.
func (r *received) begin(tag string) {
	r.data, r.tag, r.resumed = r.data[:0], tag, false
	r.part.begin(tag)
}

// errStalled ends a try.
var errStalled = errors.New("nothing came for too long")

const (
	pace     = 16 << 10  // bytes that must come before the wait is over, and that are progress
	piece    = 256 << 10 // bytes that are read at once, at most
	headSize = 64        // enough to see whether a body is a message
)

// read adds a body to what has come. total is its length, or -1. Memory is taken as bytes
// come. onPace is called whenever another 16 KiB have come.
func (r *received) read(ctx context.Context, o *order, body io.Reader, total int64, onPace func(), progress func(done int64)) error {
	end := total
	if total < 0 {
		end = min(o.most, o.room, math.MaxInt64-1) + 1 // one more than is allowed shows that there are too many
	}
	r.resumed = len(r.data) > 0
	looked, paced := r.resumed, int64(len(r.data))
	for int64(len(r.data)) < end {
		have := len(r.data)
		next := have + int(min(piece, end-int64(have)))
		r.data = grow(r.data, next, end)
		n, err := body.Read(r.data[have:next])
		r.data = r.data[:have+n]
		if done := int64(len(r.data)); n > 0 && (done-paced >= pace || done == end) {
			paced = done
			onPace()
			progress(done)
		}
		ended := err == io.EOF && (total < 0 || int64(len(r.data)) == total)
		if !looked && o.frame && (len(r.data) >= headSize || ended) {
			if looked = true; !isFrame(r.data) {
				r.reset()
				return wrong(o, "its body does not begin like a message; is there a proxy on the way, or another service?")
			}
		}
		r.part.add(r.data[have:])
		if ended {
			break
		}
		if err != nil {
			return r.cutOff(ctx, o, err)
		}
	}
	if int64(len(r.data)) > o.room {
		r.reset()
		return tooLong(o)
	}
	if int64(len(r.data)) > o.most {
		r.reset()
		return wrong(o, "more than the %d bytes that are expected", o.most)
	}
	return nil
}

// grow returns data with room for need bytes, of a body of at most end. Memory is at most four
// times what has come, and all that is taken on the way is a third more than end.
func grow(data []byte, need int, end int64) []byte {
	if cap(data) >= need {
		return data
	}
	size := end
	for size/4 >= max(int64(need), piece) {
		size /= 4
	}
	if size > math.MaxInt {
		size = int64(need)
	}
	return append(make([]byte, 0, size), data...)
}

// cutOff is for a body that ends early. What has come stays if the rest can be asked for.
func (r *received) cutOff(ctx context.Context, o *order, err error) error {
	have := len(r.data)
	if !r.resumable() {
		r.reset()
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errStalled) {
		return cause
	} else if cause != nil {
		err = cause
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return again(o, "%w: it was cut off after %d bytes: %w", ErrUnreachable, have, err)
}

// isFrame looks at the first bytes of a body.
func isFrame(head []byte) bool {
	return wire.IsFrame(head[:min(len(head), headSize)])
}

// verify refuses a body that was changed on its way, or is not what is due. One that may be
// better the next time is forgotten.
func (r *received) verify(o *order) error {
	if r.tag != "" {
		if sum := sha256.Sum256(r.data); hex.EncodeToString(sum[:]) != r.tag {
			r.reset()
			return again(o, "%w: it was changed on its way", ErrResponse)
		}
	}
	if o.exact > 0 && int64(len(r.data)) != o.exact {
		have := len(r.data)
		r.reset()
		return again(o, "%w: %d bytes came, and %d are due", ErrResponse, have, o.exact)
	}
	err := o.check(r.data)
	if err == nil {
		return nil
	}
	resumed := r.resumed
	r.reset()
	if resumed || errors.Is(err, wire.ErrChecksum) {
		return again(o, "%w: %w", ErrResponse, err)
	}
	return fmt.Errorf("remote: the %s: %w: %w", o.what, ErrResponse, err)
}

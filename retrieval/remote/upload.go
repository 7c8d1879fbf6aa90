package remote

import (
	"bytes"
	"io"
	"net/http"
)

// upload gives a request its body, the same bytes whenever they are sent. onPace is called
// whenever another 16 KiB were taken.
func upload(request *http.Request, body []byte, onPace func()) {
	request.ContentLength = int64(len(body))
	request.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(&pacing{from: bytes.NewReader(body), onPace: onPace}), nil
	}
	request.Body, _ = request.GetBody() // it has no error
}

// A pacing reader reports how it gets on.
type pacing struct {
	from   io.Reader
	onPace func()
	since  int // bytes since the last call of onPace
}

// Read implements io.Reader.
func (p *pacing) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if p.since += n; p.since >= pace {
		p.since = 0
		p.onPace()
	}
	return n, err
}

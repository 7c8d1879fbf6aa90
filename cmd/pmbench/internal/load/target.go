package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// loadTimeout is how long one answer may take.
const loadTimeout = 5 * time.Minute

// newLoadClient returns an HTTP client with a connection for each of many callers. It
// asks for no compression, as every client of a service must.
func newLoadClient() *http.Client {
	return &http.Client{Timeout: loadTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 1 << 16, DisableCompression: true}}
}

// A loadTarget is what many clients ask for at once.
type loadTarget struct {
	http  *http.Client
	token string
	ask   func(ctx context.Context) error
	bytes int64 // of an answer
	close func()
}

func newLoadTarget(token string) *loadTarget {
	t := &loadTarget{http: newLoadClient(), token: token}
	t.close = t.http.CloseIdleConnections
	return t
}

// takeFile lets clients ask for a file.
func (t *loadTarget) takeFile(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return err
	}
	response, err := t.http.Do(request)
	if err != nil {
		return err
	}
	if t.bytes = response.ContentLength; t.bytes < 0 || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s and no length", response.Request.URL.Path, response.Status)
	}
	t.ask = func(ctx context.Context) error { return t.sendWhole(ctx, http.MethodGet, address, nil, io.Discard) }
	return response.Body.Close()
}

// takeCells lets clients ask a service for the lists of cells that chance picks. With the
// name of a gallery file every answer is held against those of the file.
func (t *loadTarget) takeCells(ctx context.Context, address string, encoding wire.Encoding, file string) error {
	var frame bytes.Buffer
	if _, err := t.send(ctx, http.MethodGet, address+"/v1/codebook", nil, &frame, 1<<30); err != nil {
		return err
	}
	var book wire.Codebook
	if err := book.UnmarshalBinary(frame.Bytes()); err != nil {
		return err
	}
	hash, err := book.Hash()
	if err != nil {
		return err
	}
	t.bytes = book.AnswerBytes(encoding)
	lists := address + "/v1/cells?encoding=" + encoding.String()
	check := func(*wire.CellsRequest, []byte) error { return nil }
	if file != "" {
		if check, err = t.against(ctx, file, hash, encoding); err != nil {
			return err
		}
	}
	t.ask = func(ctx context.Context) error {
		request := &wire.CellsRequest{Codebook: hash, Cells: someCells(&book)}
		body, err := request.MarshalBinary()
		if err != nil {
			return err
		}
		if file == "" {
			return t.sendWhole(ctx, http.MethodPost, lists, body, io.Discard)
		}
		answer := bytes.NewBuffer(make([]byte, 0, t.bytes+bytes.MinRead))
		if err := t.sendWhole(ctx, http.MethodPost, lists, body, answer); err != nil {
			return err
		}
		return check(request, answer.Bytes())
	}
	return nil
}

// someCells returns as many cells as a request names, as chance picks them.
func someCells(book *wire.Codebook) (cells []uint32) {
	first := rand.IntN(book.Cells() - book.Size + 1)
	for i := range book.Size {
		cells = append(cells, uint32(first+i))
	}
	return cells
}

// against returns a function that holds an answer against that of a gallery file.
func (t *loadTarget) against(ctx context.Context, file string, hash wire.Hash, encoding wire.Encoding) (func(*wire.CellsRequest, []byte) error, error) {
	gallery, err := server.OpenCells(ctx, file)
	if err != nil {
		return nil, err
	}
	idle := t.close
	t.close = func() { idle(); gallery.Close() }
	if own, err := gallery.Codebook().Hash(); err != nil || own != hash {
		return nil, errors.Join(err, errors.New("the service has another codebook than the gallery file"))
	}
	return func(request *wire.CellsRequest, answer []byte) error {
		own := &equalTo{left: answer}
		if _, err := gallery.WriteAnswer(own, request, encoding); err != nil {
			return err
		}
		if own.differs || len(own.left) > 0 {
			return errors.New("an answer is not that of the gallery file")
		}
		return nil
	}, nil
}

// equalTo compares what is written with bytes that are there.
type equalTo struct {
	left    []byte
	differs bool
}

func (e *equalTo) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(e.left, b) {
		e.differs = true
		return len(b), nil
	}
	e.left = e.left[len(b):]
	return len(b), nil
}

// send writes the body of a response of at most some bytes to w, and returns their number.
func (t *loadTarget) send(ctx context.Context, method, url string, body []byte, w io.Writer, most int64) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	return receive(t.http, request, w, most)
}

// sendWhole is send for an answer, which has as many bytes as were announced: what is shorter
// would be measured as if it were fast.
func (t *loadTarget) sendWhole(ctx context.Context, method, url string, body []byte, w io.Writer) error {
	n, err := t.send(ctx, method, url, body, w, t.bytes)
	if err == nil && n < t.bytes {
		err = fmt.Errorf("an answer of %d bytes, and %d were expected", n, t.bytes)
	}
	return err
}

// receive writes the body of a good response to w, and returns its length. An answer that is longer than most is
// an error, and so is a status that is not 200.
func receive(by *http.Client, request *http.Request, w io.Writer, most int64) (int64, error) {
	response, err := by.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return 0, fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, strings.TrimSpace(string(text)))
	}
	n, err := io.Copy(w, io.LimitReader(response.Body, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("%s %s: more than the %d bytes that were expected", request.Method, request.URL.Path, most)
	}
	return n, err
}

// askAll lets some clients ask one query after the other until there were that many, and
// returns the seconds of each.
func askAll(ctx context.Context, ask func(context.Context) error, clients, queries int) ([]float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seconds := make([]float64, queries)
	errs := make([]error, clients)
	var next atomic.Int64
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(queries) && errs[c] == nil; i = next.Add(1) - 1 {
				began := time.Now()
				if errs[c] = ask(ctx); errs[c] != nil {
					cancel() // the others need not go on
				}
				seconds[i] = time.Since(began).Seconds()
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return seconds, errors.Join(errs...)
}

// residentMemory reads the memory of a service from its metrics.
func residentMemory(ctx context.Context, url string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	var text bytes.Buffer
	if _, err := receive(http.DefaultClient, request, &text, 1<<20); err != nil {
		return 0, err
	}
	const name = "process_resident_memory_bytes "
	for lines := bufio.NewScanner(&text); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name); ok {
			bytes, err := strconv.ParseFloat(value, 64)
			return int64(bytes), err
		}
	}
	return 0, fmt.Errorf("no line %s", strings.TrimSpace(name))
}

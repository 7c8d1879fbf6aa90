package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A message goes out in large blocks, whole and in ranges, from memory and from elsewhere.
func TestMessageInBlocks(t *testing.T) {
	all := make([]byte, 3*contentBlock+17)
	for i := range all {
		all[i] = byte(i * 7 >> 3)
	}
	failure := errors.New("own")
	fetched := 0
	content := &Content{Length: int64(len(all)), ReadAt: func(_ context.Context, p []byte, at int64) error {
		fetched += len(p)
		copy(p, all[at:])
		return nil
	}}
	broken := &Content{Length: int64(len(all)), ReadAt: func(_ context.Context, p []byte, at int64) error {
		if at > 0 {
			return failure
		}
		copy(p, all[at:])
		return nil
	}}
	serve := func(from io.ReadSeeker, ranged string) (*paced, *heldWriter) {
		w := &paced{header: http.Header{"Content-Type": {frameType}}, deadline: time.Now().Add(time.Hour)}
		held := &heldWriter{ResponseWriter: w}
		r := httptest.NewRequest("GET", "/", nil)
		if ranged != "" {
			r.Header.Set("Range", ranged)
		}
		http.ServeContent(held, r, "", time.Time{}, from)
		return w, held
	}
	size := len(all)
	for ranged, c := range map[string][2]int{
		"": {0, size}, "bytes=10-": {10, size}, "bytes=5-600000": {5, 600001}, "bytes=-7": {size - 7, size}, "bytes=0-0": {0, 1},
		fmt.Sprintf("bytes=%d-%d", contentBlock-1, contentBlock): {contentBlock - 1, contentBlock + 1},
	} {
		want := all[c[0]:c[1]]
		for name, from := range map[string]io.ReadSeeker{
			"memory":    &memoryReader{bytes.NewReader(all), all},
			"elsewhere": &contentReader{ctx: t.Context(), content: content},
		} {
			fetched = 0
			w, _ := serve(from, ranged)
			if name == "elsewhere" && fetched != len(want) {
				t.Errorf("%q: %d bytes are fetched for %d", ranged, fetched, len(want))
			}
			if !bytes.Equal(w.took.Bytes(), want) {
				t.Errorf("%s, %q: %d bytes, want %d", name, ranged, w.took.Len(), len(want))
			}
			if len(want) > contentBlock && w.longest < contentBlock {
				t.Errorf("%s, %q: blocks of %d bytes", name, ranged, w.longest)
			}
		}
	}
	from := &contentReader{ctx: t.Context(), content: broken}
	if w, _ := serve(from, ""); from.err != failure || !bytes.Equal(w.took.Bytes(), all[:contentBlock]) {
		t.Errorf("%d bytes before the failure, %v", w.took.Len(), from.err)
	}
	if w, held := serve(&memoryReader{bytes.NewReader(all), all}, "bytes=99999999-"); held.status != http.StatusRequestedRangeNotSatisfiable || w.took.Len() > 0 {
		t.Errorf("a range behind the end: status %d, %d bytes", held.status, w.took.Len())
	}
	if n, err := (&heldWriter{ResponseWriter: &paced{deadline: time.Now().Add(time.Hour)}}).ReadFrom(bytes.NewReader(all)); n != int64(size) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

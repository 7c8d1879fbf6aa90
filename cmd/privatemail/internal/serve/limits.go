package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// defaultLimits are the times and numbers that a file of -limits may change.
func defaultLimits() service.Settings {
	return service.Settings{
		Drain: 10 * time.Minute, Header: 10 * time.Second, Read: 30 * time.Second, Idle: 2 * time.Minute,
		Stall: 30 * time.Second, Shutdown: 30 * time.Second, SealedMost: 16,
	}
}

// readLimits changes the limits that a file of -limits names: an object of JSON, whose times are
// strings such as "30s".
func readLimits(path string, s *service.Settings) error {
	f, err := os.Open(path)
	if err != nil {
		return files.Missing(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	times := map[string]*time.Duration{
		"drain": &s.Drain, "header": &s.Header, "read": &s.Read, "idle": &s.Idle, "stall": &s.Stall,
		"delay": &s.Delay, "shutdown": &s.Shutdown, "sealed_wait": &s.SealedWait,
	}
	mayBeZero := map[string]bool{"drain": true, "delay": true, "sealed_wait": true}
	counts := map[string]*int{"connections": &s.MaxConnections, "burst": &s.Burst, "sealed_most": &s.SealedMost}
	names, values, err := readObject(data)
	if err != nil {
		return fmt.Errorf(`%s: want an object of JSON such as {"drain": "5m"}: %w`, path, err)
	}
	for i, name := range names {
		var err error
		value := values[i]
		switch {
		case slices.Contains(names[:i], name):
			err = errors.New("it is there twice")
		case times[name] != nil:
			*times[name], err = readTime(value, mayBeZero[name])
		case counts[name] != nil:
			*counts[name], err = readCount(value)
		default:
			err = errors.New("there is no such limit")
		}
		if err != nil {
			return fmt.Errorf("%s: %q: %w", path, name, err)
		}
	}
	return nil
}

// readObject returns the names and values of an object, in their order, which is all that data holds.
func readObject(data []byte) (names []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil {
		return nil, nil, err
	} else if first != json.Delim('{') {
		return nil, nil, errors.New("it is not an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, errors.New("something follows it")
	}
	return names, values, nil
}

func readTime(value json.RawMessage, mayBeZero bool) (time.Duration, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return 0, errors.New(`want a time such as "30s"`)
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
		return 0, errors.New(`want a time such as "30s"`)
	case d == 0 && !mayBeZero:
		return 0, errors.New("want a time above 0")
	}
	return d, nil
}

func readCount(value json.RawMessage) (int, error) {
	var n int
	if err := json.Unmarshal(value, &n); err != nil || n < 1 || n > math.MaxInt32 {
		return 0, errors.New("want a whole number of 1 or more")
	}
	return n, nil
}

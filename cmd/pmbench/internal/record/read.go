package record

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Read reads a recording: objects of run -json and of peers -json.
func Read(path string) (records []*Record, ratios []*Ratio, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for line := 1; ; line++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err == io.EOF {
			return records, ratios, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: object %d: %w", path, line, err)
		}
		var kind struct{ Suite, Peer string }
		if err := json.Unmarshal(raw, &kind); err != nil || kind.Suite == "" {
			return nil, nil, fmt.Errorf("%s: object %d is no measurement of run or peers", path, line)
		}
		if kind.Peer != "" {
			r := new(Ratio)
			err, ratios = json.Unmarshal(raw, r), append(ratios, r)
		} else {
			r := new(Record)
			err, records = json.Unmarshal(raw, r), append(records, r)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: object %d: %w", path, line, err)
		}
	}
}

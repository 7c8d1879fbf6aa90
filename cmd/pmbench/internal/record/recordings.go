package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Folder creates the folder for the recordings of a machine below the one that
// was asked for, and checks before long work whether files can be put there. Recordings
// made with PM_SIMD have a folder of their own in that of the family.
func Folder(below string, m *Machine) (string, error) {
	if below == "" {
		return "", nil
	}
	folder := filepath.Join(below, slug(m.Family()))
	if m.Asked != "" {
		folder = filepath.Join(folder, slug(m.Setting()))
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	return folder, cli.CheckPlace(filepath.Join(folder, "recording.jsonl"))
}

// Write writes the objects of a suite to a file of the folder, one a line, whole
// or not at all, and returns its name. A run that a signal has ended writes it too. What
// ended early does not take the place of what did not.
func Write[T any](ctx context.Context, folder, name string, early bool, objects []T) (path string, err error) {
	path = filepath.Join(folder, name+".jsonl")
	if early {
		path = EarlyName(path)
	}
	return path, WriteWhole(ctx, path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		e := json.NewEncoder(b)
		for _, x := range objects {
			if err := e.Encode(x); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}

// WriteWhole is formats.WriteFile for results that are kept though a signal has ended the
// run.
func WriteWhole(ctx context.Context, path string, write func(io.Writer) error) error {
	return formats.WriteFile(context.WithoutCancel(ctx), path, write)
}

// EarlyName is where a recording goes that ended early: next to the file that was asked
// for, which may hold a whole one, or into it where it is a pipe or a device.
func EarlyName(path string) string {
	if strings.HasPrefix(path, "/dev/") {
		return path
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return path
	}
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "-ended-early" + extension
}

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
			return nil, nil, fmt.Errorf("%s: object %d is not a measurement of run or peers", path, line)
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

// Keep keeps the measurements or ratios of a suite in a recording of the folder, if
// there is a folder, and returns how the suite ended.
func Keep[T any](ctx context.Context, e *cli.Env, folder, name string, objects []T, ended error) error {
	if ended != nil {
		ended = errors.Join(ctx.Err(), ended) // a peer that ended with us did not fail
	}
	if folder == "" || len(objects) == 0 {
		return ended
	}
	path, err := Write(ctx, folder, name, ended != nil, objects)
	if err != nil {
		return EndedWith(ctx, ended, err)
	}
	e.Note("recorded in %s", path)
	return ended
}

// EndedWith adds the failure to write a file to how a run ended. Where a signal has ended
// the run, the failure alone is returned: of both together the command would say
// "interrupted" and no more.
func EndedWith(ctx context.Context, ended, failure error) error {
	if failure != nil && ctx.Err() != nil && errors.Is(ended, ctx.Err()) {
		return failure
	}
	return errors.Join(ended, failure)
}

// PartName is how the name of a recording ends whose flags choose a part of a suite, and
// nothing where they choose none: a part does not take the place of a recording of the
// whole. It begins with letters and digits of the flags and ends with a checksum of all of
// them, for patterns that differ can have the same letters.
func PartName(flags ...string) string {
	all := strings.Join(flags, "\n")
	if strings.Trim(all, "\n") == "" {
		return ""
	}
	const most = 40 // systems limit the length of a name
	letters := slug(all)
	return fmt.Sprintf("-part-%s-%08x", letters[:min(len(letters), most)], crc32.ChecksumIEEE([]byte(all)))
}

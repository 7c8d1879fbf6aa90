package files

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/lock"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
)

// OwnCache is the folder of this program among the caches of the user.
func OwnCache() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "privatemail"), nil
}

// GalleriesOf is the folder of what query takes from servers.
func GalleriesOf(own string) string { return filepath.Join(own, "galleries") }

// Cached is something in a folder of the cache.
type Cached struct {
	Path  string
	What  string
	Bytes int64
	Time  time.Time
	Ours  bool
	Why   string // it stays
	held  bool   // who makes it has locked it
}

// CachedIn lists a folder. kind says what a file is, "" where it is not one of our files.
func CachedIn(ctx context.Context, folder string, kind func(path, name string) string) (cached []Cached, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := filepath.Join(folder, entry.Name())
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) { // it was removed a moment ago
			continue
		}
		if err != nil {
			return nil, err
		}
		if path == GalleriesOf(folder) { // a folder, or a link to one
			if there, err := os.Stat(path); err == nil && there.IsDir() {
				continue
			}
		}
		c := Cached{Path: path, Bytes: info.Size(), Time: info.ModTime()}
		if info.Mode().IsRegular() {
			c.held = strings.HasSuffix(path, partEnding) || strings.HasSuffix(path, temporaryEnding)
			c.What = kind(path, entry.Name())
		}
		if c.Ours = c.What != ""; !c.Ours {
			c.What, c.Why = "something else", "not made by this program"
		}
		cached = append(cached, c)
	}
	return cached, nil
}

const (
	partEnding      = ".part"
	temporaryEnding = ".tmp"
)

var (
	temporaryName = regexp.MustCompile(`^\..*privatemail-(new-)?[0-9a-z]{1,13}\.tmp$`)
	galleryName   = regexp.MustCompile(`^[0-9a-f]{64}\.(codebook|map|base-[a-z0-9]+|rows|manifest|hint|ids|sealed-map|records-hint)(\.part)?$`)
)

// GalleryThings are the things of galleries by the ends of their names.
var GalleryThings = map[string]string{
	"codebook": "codebook of a gallery", "map": "map of a gallery", "rows": "a whole gallery of mode all",
	"manifest": "manifest of mode sealed", "hint": "hint of mode sealed", "ids": "row numbers of mode sealed",
	"sealed-map": "map of mode sealed", "records-hint": "hint for the records of mode sealed",
}

// GalleryFile says what a file of the galleries is.
func GalleryFile(_, name string) string {
	if temporaryName.MatchString(name) {
		return "file that is being written, or was left"
	}
	match := galleryName.FindStringSubmatch(name)
	if match == nil {
		return ""
	}
	what, ok := GalleryThings[match[1]]
	if !ok {
		what = "base sample of a gallery"
	}
	if match[2] != "" {
		return "part of a download, " + what
	}
	return what
}

// largestSpeed is more than a file with measurements has.
const largestSpeed = 1 << 16

// speedName is that of a file with measurements, which is a JSON object.
var speedName = regexp.MustCompile(`^calibration-[a-z0-9,=_-]+\.json$`)

// SpeedFile says what a file next to the galleries is.
func SpeedFile(path, name string) string {
	if temporaryName.MatchString(name) {
		return "file that is being written, or was left"
	}
	info, err := os.Stat(path)
	if !speedName.MatchString(name) || err != nil || info.Size() > largestSpeed {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var content struct{ Level string }
	if json.Unmarshal(data, &content) != nil {
		return ""
	}
	if content.Level == "" {
		return "measured speed of this machine"
	}
	return "measured speed of this machine, level " + text.Harmless(content.Level)
}

// ErrInUse is a file that a running process has locked.
var ErrInUse = errors.New("in use")

// Remove removes a file. What is made piece by piece is locked while somebody works on it, and
// stays then. Others are complete, and a process that reads one has it open and can go on.
func (c *Cached) Remove() error {
	if c.held {
		f, err := lock.Open(c.Path, 0)
		switch {
		case errors.Is(err, lock.ErrHeld):
			return ErrInUse
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && runtime.GOOS == "windows":
			f.Close() // what is open cannot be removed there
		case err == nil:
			defer f.Close()
		case !errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("%s: %w", c.Path, withoutPath(err))
		}
	}
	if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", c.Path, withoutPath(err))
	}
	return nil
}

// withoutPath is an error of the system without the path it carries.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// ConnectionFlags say how a server is reached.
type ConnectionFlags struct {
	Token, CA, Cert, Key string
	ClearToken, proxy    bool
	Stall                time.Duration
	Tries                int
}

func (f *ConnectionFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.Token, "token-file", "", "send the token in the first line of `FILE`")
	fs.BoolVar(&f.ClearToken, "clear-token", false, "send the token over http to another machine\nwhere everybody on the way can read it")
	fs.StringVar(&f.CA, "ca", "", "trust servers whose certificate one of `FILE` has signed\n(PEM), and no others (default: those that the system trusts)")
	fs.StringVar(&f.Cert, "cert", "", "show the certificate in `FILE` (PEM) to the server; needs -key")
	fs.StringVar(&f.Key, "key", "", "`FILE` with the key of -cert (PEM)")
	fs.BoolVar(&f.proxy, "proxy", false, "use the proxies that the environment names\nin HTTP_PROXY, HTTPS_PROXY and NO_PROXY (default: no proxy)")
	fs.DurationVar(&f.Stall, "stall", 30*time.Second, "give a try up after `TIME` without progress\nwithout a connection or without 16 KiB of an answer")
	cli.CountVar(fs, &f.Tries, "tries", 5, "give up after `N` tries without progress")
}

func (f *ConnectionFlags) Check() error {
	switch {
	case (f.Cert == "") != (f.Key == ""):
		return cli.Usagef("-cert and -key go together: the certificate and its key")
	case f.Stall <= 0:
		return cli.Usagef("-stall: want a time above 0, such as 30s")
	}
	return nil
}

// Settings reads the files that the flags name.
func (f *ConnectionFlags) Settings() (s remote.Settings, err error) {
	s = remote.Settings{ClearToken: f.ClearToken, Proxy: f.proxy, Stall: f.Stall, Tries: f.Tries}
	if f.Token != "" {
		if s.Token, err = readToken(f.Token); err != nil {
			return s, err
		}
	}
	if f.CA == "" && f.Cert == "" {
		return s, nil
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		data, err := readSmall(f.CA)
		if err != nil {
			return s, err
		}
		s.TLS.RootCAs = x509.NewCertPool()
		if !s.TLS.RootCAs.AppendCertsFromPEM(data) {
			return s, fmt.Errorf("%s: no certificate in it (PEM)", f.CA)
		}
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return s, fmt.Errorf("%s and %s: %w", f.Cert, f.Key, err)
		}
		s.TLS.Certificates = []tls.Certificate{pair}
	}
	return s, nil
}

// readToken returns the first line of a file. No message holds anything of it.
func readToken(path string) (string, error) {
	data, err := readSmall(path)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return "", fmt.Errorf("%s: the first line is empty, want a token there", path)
	}
	for _, b := range line {
		if b <= ' ' || b >= 0x7f {
			return "", fmt.Errorf("%s: the first line has characters that no token has", path)
		}
	}
	return string(line), nil
}

// readSmall reads a file of at most 1 MiB, such as a certificate.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Missing(path, err)
	}
	defer f.Close()
	const most = 1 << 20
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		err = errors.New("longer than 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// CacheFolder returns the folder of -cache, "" for none.
func CacheFolder(e *cli.Env, given string) string {
	switch given {
	case "":
		folder, err := OwnCache()
		if err != nil {
			e.Note("no cache: %v; -cache FOLDER names one", err)
			return ""
		}
		return GalleriesOf(folder)
	case "none":
		return ""
	}
	return given
}

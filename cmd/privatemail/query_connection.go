package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
)

// connectionFlags say how a server is reached.
type connectionFlags struct {
	token, ca, cert, key string
	clearToken, proxy    bool
	stall                time.Duration
	tries                int
}

func (f *connectionFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&f.token, "token-file", "", "send the token in the first line of `FILE`")
	fs.BoolVar(&f.clearToken, "clear-token", false, "send the token over http to another machine, where everybody on the way can read it")
	fs.StringVar(&f.ca, "ca", "", "trust servers whose certificates are signed by one in `FILE` (PEM), and no others (default: those that the system trusts)")
	fs.StringVar(&f.cert, "cert", "", "show the certificate in `FILE` (PEM) to the server; needs -key")
	fs.StringVar(&f.key, "key", "", "`FILE` with the key of -cert (PEM)")
	fs.BoolVar(&f.proxy, "proxy", false, "use the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name (default: no proxy)")
	fs.DurationVar(&f.stall, "stall", 30*time.Second, "give a try up after `TIME` without a connection or without 16 KiB of an answer")
	cli.CountVar(fs, &f.tries, "tries", 5, "give up after `N` tries without progress")
}

func (f *connectionFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.Usagef("-cert and -key go together: the certificate and its key")
	case f.stall <= 0:
		return cli.Usagef("-stall: want a time above 0, such as 30s")
	}
	return nil
}

// settings reads the files that the flags name.
func (f *connectionFlags) settings() (s remote.Settings, err error) {
	s = remote.Settings{ClearToken: f.clearToken, Proxy: f.proxy, Stall: f.stall, Tries: f.tries}
	if f.token != "" {
		if s.Token, err = readToken(f.token); err != nil {
			return s, err
		}
	}
	if f.ca == "" && f.cert == "" {
		return s, nil
	}
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		text, err := readSmall(f.ca)
		if err != nil {
			return s, err
		}
		s.TLS.RootCAs = x509.NewCertPool()
		if !s.TLS.RootCAs.AppendCertsFromPEM(text) {
			return s, fmt.Errorf("%s: no certificate in it (PEM)", f.ca)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return s, fmt.Errorf("%s and %s: %w", f.cert, f.key, err)
		}
		s.TLS.Certificates = []tls.Certificate{pair}
	}
	return s, nil
}

// readToken returns the first line of a file. No message holds anything of it.
func readToken(path string) (string, error) {
	text, err := readSmall(path)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return "", fmt.Errorf("%s: the first line is empty, and a token is wanted there", path)
	}
	for _, b := range line {
		if b <= ' ' || b >= 0x7f {
			return "", fmt.Errorf("%s: the first line has letters that no token has", path)
		}
	}
	return string(line), nil
}

// readSmall reads a file that is no longer than certificates are.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(path, err)
	}
	defer f.Close()
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = errors.New("longer than 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// cacheFolder returns the folder of -cache, "" for none.
func cacheFolder(e *cli.Env, given string) string {
	switch given {
	case "":
		folder, err := ownCache()
		if err != nil {
			e.Note("no cache: %v; -cache FOLDER names one", err)
			return ""
		}
		return galleriesOf(folder)
	case "none":
		return ""
	}
	return given
}

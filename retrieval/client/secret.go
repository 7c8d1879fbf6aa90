package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// secretSize is the length of the secret of a memory.
const secretSize = 32

// The file of a folder's secret, little-endian:
//
//	 0 magic
//	 8 version, uint32
//	12 1 if the folder has sets of the formats before there was a secret, else 0, uint32
//	16 secret
//	48 first 16 bytes of SHA-256 of all before
const (
	secretName    = "key"
	secretMagic   = "PMMEMKEY"
	secretVersion = 1
	secretSum     = 16
	secretFile    = 16 + secretSize + secretSum
)

var (
	errSecret     = errors.New("the file of its key is damaged: put back a copy; without one, name a folder of its own for what comes, where each record spends again")
	errSecretGone = errors.New("the file of its key is gone: put it back; without it nobody can tell which record a set is of. In another folder each record spends again")
)

// Secret implements Memory. The file of the secret is made once, whole and for its owner alone.
func (f *Folder) Secret() (secret [32]byte, older bool, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.opened {
		if f.secret, f.before, err = f.openSecret(); err != nil {
			return secret, false, memoryError(err)
		}
		f.opened = true
	}
	return f.secret, f.before, nil
}

// secretThere reports whether a secret that was read is still in the folder: what is kept without it
// would be lost.
func (f *Folder) secretThere() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.opened {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(f.path, secretName)); errors.Is(err, fs.ErrNotExist) {
		return errSecretGone
	} else if err != nil {
		return err
	}
	return nil
}

// openSecret reads the file of the secret, and makes it if need be.
func (f *Folder) openSecret() (secret [32]byte, older bool, err error) {
	if secret, older, err = f.readSecret(); !errors.Is(err, fs.ErrNotExist) {
		return secret, older, err
	}
	if older, err = f.used(); err != nil {
		return secret, false, err
	}
	if older {
		keyed, err := f.hasKeyedSets()
		if err != nil {
			return secret, false, err
		}
		if keyed { // another process has just made the file, or somebody has removed it
			if secret, older, err = f.readSecret(); errors.Is(err, fs.ErrNotExist) {
				err = errSecretGone
			}
			return secret, older, err
		}
	}
	rand.Read(secret[:]) // never fails
	err = disk.Create(filepath.Join(f.path, secretName), sealSecret(secret, older))
	if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have come first
		return secret, false, err
	}
	return f.readSecret()
}

// readSecret reads the file of the secret. Its name is on the disk before the secret is used:
// whoever made it may have died before it was.
func (f *Folder) readSecret() (secret [32]byte, older bool, err error) {
	path := filepath.Join(f.path, secretName)
	info, err := os.Lstat(path)
	if err != nil {
		return secret, false, err
	}
	if !info.Mode().IsRegular() || info.Size() != secretFile {
		return secret, false, errSecret
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return secret, false, err
	}
	if secret, older, err = unsealSecret(b); err != nil {
		return secret, false, err
	}
	return secret, older, disk.SyncFolder(f.path)
}

// sealSecret returns the bytes of the file.
func sealSecret(secret [secretSize]byte, older bool) []byte {
	b := append(make([]byte, 0, secretFile), secretMagic...)
	b = binary.LittleEndian.AppendUint32(b, secretVersion)
	var flag uint32
	if older {
		flag = 1
	}
	b = append(binary.LittleEndian.AppendUint32(b, flag), secret[:]...)
	sum := sha256.Sum256(b)
	return append(b, sum[:secretSum]...)
}

func unsealSecret(b []byte) (secret [secretSize]byte, older bool, err error) {
	if len(b) != secretFile || string(b[:8]) != secretMagic {
		return secret, false, errSecret
	}
	if version := binary.LittleEndian.Uint32(b[8:]); version != secretVersion {
		return secret, false, fmt.Errorf("the file of its key has format version %d, this program reads %d", version, secretVersion)
	}
	copy(secret[:], b[16:])
	older = binary.LittleEndian.Uint32(b[12:]) != 0
	if !bytes.Equal(b, sealSecret(secret, older)) {
		return [secretSize]byte{}, false, errSecret
	}
	return secret, older, nil
}

// hasKeyedSets reports whether a log has a set of the format that needs a secret. Those before it
// had a request, or the number of a release and a request.
func (f *Folder) hasKeyedSets() (keyed bool, err error) {
	for i := range f.logs {
		found, err := f.logs[i].hasKeyedSet()
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func (l *keyLog) hasKeyedSet() (keyed bool, err error) {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if there, err := readHeader(file, l.number); err != nil || !there {
		return false, err
	}
	var problem error
	_, err = readEntries(file, logHeader, info.Size(), func(at int64, key Key) {
		entry, err := readEntry(file, at, key)
		if err != nil {
			problem = err
			return
		}
		keyed = keyed || !isRequest(entry) && (len(entry) < releaseID || !isRequest(entry[releaseID:]))
	})
	return keyed, errors.Join(err, problem)
}

func isRequest(b []byte) bool { return new(wire.CellsRequest).UnmarshalBinary(b) == nil }

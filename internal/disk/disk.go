// Package disk makes files and their names durable: a file that was synced can still lose its
// name in a crash, because names belong to the folder. It also maps files into memory and follows links.
package disk

import (
	"errors"
	"os"
	"runtime"
)

// SyncFolder waits until the names in a folder are on the disk. It does nothing if the
// system has no such call; Windows keeps names in a journal.
func SyncFolder(path string) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

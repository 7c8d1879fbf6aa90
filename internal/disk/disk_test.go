//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

func TestSyncFolder(t *testing.T) {
	folder := t.TempDir()
	if err := SyncFolder(folder); err != nil {
		t.Error(err)
	}
	if err := SyncFolder(filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

package wallet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFileBytes bounds a keystore or seed file; real ones have about 500 bytes.
const maxFileBytes = 64 << 10

// writeNew writes a file of mode 0600, whole or not at all, in a folder that is
// made with mode 0700 where it is not there. It replaces none: the error is
// fs.ErrExist then.
func writeNew(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	// Link, unlike Rename, fails where the name is taken.
	if err := os.Link(tmp.Name(), path); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	// The name itself is on disk once the folder is. Some systems can't sync
	// one, and there is nothing to do about it then.
	if folder, err := os.Open(dir); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// readSmall reads a file of at most maxFileBytes and gives its mode.
func readSmall(path string) ([]byte, fs.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("keystore: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("keystore: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, 0, fmt.Errorf("keystore: %w", err)
	}
	if len(data) > maxFileBytes {
		return nil, 0, fmt.Errorf("keystore: %s is too long: such files have at most %d bytes", path, maxFileBytes)
	}
	return data, info.Mode(), nil
}

package survey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/go-enry/go-enry/v2"
)

// An entry is a regular file met on the walk. It can be read only during the
// visit: its folder is closed afterwards.
type entry struct {
	path string // relative to the folder surveyed, slashes, not quoted
	name string
	size int64

	folder *os.Root
	scope  *Scope
	buf    *[]byte // shared by the whole walk, so a visit's bytes last until the next
}

// walk meets every file of dir in the order of their names' bytes, folder by
// folder, and keeps the scope's accounts. It stops at an error of visit, which
// is for the end of the survey (the context's), not for trouble with a file.
func walk(ctx context.Context, dir string, scope *Scope, visit func(*entry) error) error {
	// Said in our words: os.OpenRoot speaks of openat.
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("folder %s: %w", Quote(dir), reason(err))
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", Quote(dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("folder %s: %w", Quote(dir), reason(err))
	}
	defer root.Close()
	w := &walker{ctx: ctx, scope: scope, visit: visit, left: scope.lim.entries}
	err = w.folder(root, "", 0)
	if err == nil && scope.Folders == 0 {
		return fmt.Errorf("folder %s: %w", Quote(dir), w.rootErr)
	}
	return err
}

type walker struct {
	ctx     context.Context // of one walk: the walker lives inside one call
	scope   *Scope
	visit   func(*entry) error
	left    int // entries until MaxEntries
	buf     []byte
	rootErr error
}

func (w *walker) folder(folder *os.Root, at string, depth int) error {
	names, err := w.list(folder)
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if err != nil {
		if at == "" {
			w.rootErr = reason(err)
			return nil
		}
		w.scope.Unreadable.add(at+"/", w.scope.lim.listed)
		if len(names) == 0 {
			return nil
		}
	}
	w.scope.Folders++
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range names {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if w.left == 0 {
			w.scope.Stopped = true
			return nil
		}
		w.left--
		if err := w.entry(folder, path.Join(at, d.Name()), d, depth); err != nil {
			return err
		}
	}
	return nil
}

// list reads a folder's names, at most one more than may still be looked at:
// a folder of millions is not held in memory to look at the first of them.
func (w *walker) list(folder *os.Root) ([]fs.DirEntry, error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fs.DirEntry
	for len(all) <= w.left && w.ctx.Err() == nil {
		some, err := f.ReadDir(1024)
		all = append(all, some...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (w *walker) entry(folder *os.Root, at string, d fs.DirEntry, depth int) error {
	s := w.scope
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		s.Symlinks++
		return nil
	case d.IsDir() && skipFolder(d.Name()):
		s.Skipped.add(at+"/", s.lim.listed)
		return nil
	case d.IsDir() && depth == s.lim.depth:
		s.TooDeep.add(at+"/", s.lim.listed)
		return nil
	case d.IsDir():
		// A root for each folder, rather than long paths from the top: one
		// step to open a file at any depth, and ".." stays refused.
		sub, err := folder.OpenRoot(d.Name())
		if err != nil {
			s.Unreadable.add(at+"/", s.lim.listed)
			return nil
		}
		defer sub.Close()
		return w.folder(sub, at, depth+1)
	case !d.Type().IsRegular():
		s.Special++
		return nil
	}
	// Not d.Info: that goes by path, and the path may lead elsewhere by now.
	info, err := folder.Lstat(d.Name())
	if err != nil || !info.Mode().IsRegular() {
		s.Unreadable.add(at, s.lim.listed)
		return nil
	}
	s.Files++
	s.Bytes += info.Size()
	return w.visit(&entry{path: at, name: d.Name(), size: info.Size(), folder: folder, scope: s, buf: &w.buf})
}

// open opens the first n bytes of the file for reading, or accounts for why
// they can't be.
func (e *entry) open(n int64) (io.ReadCloser, bool) {
	s := e.scope
	if s.bytesRead+n > s.lim.read {
		s.Unread++
		return nil, false
	}
	if n == 0 {
		// Nothing to read; and the endless files of /proc say 0.
		return io.NopCloser(strings.NewReader("")), true
	}
	// Without O_NONBLOCK a pipe put in the file's place since would hold us.
	f, err := e.folder.OpenFile(e.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		s.Unreadable.add(e.path, s.lim.listed)
		return nil, false
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		s.Unreadable.add(e.path, s.lim.listed)
		return nil, false
	}
	s.bytesRead += n
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, n), f}, true // what is appended meanwhile is not part of this survey
}

// whole opens the file to be read through, unless it is larger than max.
func (e *entry) whole(max int64) (io.ReadCloser, bool) {
	if e.size > max {
		e.scope.TooLarge.add(e.path, e.scope.lim.listed)
		return nil, false
	}
	return e.open(e.size)
}

// text reads the whole file, false when it can't or should not be read or is
// binary. The bytes are valid until the next file is read.
func (e *entry) text() ([]byte, bool) {
	f, ok := e.whole(e.scope.lim.file)
	if !ok {
		return nil, false
	}
	return e.read(f, e.size)
}

// head reads the first n bytes of the file, however large it is.
func (e *entry) head(n int64) ([]byte, bool) {
	n = min(n, e.size)
	f, ok := e.open(n)
	if !ok {
		return nil, false
	}
	return e.read(f, n)
}

func (e *entry) read(f io.ReadCloser, size int64) ([]byte, bool) {
	defer f.Close()
	if int64(cap(*e.buf)) < size {
		*e.buf = make([]byte, max(size, 64<<10))
	}
	b := (*e.buf)[:size]
	n, err := io.ReadFull(f, b)
	// A file that got shorter since is read as it is now.
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		e.scope.Unreadable.add(e.path, e.scope.lim.listed)
		return nil, false
	}
	b = b[:n]
	if enry.IsBinary(b) {
		e.scope.Binary++
		return nil, false
	}
	e.scope.Read++
	return b, true
}

// reason takes the operation and path off a system error, which the caller
// names better.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

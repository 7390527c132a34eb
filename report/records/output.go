package records

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// output is one file: a temporary one until it is committed.
type output struct {
	path string
	f    *os.File
	w    *bufio.Writer
	err  error
}

const outputBuffer = 64 << 10

func createOutput(path string) (*output, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, diskError(path, err)
	}
	return &output{path: path, f: f, w: bufio.NewWriterSize(f, outputBuffer)}, nil
}

// commit gives the file its name.
func (o *output) commit() error {
	err := errors.Join(o.w.Flush(), o.f.Chmod(0o644), o.f.Close())
	if err == nil {
		err = os.Rename(o.f.Name(), o.path)
	}
	if err != nil {
		os.Remove(o.f.Name())
		return diskError(o.path, err)
	}
	return nil
}

// discard removes the file.
func (o *output) discard() {
	o.f.Close()
	os.Remove(o.f.Name())
}

// spool is a file of which many are written at once: it is open only while its buffer
// is written out.
type spool struct {
	path, temp string
	buf        []byte
	limit      int
	failed     bool // to be written out
}

// spoolMemory is what the buffers of all spools of a kind may take together.
const spoolMemory = 16 << 20

func newSpool(path string, of int) *spool {
	return &spool{path: path, limit: min(max(spoolMemory/max(of, 1), 2<<10), 256<<10)}
}

// create makes an empty temporary file.
func (s *spool) create() error {
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*")
	if err != nil {
		return diskError(s.path, err)
	}
	s.temp = f.Name()
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return diskError(s.path, err)
	}
	return nil
}

// tidy writes the buffer out if it is full.
func (s *spool) tidy() error {
	if len(s.buf) < s.limit {
		return nil
	}
	return s.flush()
}

func (s *spool) flush() error {
	f, err := os.OpenFile(s.temp, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return diskError(s.path, err)
	}
	_, err = f.Write(s.buf)
	s.buf = s.buf[:0]
	if err = errors.Join(err, f.Close()); err != nil {
		s.failed = true
		return diskError(s.path, err)
	}
	return nil
}

// closeAll names the files, or removes them. A file that failed goes in any case, and
// first, since it may be what filled the disk.
func closeAll(files []*spool, keep bool) error {
	for _, f := range files {
		if f.failed || !keep {
			os.Remove(f.temp)
		}
	}
	var errs []error
	for _, f := range files {
		if keep && !f.failed {
			errs = append(errs, f.commit())
		}
	}
	return errors.Join(errs...)
}

func (s *spool) commit() error {
	if err := s.flush(); err != nil {
		os.Remove(s.temp)
		return err
	}
	if err := os.Rename(s.temp, s.path); err != nil {
		os.Remove(s.temp)
		return diskError(s.path, err)
	}
	return nil
}

// diskError says which file could not be written and why, without the temporary name.
func diskError(path string, err error) error {
	return fmt.Errorf("record %s cannot be written: %w", path, cause(err))
}

// cause strips the paths from an error of the file system.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

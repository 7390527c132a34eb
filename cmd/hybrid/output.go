package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/report"
)

// format is a row of the table of report forms.
type format struct {
	name, doc string
	write     func(c *report.Comparison, b *bytes.Buffer, verbose bool) error
}

func formats() []format {
	return []format{
		{"text", "tables for people, at most 80 columns", func(c *report.Comparison, b *bytes.Buffer, verbose bool) error {
			return c.WriteText(b, report.TextOptions{Verbose: verbose})
		}},
		{"json", "everything, schema " + report.Schema, func(c *report.Comparison, b *bytes.Buffer, _ bool) error { return c.WriteJSON(b) }},
		{"csv", "one row for each operation as written", func(c *report.Comparison, b *bytes.Buffer, _ bool) error { return c.WriteCSV(b) }},
	}
}

// write puts the report where the user wants it.
func (a *app) write(c *report.Comparison, o *runOptions) error {
	var b bytes.Buffer
	for _, f := range formats() {
		if f.name == o.format {
			if err := f.write(c, &b, a.global.verbose); err != nil {
				return err
			}
		}
	}
	return a.emit(b.Bytes(), o.out)
}

// checkOut finds a file that cannot be written before a long run instead of after it.
func checkOut(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("--out %s: %w", path, rootCause(err))
	}
	return nil
}

// emit writes to standard output, or to a file that is complete or absent.
func (a *app) emit(b []byte, path string) error {
	if path == "" {
		_, err := a.stdout.Write(b)
		return err
	}
	return replaceFile(path, b)
}

// stream writes what may be too large to be held, to standard output or to a file that is
// complete or absent.
func (a *app) stream(path string, write func(w io.Writer) error) error {
	if path == "" {
		return write(a.stdout)
	}
	return replaceFileBy(path, write)
}

// replaceFile gives a file its content.
func replaceFile(path string, b []byte) error {
	return replaceFileBy(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// replaceFileBy writes beside the file and renames. What is not a regular file, such as
// /dev/stdout, is written as it is.
func replaceFileBy(path string, write func(w io.Writer) error) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(path, write)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("--out %s: %w", path, rootCause(err))
	}
	err = errors.Join(write(f), f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func writeInto(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("--out %s: %w", path, rootCause(err))
	}
	return errors.Join(write(f), f.Close())
}

// finish reports verdicts and turns them, and the conditions of --fail-if, into the
// command's error.
func (a *app) finish(p *prepared, c *report.Comparison, o *runOptions) error {
	if c.Inputs.Interrupted {
		return errInterrupted
	}
	if !c.OK() {
		var list diag.List
		for _, r := range c.Runs {
			replay.ReportVerdict(p.workload.graph, &r.Verdict, &list)
		}
		a.render(&list)
		return errReported
	}
	if err := a.expectations(p, c); err != nil {
		return err
	}
	if found := c.Violations(o.conditions); len(found) > 0 {
		for _, f := range found {
			fmt.Fprintf(a.stderr, "hybrid: --fail-if: %s\n", f)
		}
		return findingError{"--fail-if " + o.failIf + " holds"}
	}
	return nil
}

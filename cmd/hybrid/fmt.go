package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"hybrid/dsel"
	"hybrid/internal/diag"
)

// fmtOptions are the flags of fmt.
type fmtOptions struct{ list, write, diff bool }

func (a *app) fmtCommand() *cobra.Command {
	var o fmtOptions
	c := &cobra.Command{
		Use:   "fmt [-l] [-w] [-d] FILE...",
		Short: "Print blueprints in their canonical form",
		Long: `fmt prints each blueprint in its canonical form, which differs from what was written
in blanks only. The file - is standard input. With -l or -d the exit status is 3 if a
file is not in canonical form.`,
		Example: `  hybrid fmt ring.hbp              # print
  hybrid fmt -l testdata/blueprints/*.hbp
  hybrid fmt -w ring.hbp           # rewrite`,
		GroupID: groupFile, Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: a.run(func(_ *cobra.Command, args []string) error { return a.format(args, o) }),
	}
	f := c.Flags()
	f.BoolVarP(&o.list, "list", "l", false, "list files that are not in canonical form")
	f.BoolVarP(&o.write, "write", "w", false, "write the canonical form back to the file")
	f.BoolVarP(&o.diff, "diff", "d", false, "print the differences")
	return c
}

// format handles all files, also after one that cannot be formatted.
func (a *app) format(files []string, o fmtOptions) error {
	var list diag.List
	changed := 0
	for _, file := range files {
		different, err := a.formatFile(file, o, &list)
		if err != nil {
			return err
		}
		if different {
			changed++
		}
	}
	a.render(&list)
	switch {
	case list.HasErrors():
		return errReported
	case changed > 0 && (o.list || o.diff) && !o.write:
		return findingError{fmt.Sprintf("%d of %d files are not in canonical form", changed, len(files))}
	}
	return nil
}

func (a *app) formatFile(file string, o fmtOptions, list *diag.List) (different bool, err error) {
	name, src, err := a.readBlueprint(file)
	if err != nil {
		list.Errorf("E901", diag.Pos{File: file}, "the file cannot be read: %v", rootCause(err))
		return false, nil
	}
	out, err := dsel.Format(src)
	if err != nil {
		var many *diag.ListError
		if !errors.As(err, &many) {
			return false, err
		}
		for _, d := range many.List.All() {
			d.Pos.File = name
			list.Add(d)
		}
		return false, nil
	}
	different = !bytes.Equal(src, out)
	if different && o.write {
		if file == "-" {
			return false, usageError{errors.New("-w cannot write standard input back; leave it out to print")}
		}
		if err := replaceFile(file, out); err != nil {
			return false, err
		}
	}
	switch {
	case o.list && different:
		_, err = fmt.Fprintln(a.stdout, file)
	case o.diff && different:
		_, err = a.stdout.Write(diff.Diff(file, src, file+" (canonical)", out))
	case !o.list && !o.diff && !o.write:
		_, err = a.stdout.Write(out)
	}
	return different, err
}

// readBlueprint reads a file or standard input and makes its text known to messages.
func (a *app) readBlueprint(file string) (name string, src []byte, err error) {
	if file == "-" {
		name = stdinName
		src, err = io.ReadAll(io.LimitReader(a.stdin, maxBlueprint+1))
	} else {
		name = file
		src, err = readBounded(file)
	}
	a.sources.add(name, src)
	return name, src, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hybrid/internal/diag"
)

// Exit statuses; cmd/hybrid/doc.go says when each is used.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFinding     = 3
	exitInterrupted = 130
)

// errReported ends a command whose findings have been printed already.
var errReported = errors.New("the input or the run failed")

// usageError is wrong usage that only the command can see.
type usageError struct{ error }

// findingError ends a command that did its work and found something.
type findingError struct{ message string }

// Error returns what was found.
func (e findingError) Error() string { return e.message }

// errInterrupted ends a command that the user stopped.
var errInterrupted = errors.New("interrupted")

// failure marks an error that came out of a command, as opposed to one of the command
// line, which cobra returns bare.
type failure struct{ error }

// Unwrap gives errors.As access to the cause.
func (f failure) Unwrap() error { return f.error }

// app is one invocation: its streams and what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	global         globalOptions
	sources        *sources
	now            func() time.Time // for progress and statistics only
}

// globalOptions are flags that every command has.
type globalOptions struct {
	quiet, verbose bool
	color          string
	maxErrors      int
}

// Main runs the program with the given arguments and streams and returns its exit
// status. An interrupt ends a run at the next consistent point; a second one kills.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "hybrid: internal error: %v\nPlease report it with the command and its input.\n", r)
			status = exitFailed
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop)

	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, sources: newSources(), now: time.Now}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return a.status(cmd, err)
}

// status prints an error and returns the exit status it stands for.
func (a *app) status(cmd *cobra.Command, err error) int {
	var f failure
	var u usageError
	var found findingError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &u) || !errors.As(err, &f):
		fmt.Fprintf(a.stderr, "hybrid: %v\n\nUsage:\n  %s\n\n%s --help lists the flags and shows examples.\n", tidyUsage(err), cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	case errors.As(err, &found):
		fmt.Fprintf(a.stderr, "hybrid: %v\n", found)
		return exitFinding
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(a.stderr, "hybrid: interrupted; the report holds what was complete")
		return exitInterrupted
	}
	fmt.Fprintf(a.stderr, "hybrid: %v\n", err)
	return exitFailed
}

// tidyUsage drops the blank lines around cobra's suggestions.
func tidyUsage(err error) string { return strings.TrimSpace(err.Error()) }

// run wraps a command's function so that its errors are told apart from those of the
// command line.
func (a *app) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.checkGlobal(); err != nil {
			return err
		}
		if err := f(cmd, args); err != nil {
			return failure{err}
		}
		return nil
	}
}

func (a *app) checkGlobal() error {
	switch a.global.color {
	case "auto", "always", "never":
	default:
		return usageError{fmt.Errorf("--color is auto, always or never, not %q", a.global.color)}
	}
	if a.global.maxErrors < 1 {
		return usageError{fmt.Errorf("--max-errors must be at least 1, not %d", a.global.maxErrors)}
	}
	return nil
}

// commands is the table of subcommands, in the order of the help page.
func (a *app) commands() []func() *cobra.Command {
	return []func() *cobra.Command{
		a.compareCommand, a.simulateCommand, a.predictCommand, a.validateCommand, a.fmtCommand, a.graphCommand,
		a.listCommand, a.showCommand, a.explainCommand, a.schemaCommand, a.versionCommand,
	}
}

// Groups of commands on the help page.
const (
	groupRun  = "run"
	groupFile = "file"
	groupLook = "look"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "hybrid",
		Short: "Closed-form models and packet simulation of one program, side by side",
		Long: `hybrid times a distributed program twice: with closed-form models (LogGP, Hockney,
Roofline, ECM) and with an exact packet-level simulation of its network. One report
lays the two side by side and says whether the cheap model may be trusted.`,
		Example: `  hybrid compare                                  # an example that is built in
  hybrid compare ring.hbp -D msg=64KiB            # a blueprint
  hybrid compare traces/ --network ideal          # a set of Chakra traces
  hybrid validate my-network.yml                  # check a file`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(suggestFlag)
	f := root.PersistentFlags()
	f.BoolVarP(&a.global.quiet, "quiet", "q", false, "print errors only, no warnings")
	f.BoolVarP(&a.global.verbose, "verbose", "v", false, "print everything: all operations and ranks, wall-clock times, remarks")
	f.StringVar(&a.global.color, "color", "auto", "colour of messages: `auto`, always or never")
	f.IntVar(&a.global.maxErrors, "max-errors", 10, "print at most `N` findings")
	root.AddGroup(&cobra.Group{ID: groupRun, Title: "Runs:"}, &cobra.Group{ID: groupFile, Title: "Files:"}, &cobra.Group{ID: groupLook, Title: "Look up:"})
	for _, c := range a.commands() {
		root.AddCommand(c())
	}
	for _, t := range topics() {
		root.AddCommand(&cobra.Command{Use: t.name, Short: t.short, Long: t.text})
	}
	return root
}

// noCommand is what the bare program does with arguments: none of them is a command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("no command is called %q%s", args[0], diag.DidYouMean(args[0], names))
}

// oneWorkload demands at most one argument. Several are most often a glob that the
// shell has expanded.
func oneWorkload(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("one WORKLOAD is timed at a time, but %d are given; put a glob in quotes, or name one file of the trace set", len(args))
	case len(args) == 1 && args[0] == "":
		return errors.New("the WORKLOAD is an empty text")
	}
	return nil
}

// suggestFlag adds what the user may have meant to the error about an unknown flag, and
// says plainly which values a flag takes.
func suggestFlag(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return fmt.Errorf("--%s takes %s, not %q", value.GetFlag().Name, valueKind(value.GetFlag()), value.GetValue())
	}
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if s := diag.Suggest(name, names); s != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, s)
	}
	return err
}

// valueKind says in words what a flag takes.
func valueKind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number of 0 or more"
	case "bool":
		return "true or false"
	}
	return "another value"
}

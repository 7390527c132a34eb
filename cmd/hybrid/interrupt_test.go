package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is a blueprint whose simulation lasts for days, with a comment that no pipe holds:
// whoever has written it all to a process knows that it reads, and has its signal handler.
func endless() string {
	return "ranks 4\nprogram { repeat 1_000_000_000 { allreduce 64KiB algo ring } }\n//" + strings.Repeat("-", 1<<20) + "\n"
}

// startReading starts the program on a pipe, writes the blueprint to it, and closes the pipe
// if the blueprint is to be run.
func startReading(t *testing.T, run bool, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd, stdout, stderr = exec.Command("hybrid", args...), &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, endless()); err != nil {
		t.Fatal(err)
	}
	if run {
		err = stdin.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, stdout, stderr
}

// awaitRecords waits until some file below a folder has content, or a minute.
func awaitRecords(t *testing.T, dir string) {
	t.Helper()
	for range 6000 {
		found := false
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if info, e := os.Stat(path); err == nil && e == nil && info.Mode().IsRegular() && info.Size() > 0 {
				found = true
			}
			return nil
		})
		if err == nil && found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nothing was recorded")
}

// An interrupt while records are written leaves whole record files and a report of what was
// complete, marked as interrupted, in text and in JSON, with what the queue pairs wait for.
func TestInterruptedRecords(t *testing.T) {
	for _, form := range []string{"text", "json"} {
		dir := filepath.Join(t.TempDir(), "records")
		cmd, stdout, stderr := startReading(t, true, "simulate", "-", "-o", form, "--records", dir, "--record-interval", "1us", "--nd-interval", "10us")
		awaitRecords(t, dir)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "hybrid: interrupted") {
			t.Errorf("the program ends with %v, want status %d; standard error: %s", err, exitInterrupted, stderr)
		}
		checkInterrupted(t, form, stdout.Bytes())
		checkTables(t, dir)
	}
}

func checkInterrupted(t *testing.T, form string, text []byte) {
	t.Helper()
	if form == "text" {
		for _, want := range []string{"Interrupted: what follows is what was complete.", "The packet simulation did not finish: interrupted.", "hold what was complete"} {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
				t.Errorf("the report lacks %q:\n%s", want, text)
			}
		}
		return
	}
	var doc struct {
		Verdict string
		Runs    []struct {
			Verdict struct {
				Outcome string
				Blocked int `json:"blocked_ranks"`
			}
			Makespan int64 `json:"makespan_ps"`
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Verdict != "interrupted" || len(doc.Runs) != 1 || doc.Runs[0].Verdict.Outcome != "interrupted" || doc.Runs[0].Verdict.Blocked != 4 || doc.Runs[0].Makespan <= 0 {
		t.Errorf("the report is %+v", doc)
	}
}

// checkTables reads all tables: every row has the columns of its header, the last one ends
// with its line, and no file has a name of its own for the time of writing.
func checkTables(t *testing.T, dir string) {
	t.Helper()
	tables, rows := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) != ".csv" {
			if strings.HasPrefix(d.Name(), ".") || strings.Contains(d.Name(), "tmp") {
				t.Errorf("%s is left over", path)
			}
			return nil
		}
		all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(all) == 0 || text[len(text)-1] != '\n' {
			t.Errorf("%s: %d rows, %v", path, len(all), err)
		}
		tables, rows = tables+1, rows+len(all)-1
		return nil
	})
	if err != nil || tables < 3 || rows < 3 {
		t.Errorf("%d tables with %d rows: %v", tables, rows, err)
	}
}

// A second interrupt ends the program at once, whatever it does: here it waits for the rest
// of its input, which the first one leaves to it.
func TestSecondInterrupt(t *testing.T) {
	cmd, _, _ := startReading(t, false, "simulate", "-")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for range 500 {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case err := <-done:
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the program ends with %v", err)
			}
			if s, ok := exit.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGINT {
				t.Errorf("the program ends with %v, want its end by the signal", err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	t.Errorf("the program goes on after 500 interrupts: %v", <-done)
}

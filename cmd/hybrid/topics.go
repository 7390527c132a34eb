package main

// topic is a help page that is not about a command.
type topic struct{ name, short, text string }

func topics() []topic {
	return []topic{
		{"units", "How quantities are written", `Quantities are a number and a unit without a blank between them; _ may group digits.
A bare number is an error wherever a unit is possible.

  size       B  kB MB GB TB (powers of 1000)  KiB MiB GiB TiB (powers of 1024)
  time       ps ns us ms s min h
  rate       bps kbps Mbps Gbps Tbps (bits)   B/s kB/s MB/s GB/s (bytes)
  per byte   0.08ns/B, 20ps/B
  frequency  Hz kHz MHz GHz

Simulated time is counted in whole picoseconds or finer; nothing is rounded on the
way. JSON and CSV print integers in the unit that the key names (makespan_ps,
message_bytes).
`},
		{"exit-codes", "What the exit status means", `  0    done: every operation finished and every transfer was matched
  1    the input or the run failed: a diagnostic with an error, a deadlock, a
       transfer without its partner, a stop time that came first, a file that
       cannot be read or written
  2    wrong usage
  3    a finding: validate --strict has warnings, --fail-if holds
  130  interrupted; what was complete is written first

Standard output carries the result alone. Diagnostics go to standard error as
file:line:col: severity: message [CODE]; hybrid explain CODE says more.
`},
		{"blueprint", "The blueprint language in short", `A blueprint says what every rank of a program does, without any traces.

  blueprint ring                      // a name
  param n   = 8                       // -D n=64 on the command line overrides it
  param msg = 8KiB
  ranks n
  program {
    for step in 1..10 {
      compute 100us
      sendrecv msg to (rank + 1) % n from (rank - 1 + n) % n
      allreduce 8B over world
    }
  }

docs/blueprint.md is the manual; hybrid graph FILE prints what a blueprint means.
`},
	}
}

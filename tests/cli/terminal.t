# stores: sqlite
# Colours and progress are for terminals, and not with NO_COLOR.
$ on_terminal() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" | tr -d '\r' | sed 's/\x1b/ESC/g'; }
$ cairn job cancel $(cairn job add a.v1) >/dev/null
$ on_terminal cairn job list | grep -o 'ESC[^ ]*'
ESC[2mcancelledESC[0m
$ NO_COLOR=1 on_terminal cairn job list | grep -c ESC
0
[1]
$ cairn job list | grep -c "$(printf '\033')"
0
[1]
$ echo 1 > one; on_terminal cairn job add b.v1 --payloads-from one
<id1>
ESC[K
# Commands on many show how far they are.
$ on_terminal cairn bulk cancel --on jobs --type b.v1 --by me --reason test | grep -o '\[=* *\] 1 of[a-z0-9, ]*skipped' | tail -1
[==============================] 1 of about 1, 0 skipped
$ on_terminal cairn purge --type b.v1 --older-than 0s | grep -o '\[=* *\] [a-z0-9 ]*removed' | tail -1
[==============================] 1 of 1 removed
# A server whose terminal is closed stops in good order; SIGHUP from elsewhere does not stop it.
$ cat > hang_up.py <<'END'
> import os, pty, signal, sys
> pid, terminal = pty.fork()
> if pid == 0:
>     signal.signal(signal.SIGHUP, signal.SIG_DFL)
>     os.execvp(sys.argv[1], sys.argv[1:])
> def read_until(word):
>     said = b""
>     while word not in said:
>         said += os.read(terminal, 4096)
> read_until(b"listening")
> os.kill(pid, signal.SIGHUP)
> read_until(b"nor a certificate")
> os.close(terminal)
> print("ended with", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
> END
$ python3 hang_up.py cairn serve --listen 127.0.0.1:0
ended with 0

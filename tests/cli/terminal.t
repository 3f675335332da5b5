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

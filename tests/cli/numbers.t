# A number is a decimal, and keeps its digits.
$ id=$(cairn job add n.v1 --payload '{"a":6.02e23}'); cairn job list --type n.v1 -o ids | wc -l
1
$ cairn job show $id | grep payload
payload      {"a":6.02e23}
$ cairn job show $id -o json | grep -o '"payload":[^}]*}'
"payload":{"a":6.02e23}
$ cairn work --handle n.v1=cat --until-idle > /dev/null 2>&1; cairn job show $id | grep -E '^(status|result)'
status       succeeded
result       {"a":6.02e23}
$ id=$(cairn job add n.v1 --payload '{"b":[12345678901234567890,0.10]}'); cairn job show $id -o json | grep -o '"payload":[^}]*}'
"payload":{"b":[12345678901234567890,0.10]}
# What its numbers become when they are written out counts.
$ python3 -c 'print("[" + ",".join(["1e308"] * 10000) + "]")' > bomb; cairn job add n.v1 --payload @bomb
! cairn: payload is too large
!     its numbers written out make 3100001 bytes, 1048576 are allowed
[2]
# What a double cannot hold is refused.
$ cairn job add n.v1 --payload '[1, 1e309]'
! cairn: payload has a number that is too large
!     line 1, column 5: a double cannot hold it
!     send such numbers as strings
[2]
$ cairn job list --type n.v1 --all -o ids | wc -l
2

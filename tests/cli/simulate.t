# stores: sqlite
# A workflow is tried against failures that are drawn by seed, so what is printed never changes.
$ printf 'workflow: trip\nversion: 1\nsteps:\n  - step: flight\n    compensation: {handler: cancel_flight, max_attempts: 10}\n  - step: hotel\n    max_attempts: 1\n' > trip.yaml
$ cairn simulate trip.yaml --seeds 50 --expect 'ended(failed) => not done(flight)' --expect 'done(hotel)'
trip version 1, 50 runs

Ends
        43   86.0 %  completed  (first: seed 1)
         7   14.0 %  failed  (first: seed 10)

Undone, in this order
        43   86.0 %  nothing  (first: seed 1)
         7   14.0 %  flight  (first: seed 10)

Laws
  holds   ended(failed) => not done(flight)
  BROKEN  done(hotel)  (in 7 of 50 runs, first: seed 10)

Seed 10 breaks done(hotel)
  00:00:00.0  trip starts with the input {}
  00:00:00.0  flight is called
  00:00:01.7  flight completes
  00:00:01.7  hotel is called
  00:00:01.7  hotel does not answer
  00:00:02.1  hotel fails: the call timed out
  00:00:02.1  hotel has failed for good
  00:00:02.1  what was done is undone, the last first
  00:00:02.1  flight:undo is called
  00:00:03.1  flight:undo completes
  00:00:03.1  the instance has failed
  It ended as failed.
  Undone: flight
[1]
$ cairn simulate trip.yaml --seeds 50 --expect 'done(hotel)' -o json | jq -c '{workflow, runs, ends, undone, never_reached, laws}, (.stories[] | {seed, about, first: .story[0], last: .story[-1]})'
{"workflow":"trip","runs":50,"ends":[{"status":"completed","runs":43,"first_seed":1},{"status":"failed","runs":7,"first_seed":10}],"undone":[{"order":"","runs":43,"first_seed":1},{"order":"flight","runs":7,"first_seed":10}],"never_reached":[],"laws":[{"law":"done(hotel)","holds":false,"broken":7,"first_seed":10}]}
{"seed":10,"about":"done(hotel)","first":"00:00:00.0  trip starts with the input {}","last":"Undone: flight"}
# A seed gives the same run alone and among others.
$ cairn simulate trip.yaml --seed 3 > alone; cairn simulate trip.yaml --seeds 40 --fail hotel=1 >/dev/null; cairn simulate trip.yaml --seed 3 | cmp - alone
$ cairn simulate trip.yaml --seed 3 --input '{"to": "Oslo"}' | head -2
00:00:00.0  trip starts with the input {"to": "Oslo"}
00:00:00.0  flight is called
# The rates of steps and of their compensations.
$ cairn simulate trip.yaml --seeds 20 --fail hotel=1,flight=0 --expect 'undone(flight)'
trip version 1, 20 runs

Ends
        20  100.0 %  failed  (first: seed 1)

Undone, in this order
        20  100.0 %  flight  (first: seed 1)

Laws
  holds   undone(flight)
$ cairn simulate trip.yaml --seeds 20 --fail %=0,flight:undo=0.5 -o json | jq -c .undone
[{"order":"","runs":20,"first_seed":1}]
$ cairn simulate trip.yaml --fail house=1
! cairn: --fail: trip has no step "house"
[2]
$ cairn simulate trip.yaml --fail hotel=2
! cairn: --fail: "hotel=2" is not STEP=RATE with a rate from 0 to 1
[2]
$ cairn simulate trip.yaml --fail hotel
! cairn: --fail: "hotel" is not STEP=RATE with a rate from 0 to 1
[2]
# Laws that cannot be read.
$ cairn simulate trip.yaml --expect 'done(train)'
! cairn: the law "done(train)" names a step that does not exist: train
!     the first step is called flight
[2]
$ cairn simulate trip.yaml --expect 'ended(well)'
! cairn: the law "ended(well)" names an end that does not exist: well
!     an instance ends as completed, failed, cancelled or aborted
[2]
$ cairn simulate trip.yaml --expect 'done(hotel) and'
! cairn: cannot read the law "done(hotel) and"
!     a fact is expected at its end
!     facts are done(STEP), undone(STEP), called(STEP) and ended(STATUS); they are joined by not, and, or, => and parentheses
[2]
# What never ends is told, and changes no exit code.
$ printf 'workflow: ask\nversion: 1\nsteps:\n  - wait: answer\n    event: said\n  - human: approval\n' > ask.yaml
$ cairn simulate ask.yaml --seeds 30
ask version 1, 30 runs

Ends
        13   43.3 %  completed  (first: seed 1)
        11   36.7 %  aborted  (first: seed 2)
         6   20.0 %  waiting_signal: does not end by itself  (first: seed 8)

Undone, in this order
        30  100.0 %  nothing  (first: seed 1)

Seed 8 does not end by itself: it is waiting_signal
  00:00:00.0  ask starts with the input {}
  00:00:00.0  answer waits for the event said, which does not come
  It does not end by itself: it is waiting_signal.
  answer: Waits for the event said, without limit.
# Steps that no run has reached.
$ printf 'workflow: odd\nversion: 1\nsteps:\n  - condition: never\n    when: "{{ eq .n 7 }}"\n    then: [{step: seven}]\n' > odd.yaml
$ cairn simulate odd.yaml --seeds 5 | grep Never
Never reached: seven
$ cairn simulate odd.yaml --seeds 5 --input '{"n": 7}' | grep -c Never
0
[1]
# Real commands, in one run without faults; time passes at once.
$ printf 'workflow: nap\nversion: 1\nsteps:\n  - step: greet\n  - sleep: night\n    for: 8h\n  - wait: sun\n    event: sunrise\n  - step: wake\n' > nap.yaml
$ printf '# what they say\ngreet=echo \\"good night\\"\nwake=cat\n' > handlers
$ cairn simulate nap.yaml --handlers handlers --expect 'ended(completed) and done(wake)' | sed 's/^[0-9:.]* *//'
nap starts with the input {}
greet is called
greet completes
night completes
sun waits for the event sunrise
the event sunrise arrives
sun completes
wake is called
wake completes
the instance has completed
It ended as completed.
Done at the end: greet, night, sun, wake
$ printf 'greet=exit 65\n' > handlers; cairn simulate nap.yaml --handlers handlers --expect 'ended(completed)' | sed 's/^[0-9:.]* *//'
nap starts with the input {}
greet is called
greet has failed for good
night is left out
sun is left out
wake is left out
the instance has failed
It ended as failed.
Broken: ended(completed)
! cairn: greet <id1>.0, call 1 of 3: failed for good: exit status 65
$ printf 'greet\n' > handlers; cairn simulate nap.yaml --handlers handlers
! cairn: --handle cannot be "greet": it takes TYPE=COMMAND
[2]
$ printf 'greet=cat\ngreet=true\n' > handlers; cairn simulate nap.yaml --handlers handlers
! cairn: --handle has two commands for "greet"
[2]
# Children: further files are workflows that the first one starts, with steps, signals and people of their own.
$ printf 'workflow: order\nversion: 1\nsteps:\n  - step: reserve\n    compensation: {handler: release, max_attempts: 20}\n  - start: bill\n    workflow: billing\n    input: {sum: "{{ .sum }}", of: "{{ $.input.id }}"}\n  - map: mail\n    over: "{{ $.input.readers }}"\n    join: {at_least: 1}\n    steps: [{step: send}]\n  - step: ship\n    max_attempts: 1\n    on_failure: compensate\n' > order.yaml
$ printf 'workflow: billing\nversion: 1\nsteps:\n  - step: charge\n    compensation: {handler: refund, max_attempts: 20}\n  - wait: paid\n    event: paid\n    timeout: 1d\n' > billing.yaml
$ cairn simulate order.yaml billing.yaml --seeds 100 --input '{"id": 7, "sum": 3, "readers": [1, 2, 3, 4, 5, 6, 7, 8]}' --expect 'done(charge) => done(ship) or undone(charge)' --expect 'done(ship) => done(send)' --expect 'undone(bill) => undone(charge)'
order version 1, 100 runs

Ends
        69   69.0 %  completed  (first: seed 2)
        31   31.0 %  failed  (first: seed 1)

Undone, in this order
        69   69.0 %  nothing  (first: seed 2)
        31   31.0 %  charge, reserve  (first: seed 1)

Laws
  holds   done(charge) => done(ship) or undone(charge)
  holds   done(ship) => done(send)
  holds   undone(bill) => undone(charge)
$ cairn simulate order.yaml billing.yaml --seed 2 --input '{"id": 7, "sum": 3, "readers": [1, 2, 3, 4, 5, 6, 7, 8]}' --fail %=0,ship=1 > alone; grep -c 'send is called$' alone; sed 's/^[0-9:.]* *//' alone | tail -13
5
ship has failed for good
what was done is undone, the last first
charge:undo is called
charge:undo completes
reserve:undo is called
reserve:undo does not answer
reserve:undo fails: the call timed out
reserve:undo is called again, call 2 of 20
reserve:undo completes
the instance has failed
It ended as failed.
Done at the end: send
Undone: reserve, bill, mail, charge
$ cairn simulate order.yaml billing.yaml --seeds 9 --input '{"id": 7, "sum": 3, "readers": [1, 2, 3, 4, 5, 6, 7, 8]}' --fail %=0,ship=1 --expect 'done(ship) or ended(completed)' > many; cairn simulate order.yaml billing.yaml --seed 1 --input '{"id": 7, "sum": 3, "readers": [1, 2, 3, 4, 5, 6, 7, 8]}' --fail %=0,ship=1 > alone; sed -n '/^Seed 1/,$p' many | sed 's/^  //' | tail -n +2 | cmp - alone
# What is no list fails a map, as it would in production.
$ cairn simulate order.yaml billing.yaml --seeds 5 --fail %=0 | grep -A1 Ends
Ends
         5  100.0 %  failed  (first: seed 1)
# A child that was not given, or not in this version.
$ cairn simulate order.yaml
! cairn: order: the step bill starts the workflow billing, which is in none of the files
!     name the file of billing behind the first one
[2]
$ cairn simulate order.yaml trip.yaml
! cairn: order: the step bill starts the workflow billing, which is in none of the files
!     name the file of billing behind the first one
[2]
$ printf 'workflow: late\nversion: 1\nsteps:\n  - fork: f\n    branches:\n      - [{step: b}]\n      - [{start: a, workflow: trip, version: 2}]\n' > late.yaml; cairn simulate late.yaml trip.yaml
! cairn: late: the step a starts the workflow trip in another version, which is in none of the files
!     name the file of trip behind the first one
[2]
# A step whose name another workflow has, too, is named with its own; those of the first file keep their names.
$ printf 'workflow: twice\nversion: 1\nsteps:\n  - start: one\n    workflow: billing\n  - start: left\n    workflow: trip\n    wait: false\n  - map: all\n    over: "{{ $.input }}"\n    steps: [{step: charge}, {human: look}]\n  - step: flight\n' > twice.yaml
$ cairn simulate twice.yaml billing.yaml trip.yaml --input '[1]' --expect 'done(charge)'
! cairn: the law "done(charge)" names a step that several workflows have: charge
!     name the workflow, too, as in billing.charge
[2]
$ cairn simulate twice.yaml billing.yaml trip.yaml --input '[1]' --seeds 40 --fail twice:all.charge=1,flight=0 --expect 'called(billing.charge) and not done(twice:all.charge)' --expect 'not done(flight)' | sed -n '/^Laws/,$p'
Laws
  holds   called(billing.charge) and not done(twice:all.charge)
  holds   not done(flight)
$ cairn simulate twice.yaml billing.yaml trip.yaml --fail charge=1
! cairn: --fail: twice, with its children, has no step "charge"
[2]
# Real commands work for children, too.
$ printf '%%=cat\n' > handlers; cairn simulate order.yaml billing.yaml --handlers handlers --input '{"id": 7, "sum": 3, "readers": [1]}' --expect 'done(charge) and called(send) and ended(completed)' | tail -2
It ended as completed.
Done at the end: reserve, bill, mail, ship, charge, paid, send
# A law that is broken with real commands.
$ cairn simulate trip.yaml --handlers handlers --expect 'undone(flight)' > story; echo $?; tail -3 story
1
It ended as completed.
Done at the end: flight, hotel
Broken: undone(flight)
# The examples: each has a mistake, which the command that its file names finds.
$ cairn simulate $EXAMPLES/simulate/missing-compensation.yaml --expect 'done(charge) => done(ship) or undone(charge)'
order version 1, 1000 runs

Ends
       861   86.1 %  completed  (first: seed 1)
       139   13.9 %  failed  (first: seed 11)

Undone, in this order
       861   86.1 %  nothing  (first: seed 1)
       139   13.9 %  reserve  (first: seed 11)

Laws
  BROKEN  done(charge) => done(ship) or undone(charge)  (in 130 of 1000 runs, first: seed 11)

Seed 11 breaks done(charge) => done(ship) or undone(charge)
  00:00:00.0  order starts with the input {}
  00:00:00.0  reserve is called
  00:00:01.4  reserve completes
  00:00:01.4  charge is called
  00:00:02.6  charge completes
  00:00:02.6  ship is called
  00:00:03.0  ship fails: an invented failure
  00:00:03.0  ship has failed for good
  00:00:03.0  what was done is undone, the last first
  00:00:03.0  charge has no compensation, and stays done
  00:00:03.0  reserve:undo is called
  00:00:03.7  reserve:undo completes
  00:00:03.7  the instance has failed
  It ended as failed.
  Done at the end: charge
  Undone: reserve
[1]
$ cairn simulate $EXAMPLES/simulate/wrong-save-point.yaml --expect 'ended(failed) => not done(book_flight)'
trip version 1, 1000 runs

Ends
       990   99.0 %  completed  (first: seed 1)
        10    1.0 %  failed  (first: seed 22)

Undone, in this order
       990   99.0 %  nothing  (first: seed 1)
         5    0.5 %  book_flight  (first: seed 118)
         5    0.5 %  book_hotel  (first: seed 22)

Laws
  BROKEN  ended(failed) => not done(book_flight)  (in 5 of 1000 runs, first: seed 22)

Seed 22 breaks ended(failed) => not done(book_flight)
  00:00:00.0  trip starts with the input {}
  00:00:00.0  book_flight is called
  00:00:01.1  book_flight completes
  00:00:01.1  book_hotel is called
  00:00:02.8  book_hotel fails: an invented failure
  00:00:03.8  book_hotel is called again, call 2 of 3
  00:00:05.5  book_hotel fails: an invented failure
  00:00:07.5  book_hotel is called again, call 3 of 3
  00:00:07.5  the worker crashes during book_hotel
  00:00:37.5  book_hotel has failed for good
  00:00:37.5  what was done is undone, the last first
  00:00:37.5  send_tickets is left out
  00:00:37.5  book_hotel:undo is called
  00:00:38.6  book_hotel:undo completes
  00:00:38.6  the instance has failed
  It ended as failed.
  The undo stopped at the save point booked: what came before it stays done.
  Done at the end: book_flight
  Undone: book_hotel
[1]
$ cairn simulate $EXAMPLES/simulate/endless-wait.yaml
reservation version 1, 1000 runs

Ends
       786   78.6 %  completed  (first: seed 1)
       207   20.7 %  waiting_signal: does not end by itself  (first: seed 6)
         7    0.7 %  failed  (first: seed 118)

Undone, in this order
       993   99.3 %  nothing  (first: seed 1)
         7    0.7 %  hold_table  (first: seed 118)

Seed 6 does not end by itself: it is waiting_signal
  00:00:00.0  reservation starts with the input {}
  00:00:00.0  hold_table is called
  00:00:00.6  hold_table completes
  00:00:00.6  confirmation waits for the event reservation.confirmed, which does not come
  It does not end by itself: it is waiting_signal.
  confirmation: Waits for the event reservation.confirmed, without limit.
  Done at the end: hold_table
$ cairn simulate $EXAMPLES/simulate/endless-wait.yaml --expect 'ended(completed) or ended(failed)' | grep '^Seed'
Seed 6 breaks ended(completed) or ended(failed)
Seed 6 does not end by itself: it is waiting_signal, as told above
# Files with mistakes, and functions.
$ printf 'workflow: x\n' > x.yaml; cairn simulate x.yaml
! cairn: x.yaml:1:1: workflow "x": version is missing
!     1:1: workflow "x": steps is missing
[1]
$ printf '{"function": "f", "version": 1}' > f.json; cairn simulate f.json
! cairn: cannot try f: it is a function, whose steps only its code knows
[1]
$ cairn simulate nowhere.yaml
! cairn: could not read "nowhere.yaml": No such file or directory
[2]

# tests/kill/saga_handler.sh - the handler of every step and every undo of the order saga.
#
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the shell that `cairn work` starts; no process but that one, as a rule.  $salt is the
# step's number, $SAGA_CALLS the file that gets a line for each call, $SAGA_SEED the run's seed.
# What becomes of a call depends on the order, the step and the attempt alone; test_saga.py has the
# same sum: one in ten fails whenever it is called, another one in ten fails when called first.
# shellcheck shell=sh disable=SC2154
echo "$CAIRN_INSTANCE $CAIRN_STEP $CAIRN_KIND $CAIRN_ATTEMPT $$" >>"$SAGA_CALLS"

read -r input || :
order=${input#*'"order":'}
order=${order# }
order=${order%%[!0-9]*}
[ "$order" ] || exit 1      # the worker was killed before it had said everything

hash=$(((order * 7919 + salt * 104729 + SAGA_SEED) & 0xffffffff))
hash=$((((hash >> 16) ^ hash) * 73244475 & 0xffffffff))
hash=$((((hash >> 16) ^ hash) * 73244475 & 0xffffffff))
hash=$(((hash >> 16) ^ hash))
fate=$((hash % 100))

# Some take long enough to be killed in the middle, or to be awaited by somebody else's failure.
[ $((hash / 100 % 6)) -ne 0 ] || sleep 0.15

if [ $fate -lt 2 ]; then
    echo 'there is no such order' >&2
    exit 65
elif [ $fate -lt 10 ]; then
    echo 'always fails' >&2
    exit 1
elif [ $fate -lt 20 ] && [ "$CAIRN_ATTEMPT" -eq 1 ]; then
    echo 'fails at first' >&2
    exit 75
fi
echo "{\"order\": $order, \"stock\": $((order % 3))}"

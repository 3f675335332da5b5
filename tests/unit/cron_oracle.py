# tests/unit/cron_oracle.py - the times of cron expressions, found another way.
#
# SPDX-License-Identifier: Apache-2.0
"""
cron_oracle.py PRINT_TIMES

Walks through five years minute by minute with Python's zoneinfo, as a person with a clock on the wall would, and compares
what the clock showed with the times that print_times calculates:

- The hour field is *: every minute at which the clock shows a time that matches.
- Else a time counts when the clock first shows it; what the clock jumps over counts at once, as one run.

The expressions are matched by sets of numbers, read by a few lines of their own.  Each zone is given every expression in a long run
($CAIRN_TEST_LONG), else every fourth, so that all expressions and all zones take part.
"""
import datetime
import os
import subprocess
import sys
import zoneinfo

UTC = datetime.timezone.utc
YEARS = ((2024, 2029, ('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe')),
         (2011, 2012, ('Pacific/Apia',)),        # December 30 was left out
         (2015, 2019, ('Africa/Casablanca',)),   # four changes a year
         (2044, 2045, ('America/New_York',)))    # by rule alone: beyond the data's table
EXPRESSIONS = (
    '30 2 * * *', '0 3 * * *', '0,15,30,45 1-3 * * *', '*/20 2 * * SUN', '0 0 * * *', '59 1 * * *', '15 2,3 * * *',
    '0 * * * *', '*/7 * * * *', '45 * 1 */2 *', '10 * * MAR,OCT,NOV,APR SUN', '0 12 13 * FRI', '5 4 */10 * MON-WED',
    '0 0 29 2 *', '30 */2 * * *', '0 0 31 * *', '@weekly', '@hourly', '@monthly', '0 0 30 12 *',
)
NAMES = {name: number for names, first in (('SUN MON TUE WED THU FRI SAT', 0),
                                           ('JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC', 1))
         for number, name in enumerate(names.split(), first)}
MEANINGS = {'@weekly': '0 0 * * 0', '@hourly': '0 * * * *', '@monthly': '0 0 1 * *'}


def numbers(field, first, last):
    found = set()
    for part in field.split(','):
        part, _, step = part.partition('/')
        low, _, high = part.partition('-')
        low = first if part == '*' else NAMES.get(low) if low in NAMES else int(low)
        high = last if part == '*' or step and not high else NAMES.get(high, high) if high else low
        found.update(range(low, int(high) + 1, int(step or 1)))
    return found


class Expression:
    def __init__(self, text):
        parts = MEANINGS.get(text, text).split()
        ranges = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
        self.minutes, self.hours, self.days, self.months, weekdays = (
            numbers(part, *limits) for part, limits in zip(parts, ranges))
        self.weekdays = {day % 7 for day in weekdays}
        self.is_elapsed = parts[1] == '*'
        self.is_either = parts[2] != '*' and parts[4] != '*'
        self.day_cache = {}

    def names_day(self, day):
        """day: an ordinal of datetime."""
        if day not in self.day_cache:
            date = datetime.date.fromordinal(day)
            in_month, in_week = date.day in self.days, date.isoweekday() % 7 in self.weekdays
            self.day_cache[day] = date.month in self.months and (
                in_month or in_week if self.is_either else in_month and in_week)
        return self.day_cache[day]


class Clock:
    """A clock on the wall: when it showed which local minute.  All are minutes since 1970, local ones since the year 1."""
    def __init__(self, name, begin, end):
        zone = zoneinfo.ZoneInfo(name)
        self.first, self.again, self.skipped = {}, {}, {}
        reached = None
        for at in range(begin, end, 15):    # a quarter of an hour: no zone changes its clock within it
            local = datetime.datetime.fromtimestamp(at * 60, UTC).astimezone(zone)
            shown = local.toordinal() * 1440 + local.hour * 60 + local.minute
            for minute in range((shown if reached is None else reached) + 1, shown):
                self.skipped[minute] = at
            for i in range(15):
                (self.again if shown + i in self.first else self.first)[shown + i] = at + i
            reached = max(reached or 0, shown + 14)

    def days(self):
        return range(min(self.first) // 1440, max(self.first) // 1440 + 1)


def expected(expression, clock, begin):
    times = set()
    for day in filter(expression.names_day, clock.days()):
        for hour in expression.hours:
            for minute in expression.minutes:
                local = (day * 24 + hour) * 60 + minute
                if local in clock.first:
                    times.add(clock.first[local])
                if expression.is_elapsed and local in clock.again:
                    times.add(clock.again[local])
                if not expression.is_elapsed and local in clock.skipped:
                    times.add(clock.skipped[local])
    return sorted(at * 60 for at in times if at > begin)


def main():
    program, number, is_failed = sys.argv[1], 0, False
    cases = [(first, last, zone) for first, last, zones in YEARS for zone in zones]
    step = 1 if os.environ.get('CAIRN_TEST_LONG') else 4
    print(f'1..{sum(len(EXPRESSIONS[offset % step::step]) for offset in range(len(cases)))}')
    for offset, (first, last, zone) in enumerate(cases):
        expressions = EXPRESSIONS[offset % step::step]
        begin, end = (int(datetime.datetime(year, 1, 1, tzinfo=UTC).timestamp()) // 60 for year in (first, last))
        clock = Clock(zone, begin, end)
        lines = ''.join(f'{begin * 60} {end * 60 - 1} {zone} {text}\n' for text in expressions)
        answer = subprocess.run([program], input=lines, stdout=subprocess.PIPE, check=True, text=True, timeout=300)
        for text, line in zip(expressions, answer.stdout.split('\n')):
            number += 1
            seen, wanted = [int(word) for word in line.split()], expected(Expression(text), clock, begin)
            wrong = sorted(set(seen) ^ set(wanted))
            is_failed |= bool(wrong) or seen != wanted
            print(f'{"not ok" if wrong or seen != wanted else "ok"} {number} - {zone} {first}: {text}, {len(wanted)} times')
            for at in wrong[:5]:
                local = datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo(zone)).isoformat()
                print(f'#   {local} is {"missing" if at in wanted else "too many"}')
    return is_failed


if __name__ == '__main__':
    os.environ.pop('TZ', None)
    sys.exit(main())

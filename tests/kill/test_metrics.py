#!/usr/bin/env python3
# tests/kill/test_metrics.py - /metrics of two servers on one store: one sum, which outlives kill -9.
#
# SPDX-License-Identifier: Apache-2.0
"""
  test_metrics.py CAIRN sqlite|postgres DOCS

What is scraped is also checked by promtool, if it is installed, and by rules of this file.  Every metric that the
dashboard, the alert rules and the guide in DOCS name must be there.  The output is TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
import scene as stage       # pylint: disable=wrong-import-position
from scene import Checks     # pylint: disable=wrong-import-position
from test_idle import wait_until_ready      # pylint: disable=wrong-import-position

SERIES = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
HOSTILE = 'a"} 1 \\n{b="c'


def scrape(url):
    with urllib.request.urlopen(f'{url}/metrics', timeout=60) as answer:
        return answer.read().decode()


def labels_of(text):
    """{name: value}; None: not well-formed."""
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or match[1] in found:
            return None
        found[match[1]] = match[2]
        at = match.end()
    return found


def family_of(name, types):
    for suffix in ('_bucket', '_sum', '_count'):
        base = name[:-len(suffix)] if name.endswith(suffix) else None
        if base and types.get(base) == 'histogram':
            return base
    return name


class Exposition:
    """What a scrape says: samples, families, and what is wrong with it."""

    def __init__(self, text):
        self.samples, self.types, self.faults = {}, {}, []
        helps, closed, current = set(), set(), None
        if not text.endswith('\n'):
            self.faults.append('the last line has no end')
        for line in text.splitlines():
            words = line.split(' ', 3)
            if line.startswith('# HELP '):
                if words[2] in helps or len(words) < 4:
                    self.faults.append(f'help: {line}')
                helps.add(words[2])
                continue
            if line.startswith('# TYPE '):
                if words[2] in self.types or words[3] not in ('counter', 'gauge', 'histogram'):
                    self.faults.append(f'type: {line}')
                self.types[words[2]] = words[3]
                continue
            current = self.take(line, helps, closed, current)
        self.look_at_histograms()

    def take(self, line, helps, closed, current):
        match = SERIES.match(line)
        labels = labels_of(match[3] or '') if match else None
        if labels is None:
            self.faults.append(f'not a sample: {line}')
            return current
        family = family_of(match[1], self.types)
        if family not in self.types or family not in helps:
            self.faults.append(f'without HELP or TYPE: {line}')
        if family != current:
            if family in closed:
                self.faults.append(f'stands apart from its family: {line}')
            closed.add(family)
        if (self.types.get(family) == 'counter') != match[1].endswith('_total'):
            self.faults.append(f'_total is for counters: {line}')
        key = (match[1], tuple(sorted(labels.items())))
        if key in self.samples:
            self.faults.append(f'twice: {line}')
        self.samples[key] = float(match[4])
        return family

    def look_at_histograms(self):
        for name in (name for name, kind in self.types.items() if kind == 'histogram'):
            rows = {}
            for (sample, labels), value in self.samples.items():
                if sample == f'{name}_bucket':
                    rest = tuple(pair for pair in labels if pair[0] != 'le')
                    rows.setdefault(rest, []).append((float(dict(labels)['le']), value))
            for labels, buckets in rows.items():
                counts = [value for _, value in sorted(buckets)]
                if sorted(buckets) != buckets or counts != sorted(counts) or \
                        buckets[-1][0] != float('inf') or \
                        buckets[-1][1] != self.samples.get((f'{name}_count', labels)) or \
                        (f'{name}_sum', labels) not in self.samples:
                    self.faults.append(f'histogram {name}{labels}: {buckets}')

    def counters(self):
        """What must never fall."""
        return {key: value for key, value in self.samples.items()
                if self.types[family_of(key[0], self.types)] != 'gauge'}

    def names(self):
        parts = [f'{name}{part}' for name, kind in self.types.items() if kind == 'histogram'
                 for part in ('_bucket', '_sum', '_count')]
        return {name for name, _ in self.samples} | set(self.types) | set(parts)


def enqueue(url, kind, count):
    for _ in range(count):
        stage.post(f'{url}/v1/jobs', {'type': kind})


def limit_mails(url):
    """Limits have metrics of their own once there is one."""
    body = json.dumps({'types': 'mail', 'concurrency': 2}).encode()
    request = urllib.request.Request(f'{url}/v1/limits/mails', body, {'Content-Type': 'application/json'}, method='PUT')
    with urllib.request.urlopen(request, timeout=stage.STUCK_SECONDS):
        pass


def enqueued(url):
    return Exposition(scrape(url)).samples[('cairn_jobs_enqueued_total', ())]


def wait_for(url, wanted):
    """Counts of another process come within ten seconds."""
    deadline = time.monotonic() + stage.STUCK_SECONDS
    while (seen := enqueued(url)) < wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    return seen


def fallen(before, after):
    return [f'{key}: {value} became {after.get(key)}' for key, value in before.items()
            if after.get(key, -1) < value]


def promtool(arguments, text=None):
    """What promtool finds; None: it is not installed."""
    program = shutil.which('promtool') or '/usr/bin/promtool'
    if not os.access(program, os.X_OK):
        stage.say('promtool is not installed')
        return None
    done = subprocess.run([program, *arguments], input=text, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return f'exit code {done.returncode}: {done.stdout}' if done.returncode else None


def named_in(docs):
    """Metrics that the dashboard, the rules and the guide name."""
    names = {}
    for path in ('monitoring/dashboard.json', 'monitoring/alerts.yml', 'guides/monitoring.md'):
        with open(os.path.join(docs, path), encoding='utf-8') as text:
            for name in re.findall(r'\bcairn_[a-z_]+[a-z]\b', text.read()):
                names.setdefault(name, path)
    return names


def look_at_docs(docs, exposition, checks):
    known = exposition.names()
    absent = [f'{name} of {path}' for name, path in named_in(docs).items() if name not in known]
    checks.check('what_the_dashboard_the_rules_and_the_guide_name_exists', not absent, absent)
    with open(os.path.join(docs, 'guides/monitoring.md'), encoding='utf-8') as text:
        guide = text.read()
    untold = [name for name in exposition.types if f'`{name}' not in guide]
    checks.check('the_guide_explains_every_metric', not untold, untold)
    with open(os.path.join(docs, 'monitoring/dashboard.json'), encoding='utf-8') as text:
        panels = json.load(text)['panels']
    checks.check('the_dashboard_is_json_with_panels', len(panels) > 5, panels)
    fault = promtool(['check', 'rules', os.path.join(docs, 'monitoring/alerts.yml')])
    checks.check('promtool_accepts_the_rules', not fault, fault)


class Pair(stage.Scene):
    def __init__(self, cairn, kind):
        super().__init__(cairn, kind, servers=2, workers=0)

    def handlers(self):
        return []

    def count_sql(self):
        return 'SELECT count(*) FROM workflow.workflow_run'


def play(scene, docs, checks):
    one, two = scene.server_urls
    scene.start()
    for url in (one, two):
        wait_until_ready(url)
    limit_mails(one)
    enqueue(one, HOSTILE, 30)
    enqueue(two, 'mail', 20)
    seen = wait_for(one, 50), wait_for(two, 50)
    checks.check('each_server_answers_the_sum', seen == (50, 50), seen)

    enqueue(two, 'mail', 5)
    told = Exposition(scrape(two))
    scene.servers[1].kill()
    enqueue(one, 'mail', 1)
    after = Exposition(scrape(one))
    lost = fallen(told.counters(), after.counters())
    checks.check('what_a_killed_server_has_told_remains', not lost, lost)
    checks.check('and_it_is_counted_once',
                 (seen := after.samples[('cairn_jobs_enqueued_total', ())]) == 56, seen)

    scene.servers[1].start()
    wait_until_ready(two)
    scene.servers[0].end()
    again = Exposition(scrape(two))
    lost = fallen(after.counters(), again.counters())
    checks.check('nothing_falls_over_restarts', not lost, lost)
    checks.check('what_was_counted_before_a_regular_end_remains',
                 (seen := again.samples[('cairn_jobs_enqueued_total', ())]) == 56, seen)

    text = scrape(two)
    checks.check('the_text_is_well_formed', not Exposition(text).faults, Exposition(text).faults)
    fault = promtool(['check', 'metrics'], text)
    checks.check('promtool_accepts_the_metrics', not fault, fault)
    label = HOSTILE.replace('\\', '\\\\').replace('"', '\\"')
    checks.check('a_hostile_name_is_one_label',
                 again.samples.get(('cairn_type_ready', (('type', label),))) == 30, text)
    look_at_docs(docs, again, checks)


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in ('sqlite', 'postgres'):
        sys.exit(__doc__)
    stage.end_when_told()
    checks = Checks()
    print('1..12', flush=True)
    scene = Pair(os.path.abspath(sys.argv[1]), sys.argv[2])
    try:
        play(scene, sys.argv[3], checks)
    finally:
        scene.clean_up(checks.is_good)
    return 0 if checks.is_good else 1


if __name__ == '__main__':
    sys.exit(main())

// timeline.tsx - one lane for each step, one bar for each call.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAsk } from "../base/ask";
import { now } from "../base/clock";
import { here } from "../base/place";
import { duration } from "../base/time";
import { visible } from "../base/text";
import type { Event, Page, StepRow } from "../base/types";
import { Failure, groupOf, Loading } from "./bits";

interface Bar { from: number; to: number; kind: string; attempt: number; outcome: string; text: string }

const ENDS = /^step_(completed|retry|failed|skipped|paused|pending)|^compensation_|^human_decision|^signal_taken/;
const LIMIT = 1000, LANES = 200;

/** Bars of a step: waiting for a worker, calls, waits; the open one ends now. */
function barsOf(step: StepRow, events: Event[], end: number): Bar[] {
    const bars: Bar[] = [];
    let open: Bar | null = null, count = 0;
    const close = (at: number, outcome: string) => { if (open) { open.to = at; open.outcome = outcome; bars.push(open); open = null; } };
    for (const it of events) {
        if (it.step !== step.name) continue;
        const at = Date.parse(it.at);
        const begin = (kind: string, attempt = 0) => { close(at, open?.outcome ?? ""); open = { from: at, to: end, kind, attempt, outcome: kind, text: it.type }; };
        if (it.type === "step_ready") begin("queued");
        else if (it.type === "step_started") begin("call", ++count);
        else if (it.type === "step_waiting") begin("waits");
        else if (it.type === "compensation_started") begin("undo", ++count);
        else if (ENDS.test(it.type)) close(at, it.type.replace(/^(step|compensation)_/, ""));
    }
    if (open && !["completed", "failed", "skipped", "rolled_back", "confirmed", "rejected"].includes(step.status)) close(end, step.status);
    if (!bars.length && step.started_at) bars.push({ from: Date.parse(step.started_at), to: step.finished_at ? Date.parse(step.finished_at) : end, kind: step.kind === "task" ? "call" : "waits", attempt: 1, outcome: step.status, text: step.status });
    return bars;
}

export function Timeline({ id, steps, count }: { id: string; steps: StepRow[]; count: number }) {
    const events = useAsk<Page<Event>>(`/v1/instances/${id}/events?limit=${LIMIT}&order=oldest`);
    const [range, setRange] = useState<[number, number] | null>(null);
    useEffect(() => { if (count) events.again(); }, [count]);
    const isOpen = steps.some((it) => it.started_at && !it.finished_at) && steps.some((it) => ["ready", "running", "waiting", "waiting_decision", "compensation"].includes(it.status));
    const end = isOpen ? now.value : 0;
    const lanes = useMemo(() => {
        if (!events.data) return [];
        const last = end || Math.max(...events.data.items.map((it) => Date.parse(it.at)), 0);
        return steps.slice().sort((a, b) => a.seq - b.seq).map((step) => ({ step, bars: barsOf(step, events.data!.items, last) })).filter((it) => it.bars.length).slice(0, LANES);
    }, [events.data, steps, end]);
    if (events.error && !events.data) return <Failure error={events.error} again={events.again} />;
    if (!events.data) return <Loading />;
    if (!lanes.length) return <p class="muted">Nothing has happened yet.</p>;
    const all = lanes.flatMap((it) => it.bars);
    const from = range?.[0] ?? Math.min(...all.map((it) => it.from)), to = Math.max(range?.[1] ?? Math.max(...all.map((it) => it.to)), from + 1);
    const percent = (at: number): number => Math.max(0, Math.min(100, ((at - from) / (to - from)) * 100));
    return (
        <div class="timeline" data-testid="timeline">
            <div class="row between"><span class="muted">{duration(to - from)} in all{events.data.next ? "; only the first 1,000 events are drawn" : ""}</span>
                {range && <button type="button" data-testid="timeline-reset" onClick={() => setRange(null)}>Show all</button>}</div>
            {lanes.map(({ step, bars }) => (
                <div key={step.seq} class="lane" data-testid="lane" data-step={step.name}>
                    <a class="lane-name" href={here({ step: String(step.seq) })} title={step.name}>{visible(step.name)}</a>
                    <div class="lane-bars" onDblClick={() => setRange([Math.min(...bars.map((it) => it.from)), Math.max(...bars.map((it) => it.to))])}>
                        {bars.filter((it) => it.to >= from && it.from <= to).map((bar, index) => (
                            <span key={index} class={`bar b-${bar.kind} g-${bar.kind === "call" ? groupOf(bar.outcome === "retry" ? "failed" : bar.outcome) : ""}`}
                                  data-testid="bar" data-attempt={bar.attempt || undefined} data-outcome={bar.outcome} tabIndex={0} role="img"
                                  aria-label={`${step.name}: ${bar.kind}${bar.attempt ? ` ${bar.attempt}` : ""}, ${bar.outcome}, ${duration(bar.to - bar.from)}`} title={`${bar.kind}${bar.attempt ? ` ${bar.attempt}` : ""} · ${bar.outcome} · ${duration(bar.to - bar.from)}`}
                                  style={{ left: `${percent(bar.from)}%`, width: `${Math.max(0.3, percent(bar.to) - percent(bar.from))}%` }} />
                        ))}
                        {isOpen && <span class="now-line" data-testid="now-line" style={{ left: `${percent(end)}%` }} />}
                    </div>
                </div>
            ))}
            <p class="muted small-text">Grey: waits for a worker. Light: waits for an event, a decision or a time. A double click on a lane zooms in.</p>
        </div>
    );
}

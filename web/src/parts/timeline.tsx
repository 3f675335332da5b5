// timeline.tsx - one lane for each step, one bar for each call.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../base/api";
import { useAsk } from "../base/ask";
import { now } from "../base/clock";
import { here } from "../base/place";
import { duration, inZone } from "../base/time";
import { grouped, visible } from "../base/text";
import type { Event, Page, StepRow } from "../base/types";
import { Empty, Failure, groupOf, Loading } from "./bits";

export interface Bar { from: number; to: number; kind: "queued" | "call" | "gap" | "waits" | "undo"; attempt: number; outcome: string }

const ENDS = /^step_(completed|retry|failed|skipped|paused|pending)|^compensation_|^human_decision|^signal_taken/;
const ENDED = new Set(["completed", "failed", "skipped", "rolled_back", "confirmed", "rejected"]);
const LIMIT = 1000, FIRST = 2000, LANES = 200;

/** Bars of a step, from its events: waiting for a worker, calls, the gaps between them, waits; the open one ends now. */
export function barsOf(step: StepRow, events: Event[], end: number): Bar[] {
    const bars: Bar[] = [];
    let open: Bar | null = null, calls = 0, undos = 0;
    const close = (at: number, outcome: string) => { if (open) { bars.push({ ...open, to: at, outcome }); open = null; } };
    for (const it of events) {
        const at = Date.parse(it.at);
        const begin = (kind: Bar["kind"], attempt = 0) => { close(at, open?.outcome ?? ""); open = { from: at, to: end, kind, attempt, outcome: kind }; };
        if (it.type === "step_ready") begin("queued");
        else if (it.type === "step_started" && (it.data as { status?: string } | null)?.status === "compensation") begin("undo", ++undos);
        else if (it.type === "step_started") begin("call", ++calls);
        else if (it.type === "step_waiting") begin("waits");
        else if (it.type === "compensation_started") begin("queued");
        else if (ENDS.test(it.type)) {
            close(at, it.type.replace(/^(step|compensation)_/, ""));
            if (/_retry$/.test(it.type)) begin("gap");
        }
    }
    if (open && !ENDED.has(step.status)) close(end, step.status);
    if (!bars.length && step.started_at) bars.push(byStep(step, end));
    return bars;
}

const byStep = (step: StepRow, end: number): Bar => ({ from: Date.parse(step.started_at!), to: step.finished_at ? Date.parse(step.finished_at) : end, kind: step.kind === "task" || step.kind === "function" ? "call" : "waits", attempt: Math.max(1, step.attempts), outcome: step.status });

async function eventsOf(target: string, signal: AbortSignal): Promise<{ items: Event[]; isWhole: boolean }> {
    const most = target.startsWith("all:") ? Infinity : FIRST, route = target.replace(/^all:/, "");
    let items: Event[] = [], cursor = "";
    do {
        const page = await ask<Page<Event>>(`${route}?limit=${LIMIT}&order=oldest${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
    } while (cursor && items.length < most);
    return { items, isWhole: !cursor };
}

/** Round marks between two moments. */
function ticks(from: number, to: number): number[] {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000];
    const step = steps.find((it) => (to - from) / it <= 8) ?? 2_592_000_000;
    return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => index * step);
}

export function Timeline({ id, steps, count }: { id: string; steps: StepRow[]; count: number }) {
    const [isAll, setAll] = useState(false);
    const events = useAsk<{ items: Event[]; isWhole: boolean }>(`${isAll ? "all:" : ""}/v1/instances/${id}/events`, eventsOf);
    const [range, setRange] = useState<[number, number] | null>(null);
    const [drag, setDrag] = useState<[number, number] | null>(null);
    const area = useRef<HTMLDivElement>(null);
    useEffect(() => { if (count) events.again(); }, [count]);
    const isOpen = steps.some((it) => it.started_at && !it.finished_at) && steps.some((it) => ["ready", "running", "waiting", "waiting_decision", "compensation"].includes(it.status));
    const end = isOpen ? now.value : 0;
    const byStepName = useMemo(() => {
        const found = new Map<string, Event[]>();
        if (events.data?.isWhole) for (const it of events.data.items) if (it.step) { const list = found.get(it.step); if (list) list.push(it); else found.set(it.step, [it]); }
        return found;
    }, [events.data]);
    const lanes = useMemo(() => {
        if (!events.data) return [];
        const last = end || Math.max(...events.data.items.slice(-1).map((it) => Date.parse(it.at)), ...steps.map((it) => it.finished_at ? Date.parse(it.finished_at) : 0), 0);
        return steps.slice().sort((a, b) => a.seq - b.seq).map((step) => ({ step, bars: barsOf(step, byStepName.get(step.name) ?? [], last) })).filter((it) => it.bars.length);
    }, [events.data, byStepName, steps, end]);
    if (events.error && !events.data) return <Failure error={events.error} again={events.again} />;
    if (!events.data) return <Loading />;
    if (!lanes.length) return <Empty reason="none"><p>Nothing has happened yet.</p></Empty>;
    const all = lanes.flatMap((it) => it.bars), least = all.reduce((min, it) => Math.min(min, it.from), Infinity), most = all.reduce((max, it) => Math.max(max, it.to), 0);
    const undone = all.filter((it) => it.kind === "undo").reduce((min, it) => Math.min(min, it.from), Infinity);
    const from = range?.[0] ?? least, to = Math.max(range?.[1] ?? most, from + 1);
    const percent = (at: number): number => Math.max(0, Math.min(100, ((at - from) / (to - from)) * 100));
    const atPointer = (event: PointerEvent): number => { const rect = area.current!.getBoundingClientRect(); return from + Math.max(0, Math.min(1, (event.clientX - rect.left) / rect.width)) * (to - from); };
    const onDown = (event: PointerEvent) => { if (event.button === 0 && event.pointerType === "mouse" && !(event.target as Element).closest("a")) { const at = atPointer(event); setDrag([at, at]); (event.currentTarget as Element).setPointerCapture(event.pointerId); } };
    const onUp = () => { if (drag) { const [a, b] = [Math.min(...drag), Math.max(...drag)]; if ((b - a) / (to - from) > 0.01) setRange([a, b]); setDrag(null); } };
    return (
        <div class="timeline" data-testid="timeline">
            <div class="row between"><span class="muted">{duration(to - from)}{range ? ` of ${duration(most - least)}` : " in all"}, from {inZone(from)}</span>
                {range && <button type="button" data-testid="timeline-reset" onClick={() => setRange(null)}>Show all</button>}</div>
            {!events.data.isWhole && <p class="note">More than {grouped(FIRST)} events: drawn by steps alone. <button type="button" data-testid="timeline-all" onClick={() => setAll(true)}>Load all</button></p>}
            <div class="lanes" onPointerDown={onDown} onPointerMove={(event) => { if (drag) setDrag([drag[0], atPointer(event)]); }} onPointerUp={onUp} onPointerCancel={() => setDrag(null)}>
                <div class="lane axis" aria-hidden="true"><span class="lane-name" /><div class="lane-bars" ref={area}>{ticks(from, to).map((it) => <span key={it} class="tick" style={{ left: `${percent(from + it)}%` }}>{it ? `+${duration(it)}` : "0"}</span>)}</div></div>
                {lanes.slice(0, LANES).map(({ step, bars }) => (
                    <div key={step.seq} class="lane" data-testid="lane" data-step={step.name}>
                        <a class="lane-name" href={here({ step: String(step.seq) })} title={step.name}>{visible(step.name)}</a>
                        <div class="lane-bars">
                            {bars.filter((it) => it.to >= from && it.from <= to).map((bar, index) => {
                                const text = `${bar.kind === "queued" ? "waits for a worker" : bar.kind === "gap" ? "before the next call" : bar.kind}${bar.attempt ? ` ${bar.attempt}` : ""}, ${bar.outcome}, ${duration(bar.to - bar.from)}`;
                                return <span key={index} class={`bar b-${bar.kind} g-${bar.kind === "call" ? groupOf(bar.outcome === "retry" ? "failed" : bar.outcome) : ""}`}
                                      data-testid="bar" data-attempt={bar.attempt || undefined} data-outcome={bar.outcome} data-kind={bar.kind} tabIndex={0} role="img" aria-label={`${step.name}: ${text}`} title={text}
                                      style={{ left: `${percent(bar.from)}%`, width: `${Math.max(0.25, percent(bar.to) - percent(bar.from))}%` }} />;
                            })}
                        </div>
                    </div>
                ))}
                {/* These lie over all lanes, beside their names. */}
                <div class="over" aria-hidden="true">
                    {isOpen && end <= to && <span class="now-line" data-testid="now-line" style={{ left: `${percent(end)}%` }} />}
                    {undone < Infinity && undone >= from && undone <= to && <span class={percent(undone) > 80 ? "undo-line late" : "undo-line"} data-testid="undo-line" style={{ left: `${percent(undone)}%` }}><small>undo begins</small></span>}
                    {drag && <span class="selection" style={{ left: `${percent(Math.min(...drag))}%`, width: `${percent(Math.max(...drag)) - percent(Math.min(...drag))}%` }} />}
                </div>
            </div>
            {lanes.length > LANES && <p class="muted">{grouped(lanes.length - LANES)} more steps are not drawn; the list of steps has all of them.</p>}
            <p class="muted small-text legend"><span class="bar b-queued" /> waits for a worker <span class="bar b-call g-done" /> call <span class="bar b-waits" /> waits or sleeps <span class="bar b-undo" /> undo. Drag to zoom in.</p>
        </div>
    );
}

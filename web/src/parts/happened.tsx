// happened.tsx - what has happened: steps as a tree, events, logs.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ApiError } from "../base/api";
import { pageWithRaw, useEvery, type Raw } from "../base/ask";
import { now } from "../base/clock";
import { INSTANCE_EVENTS, JOB_EVENTS } from "../base/events";
import type { Element } from "../base/layout";
import { here, query, setQuery } from "../base/place";
import { one } from "../base/query";
import { visible, words } from "../base/text";
import { AT_ONCE } from "../base/ways";
import type { Event, Log, StepRow } from "../base/types";
import { Empty, Failure, Loading, Status, Text, Time, Took, Until } from "./bits";
import { nestedRows, startedId, type Family } from "./children";
import { Json } from "./json";
import { usePages } from "./pages";
import { Rows } from "./window";

// ---- steps -----------------------------------------------------------------------------------------

export interface TreeRow { step: StepRow; depth: number }

/** Steps in the order of the file, indented as the file is. */
export function tree(plan: Element[], steps: StepRow[]): TreeRow[] {
    const depths = new Map<string, number>();
    const walk = (elements: Element[], depth: number) => elements.forEach((it) => {
        depths.set(it.name, depth);
        it.lists?.forEach((list) => walk(list.elements, depth + 1));
    });
    walk(plan, 0);
    return [...steps].sort((a, b) => a.seq - b.seq).map((step) => ({ step, depth: depths.get(step.name) ?? 0 }));
}

/** Its next call is to come; one whose time has come waits for a worker, or is held. */
export const isAwaited = (step: StepRow): boolean => step.status === "ready" && !!step.next_run_at && Date.parse(step.next_run_at) > now.peek();

export function note(step: StepRow) {
    if (step.undo_error) return <span class="bad"><Text text={`undo: ${step.undo_error}`} /></span>;
    if (step.error) return <span class={step.status === "skipped" ? "muted" : "bad"}><Text text={step.error} /></span>;
    if (step.status === "waiting" && step.waiting_event) return <span>{visible(step.waiting_event)}{step.deadline_at && <> until <Until at={step.deadline_at} /></>}</span>;
    if (step.status === "waiting_decision") return <span>a decision{step.deadline_at && <> until <Until at={step.deadline_at} /></>}</span>;
    if (step.status === "waiting" && step.deadline_at) return <span>until <Until at={step.deadline_at} /></span>;
    if (step.locked_by) return <span>by <Text text={step.locked_by} /></span>;
    if (isAwaited(step)) return <span>next call <Time at={step.next_run_at} /></span>;
    return null;
}

/** Of these the time so far counts; one that is ready again has been called, and is not under way. */
const isUnderWay = (step: StepRow): boolean => !!step.locked_by || step.status === "waiting" || step.status === "waiting_decision";
const hasTaken = (step: StepRow): boolean => !!step.started_at && !AT_ONCE.has(step.kind) && (!!step.finished_at || isUnderWay(step));

/** A step of a function that has recorded a job leads there; instances stand below their steps. */
const Started = ({ step }: { step: StepRow }) => step.handler && startedId(step) ? <a href={`jobs/${startedId(step)}`}>the job</a> : null;

export function Steps({ rows, family }: { rows: TreeRow[]; family: Family }) {
    if (!rows.length) return <Empty reason="none"><p>Nothing has happened yet.</p></Empty>;
    const draw = ({ step, depth }: TreeRow) => [
        <tr key={step.id} data-testid="step-row" data-step={step.name} data-seq={step.seq} data-status={step.status}>
            <td class="c-key"><a class={`row-link d-${Math.min(depth, 6)}`} href={here({ step: String(step.seq) })}><Text text={step.name} /></a></td>
            <td class="muted">{family.get(step.seq)?.tally ? "map" : words(step.kind)}</td>
            <td class="muted mono clip-short wide-screen">{step.handler && <Text text={step.handler} />}</td>
            <td class="c-status"><Status status={step.status} of="step" /></td>
            <td class="right" data-label="took">{hasTaken(step) && <Took from={step.started_at} to={step.finished_at} />}</td>
            <td class="right num" data-label="failed calls">{step.kind === "task" || step.kind === "function" ? `${step.attempts}/${step.max_attempts}` : ""}</td>
            <td class="clip rest">{note(step)}<Started step={step} /></td>
        </tr>,
        ...nestedRows(step, depth, family.get(step.seq), 7),
    ];
    return (
        <div class="table-wrap"><table class="rows" data-testid="steps">
            <thead><tr><th>step</th><th>kind</th><th class="wide-screen">handler</th><th>status</th><th class="right">took</th><th class="right">failed calls</th><th>note</th></tr></thead>
            <Rows items={rows} draw={draw} columns={7} />
        </table></div>
    );
}

// ---- events ----------------------------------------------------------------------------------------

function Data({ text = "null" }: { text: string | undefined }) {
    if (text === "null" || text === "{}" || text === "[]") return null;
    return text.length < 60 ? <code class="muted">{visible(text)}</code> : <details><summary class="mono muted">{visible(text.slice(0, 80))} …</summary><Json text={text} /></details>;
}

const withData = <T,>() => pageWithRaw<T>("data");

/** The cursor of a page whose first event is this one: the ids of events are numbers, and a cursor is the one before. */
const cursorOf = (event: string, order: "newest" | "oldest"): string => String(BigInt(event) + (order === "newest" ? 1n : -1n));

/** The filter goes to the server; what is empty is left out. */
function target(route: string, params: Record<string, string>): string {
    const filter = new URLSearchParams(Object.entries(params).filter(([, value]) => value)).toString();
    return filter ? `${route}?${filter}` : route;
}

function Choice({ label, name, id, options }: { label: string; name: string; id: string; options: string[] }) {
    const value = one(query.value, name), all = value && !options.includes(value) ? [...options, value] : options;
    return <label class="inline">{label} <select data-testid={id} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}><option value="">all</option>{all.map((it) => <option key={it} value={it}>{visible(it)}</option>)}</select></label>;
}

/** One of the steps; of very many, its name is written. */
const CHOICES_MAX = 500, NO_STEPS: StepRow[] = [];
function StepChoice({ id, names }: { id: string; names: string[] }) {
    if (names.length <= CHOICES_MAX) return names.length > 1 || one(query.value, "of") ? <Choice label="step" name="of" id={id} options={names} /> : null;
    return <label class="inline">step <input type="search" data-testid={id} placeholder="its name" value={one(query.value, "of")} onChange={(event) => setQuery({ of: event.currentTarget.value })} /></label>;
}

/** Names of steps that the instance has, and of those that were met. */
function useNames(steps: StepRow[], met: { step?: string | null }[]): string[] {
    const known = useRef(new Set<string>());
    for (const it of met) if (it.step) known.current.add(it.step);
    return useMemo(() => [...new Set([...steps.map((it) => it.name), ...known.current])], [steps, known.current.size]);
}

/** How far a search has come that stopped early, and the button that goes on. */
function GoOn({ page, how, go }: { page: { next: string | null; scannedTo: string | null; isAsking: boolean }; how: string; go: () => void }) {
    if (!page.next) return null;
    return <p class="center">{page.scannedTo && <span class="muted" data-testid="scanned-to">Looked {how === "Older" ? "back" : "up"} to <Time at={page.scannedTo} />. </span>}<button type="button" data-testid="older" disabled={page.isAsking} onClick={go}>{page.scannedTo ? "Search on" : how}</button></p>;
}

/** There is nothing, or nothing that matches, or a search has not found it yet. */
function Nothing({ page, hasFilter, text }: { page: { next: string | null; error: ApiError | null; isAsking: boolean; again: () => void }; hasFilter: boolean; text: string }) {
    if (page.error) return <Failure error={page.error} again={page.again} />;
    if (page.isAsking) return <Loading />;
    if (!hasFilter) return <Empty reason="none"><p>{text}</p></Empty>;
    return <Empty reason={page.next ? "searched" : "filter"}><p>{page.next ? "Nothing found so far." : "Nothing matches."}</p><button type="button" data-testid="clear-filters" onClick={() => setQuery({ of: null, type: null, level: null, attempt: null, text: null })}>Clear all</button></Empty>;
}

/** Of an instance that has these steps, or of a job. */
export function Events({ of, steps, count }: { of: string; steps?: StepRow[]; count: number }) {
    const [order, setOrder] = useState<"newest" | "oldest">("newest");
    /** The linked event that the list begins with, since it is not among the first ones. */
    const [first, setFirst] = useState<string | null>(null);
    const step = steps ? one(query.value, "of") : "", type = one(query.value, "type"), linked = one(query.value, "event");
    const page = usePages<Event & Raw>(target(`${of}/events`, { order, step, type }), 200, withData<Event>(), first && cursorOf(first, order));
    useEffect(() => { if (count && order === "newest") page.newest(); else if (count && !page.next) page.newer(); }, [count]);
    // Looked for once: what was found stays where it is when others come.
    const sought = useRef(""), isFound = !!linked && page.items.some((it) => it.id === linked);
    useEffect(() => {
        if (!linked || sought.current === linked || page.isAsking || page.error) return;
        sought.current = linked;
        if (!isFound && page.next && /^\d{1,18}$/.test(linked)) setFirst(linked);
    }, [linked, isFound, page.isAsking]);
    useEffect(() => { if (isFound) document.getElementById(`event-${linked}`)?.scrollIntoView({ block: "center" }); }, [linked, isFound]);
    const names = useNames(steps ?? NO_STEPS, page.items), how = order === "newest" ? "Older" : "Newer";
    if (page.isAsking && !page.items.length && !step && !type) return <Loading />;
    const draw = (it: Event & Raw) => (
        <tr key={it.id} id={`event-${it.id}`} tabIndex={-1} data-testid="event-row" data-type={it.type} data-step={it.step ?? ""} data-event={it.id} class={linked === it.id ? "marked" : undefined}>
            <td class="c-time"><a href={here({ tab: "events", event: it.id })} aria-label="Link to this event">#</a> <Time at={it.at} /></td><td class="c-key mono">{it.type}</td>
            <td>{it.step && <Text text={it.step} />}</td><td class="clip rest"><Data text={it.raw["data"]} /></td>
        </tr>
    );
    return (
        <div data-testid="events">
            <div class="row filters">
                <button type="button" data-testid="events-order" onClick={() => setOrder(order === "newest" ? "oldest" : "newest")}>{order} first</button>
                <Choice label="type" name="type" id="events-type" options={steps ? INSTANCE_EVENTS : JOB_EVENTS} />
                {steps && <StepChoice id="events-step" names={names} />}
            </div>
            {first && <p class="note" data-testid="events-from">{isFound || linked !== first ? `These begin with the event ${first}.` : `There is no event ${linked} here.`} <button type="button" data-testid="events-all" onClick={() => { setFirst(null); setQuery({ event: null }); }}>Show all</button></p>}
            {page.items.length ? <div class="table-wrap"><table class="rows"><Rows items={page.items} draw={draw} columns={4} /></table></div> : <Nothing page={page} hasFilter={!!(step || type)} text="Nothing has happened yet." />}
            <GoOn page={page} how={how} go={page.older} />
        </div>
    );
}

// ---- logs ------------------------------------------------------------------------------------------

const LEVELS = ["debug", "info", "warn", "error"];

/** Beyond so many lines, those that follow are read when they are asked for. */
const LOGS_MAX = 20_000, LOGS_MS = 5000;

export function Logs({ id, steps, count, isRunning }: { id: string; steps: StepRow[]; count: number; isRunning: boolean }) {
    const level = one(query.value, "level"), step = one(query.value, "of"), attempt = one(query.value, "attempt"), text = one(query.value, "text"), hasFilter = !!(level || step || attempt || text);
    const page = usePages<Log & Raw>(target(`/v1/instances/${id}/logs`, { level, step, attempt, text }), 1000, withData<Log>());
    const [isFollowing, setFollowing] = useState(true);
    const end = useRef<HTMLDivElement>(null), typing = useRef(0);
    // They come oldest first and are only added to: who follows reads on to the end.
    const read = useRef(0), hasMore = count !== read.current || (isFollowing && count > 0 && !!page.next);
    useEffect(() => { if (hasMore && !page.isAsking && !page.error && page.items.length < LOGS_MAX) { read.current = count; page.newer(); } }, [hasMore, page.isAsking]);
    useEvery(isFollowing && isRunning ? LOGS_MS : 0, page.newer);           // a line by itself is no event
    // Sticks to the end only while the end is seen: what counts is where it was before lines were added, however many.
    const isAtEnd = useRef(false), look = () => { isAtEnd.current = !!end.current && end.current.getBoundingClientRect().top < innerHeight + 200; };
    useEffect(() => {
        if (isAtEnd.current && isFollowing && count) end.current?.scrollIntoView({ block: "nearest" });
        look();
    }, [page.items.length]);
    useEffect(() => { addEventListener("scroll", look, { passive: true }); return () => removeEventListener("scroll", look); }, []);
    const names = useNames(steps, page.items), most = useRef(1);
    for (const it of page.items) most.current = Math.max(most.current, it.attempt);
    if (!page.items.length && !hasFilter) return page.isAsking && !page.error ? <Loading /> : <div data-testid="logs"><Nothing page={page} hasFilter={false} text="It has logged nothing." /></div>;
    const draw = (it: Log & Raw) => (
        <tr key={it.id} data-testid="log-row" data-level={it.level}><td class="c-time"><Time at={it.at} /></td><td class={it.level === "error" ? "bad" : it.level === "warn" ? "warn" : "muted"}>{it.level}</td>
            <td>{it.step && <Text text={it.step} />}{it.attempt > 1 && <span class="muted"> call {it.attempt}</span>}</td><td class="rest"><Text text={it.message} /> <Data text={it.raw["data"]} /></td></tr>
    );
    return (
        <div data-testid="logs">
            <div class="row filters">
                <Choice label="level" name="level" id="logs-level" options={LEVELS} />
                <StepChoice id="logs-step" names={names} />
                {(most.current > 1 || attempt) && <Choice label="call" name="attempt" id="logs-attempt" options={Array.from({ length: most.current }, (_, index) => String(index + 1))} />}
                <input type="search" class="grow" aria-label="Text in the logs" placeholder="text" data-testid="logs-text" value={text} onInput={(event) => {
                    const value = event.currentTarget.value;
                    clearTimeout(typing.current);
                    typing.current = setTimeout(() => setQuery({ text: value }, "replace"), 250) as unknown as number;
                }} />
                <label class="check"><input type="checkbox" data-testid="logs-follow" checked={isFollowing} onChange={(event) => setFollowing(event.currentTarget.checked)} /> follow</label>
            </div>
            {page.items.length ? <div class="table-wrap"><table class="rows"><Rows items={page.items} draw={draw} columns={4} /></table></div> : <Nothing page={page} hasFilter text="" />}
            <GoOn page={page} how="Newer" go={page.newer} />
            <div ref={end} />
        </div>
    );
}

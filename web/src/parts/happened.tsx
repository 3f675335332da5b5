// happened.tsx - what has happened: steps as a tree, events, logs.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { pageWithRaw, useEvery, type Raw } from "../base/ask";
import { now } from "../base/clock";
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

export function Events({ of, count }: { of: string; count: number }) {
    const [order, setOrder] = useState<"newest" | "oldest">("newest");
    /** The linked event that the list begins with, since it is not among the first ones. */
    const [first, setFirst] = useState<string | null>(null);
    const page = usePages<Event & Raw>(`${of}/events?order=${order}`, 200, withData<Event>(), first && cursorOf(first, order));
    useEffect(() => { if (count) page.again(); }, [count]);
    const step = one(query.value, "of"), type = one(query.value, "type"), linked = one(query.value, "event");
    // Looked for once: what was found stays where it is when others come.
    const sought = useRef(""), isFound = !!linked && page.items.some((it) => it.id === linked);
    useEffect(() => {
        if (!linked || sought.current === linked || page.isAsking || page.error) return;
        sought.current = linked;
        if (!isFound && page.next && /^\d{1,18}$/.test(linked)) setFirst(linked);
    }, [linked, isFound, page.isAsking]);
    useEffect(() => { if (isFound) document.getElementById(`event-${linked}`)?.scrollIntoView({ block: "center" }); }, [linked, isFound]);
    const items = page.items.filter((it) => (!step || it.step === step) && (!type || it.type === type));
    const types = [...new Set(page.items.map((it) => it.type))].sort(), names = [...new Set(page.items.map((it) => it.step).filter((it): it is string => !!it))].sort();
    if (page.error && !page.items.length) return <Failure error={page.error} again={page.again} />;
    if (page.isAsking && !page.items.length) return <Loading />;
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
                <label class="inline">type <select data-testid="events-type" value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}><option value="">all</option>{types.map((it) => <option key={it}>{it}</option>)}</select></label>
                {names.length > 1 && <label class="inline">step <select data-testid="events-step" value={step} onChange={(event) => setQuery({ of: event.currentTarget.value })}><option value="">all</option>{names.map((it) => <option key={it}>{it}</option>)}</select></label>}
            </div>
            {first && <p class="note" data-testid="events-from">{isFound || linked !== first ? `These begin with the event ${first}.` : `There is no event ${linked} here.`} <button type="button" data-testid="events-all" onClick={() => { setFirst(null); setQuery({ event: null }); }}>Show all</button></p>}
            {!items.length ? <Empty reason="none"><p>{page.items.length ? "No such event among those that were read." : "Nothing has happened yet."}</p></Empty>
                : <div class="table-wrap"><table class="rows"><Rows items={items} draw={draw} columns={4} /></table></div>}
            {page.next && <p class="center"><button type="button" data-testid="older" disabled={page.isAsking} onClick={page.older}>{order === "newest" ? "Older" : "Newer"}</button></p>}
        </div>
    );
}

// ---- logs ------------------------------------------------------------------------------------------

const LEVELS = ["debug", "info", "warn", "error"];

/** Beyond so many lines, those that follow are read when they are asked for. */
const LOGS_MAX = 20_000, LOGS_MS = 5000;

export function Logs({ id, count, isRunning }: { id: string; count: number; isRunning: boolean }) {
    const page = usePages<Log & Raw>(`/v1/instances/${id}/logs`, 1000, withData<Log>());
    const [text, setText] = useState("");
    const [isFollowing, setFollowing] = useState(true);
    const end = useRef<HTMLDivElement>(null);
    // They come oldest first and are only added to: who follows reads on to the end.
    const read = useRef(0), hasMore = count !== read.current || (isFollowing && count > 0 && !!page.next);
    useEffect(() => { if (hasMore && !page.isAsking && !page.error && page.items.length < LOGS_MAX) { read.current = count; page.newer(); } }, [hasMore, page.isAsking]);
    useEvery(isFollowing && isRunning ? LOGS_MS : 0, page.newer);           // a line by itself is no event
    const level = one(query.value, "level"), step = one(query.value, "of"), attempt = one(query.value, "attempt");
    const items = page.items.filter((it) => (!level || it.level === level) && (!step || it.step === step) && (!attempt || String(it.attempt) === attempt) && (!text || it.message.toLowerCase().includes(text.toLowerCase())));
    // Sticks to the end only while the end is seen: what counts is where it was before lines were added, however many.
    const isAtEnd = useRef(false), look = () => { isAtEnd.current = !!end.current && end.current.getBoundingClientRect().top < innerHeight + 200; };
    useEffect(() => {
        if (isAtEnd.current && isFollowing && count) end.current?.scrollIntoView({ block: "nearest" });
        look();
    }, [items.length]);
    useEffect(() => { addEventListener("scroll", look, { passive: true }); return () => removeEventListener("scroll", look); }, []);
    if (page.error && !page.items.length) return <Failure error={page.error} again={page.again} />;
    if (page.isAsking && !page.items.length) return <Loading />;
    if (!page.items.length) return <div data-testid="logs"><Empty reason="none"><p>It has logged nothing.</p></Empty></div>;
    const names = [...new Set(page.items.map((it) => it.step).filter((it): it is string => !!it))], most = Math.max(1, ...page.items.map((it) => it.attempt));
    const draw = (it: Log & Raw) => (
        <tr key={it.id} data-testid="log-row" data-level={it.level}><td class="c-time"><Time at={it.at} /></td><td class={it.level === "error" ? "bad" : it.level === "warn" ? "warn" : "muted"}>{it.level}</td>
            <td>{it.step && <Text text={it.step} />}{it.attempt > 1 && <span class="muted"> call {it.attempt}</span>}</td><td class="rest"><Text text={it.message} /> <Data text={it.raw["data"]} /></td></tr>
    );
    return (
        <div data-testid="logs">
            <div class="row filters">
                <label class="inline">level <select data-testid="logs-level" value={level} onChange={(event) => setQuery({ level: event.currentTarget.value })}><option value="">all</option>{LEVELS.map((it) => <option key={it}>{it}</option>)}</select></label>
                {names.length > 1 && <label class="inline">step <select data-testid="logs-step" value={step} onChange={(event) => setQuery({ of: event.currentTarget.value })}><option value="">all</option>{names.map((it) => <option key={it}>{it}</option>)}</select></label>}
                {most > 1 && <label class="inline">call <select data-testid="logs-attempt" value={attempt} onChange={(event) => setQuery({ attempt: event.currentTarget.value })}><option value="">all</option>{Array.from({ length: most }, (_, index) => <option key={index}>{index + 1}</option>)}</select></label>}
                <input type="search" class="grow" aria-label="Text in the logs" placeholder="text" data-testid="logs-text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
                <label class="check"><input type="checkbox" data-testid="logs-follow" checked={isFollowing} onChange={(event) => setFollowing(event.currentTarget.checked)} /> follow</label>
            </div>
            {!items.length ? <Empty reason="filter"><p>Nothing matches.</p></Empty> : <div class="table-wrap"><table class="rows"><Rows items={items} draw={draw} columns={4} /></table></div>}
            {page.next && <p class="center"><button type="button" data-testid="older" disabled={page.isAsking} onClick={page.newer}>Newer</button></p>}
            <div ref={end} />
        </div>
    );
}

// list.tsx - a list that holds still: pages by cursor, rows that change in place, news that is announced.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, ask, onRetry } from "../base/api";
import { EVERYTHING, joined, type Digest } from "../base/live";
import { now } from "../base/clock";
import { useNews } from "../base/ask";
import { here, isBack, leftY, path, query, setQuery } from "../base/place";
import { one, writeQuery, type Query } from "../base/query";
import { moment } from "../base/time";
import { grouped, words } from "../base/text";
import type { Counts, Page } from "../base/types";
import { Icon } from "./icons";

export interface Row { id: string; status: string; run_at?: string }
export interface ListState<T extends Row> {
    rows: T[];
    stale: ReadonlySet<string>;
    marked: ReadonlySet<string>;
    error: ApiError | null;
    isAsking: boolean;
    next: string | null;
    scannedTo: string | null;
    news: number;
    showNews: () => void;
    older: () => void;
    again: () => void;
    isOlder: boolean;
}

const LIMIT = 50, SCANS = 5, SCAN_MS = 1000, CALM_MS = 2000, IDS_MAX = 100;
/** How soon new rows are looked for; each time that there are none, twice as long is waited. */
const NEWS_MS = 1000, NEWS_MAX_MS = 8000;

/** Parameters of the screen as parameters of the route. */
export function filterOf(from: Query, names: string[]): URLSearchParams {
    const result = new URLSearchParams();
    for (const name of names) {
        for (const value of from[name] ?? []) result.append(name, value);
    }
    for (const [name, param] of [["from", "created_from"], ["to", "created_to"]] as const) {
        const at = one(from, name) ? moment(one(from, name), Math.floor(now.peek() / 60_000) * 60_000) : null;
        if (at !== null) result.set(param, new Date(at).toISOString());
    }
    return result;
}

/** A page; a search that stopped early is asked on a few times. */
async function page<T>(route: string, filter: string, cursor: string | null, signal?: AbortSignal): Promise<Page<T>> {
    let items: T[] = [], next = cursor, scannedTo: string | null = null;
    const began = Date.now();
    for (let scan = 0; scan < SCANS && Date.now() - began < SCAN_MS; scan++) {
        const params = new URLSearchParams(filter);
        params.set("limit", String(LIMIT));
        params.set("view", "row");
        if (next) params.set("cursor", next);
        const answer = await ask<Page<T>>(`${route}?${params.toString()}`, signal);
        items = [...items, ...answer.items];
        next = answer.next ?? null;
        scannedTo = answer.scanned_to ?? null;
        if (items.length >= LIMIT || !next || !scannedTo) break;
    }
    return { items, next, scanned_to: scannedTo };
}

/** Of a filter only these can change while a row exists. */
function matcher(filter: string): (row: Row) => boolean {
    const params = new URLSearchParams(filter), statuses = params.get("status")?.split(",") ?? null, due = params.get("due");
    return (row) => (!statuses || statuses.includes(row.status)) && (due === null || !row.run_at || String(Date.parse(row.run_at) <= now.peek()) === due);
}

interface Meta { next: string | null; scannedTo: string | null; error: ApiError | null; isAsking: boolean; isOlder: boolean }

/** The latest list as it was left, and what was opened from it: who comes back finds the same. */
let left: { place: string; rows: Row[]; meta: Meta; y: number; opened: string } | null = null;

export function useList<T extends Row>(route: string, filter: string, kind: "instances" | "jobs", isBusy: () => boolean): ListState<T> {
    const place = here({}), was = useRef(isBack && left?.place === place ? left : null);
    const [rows, setRows] = useState<T[]>((was.current?.rows ?? []) as T[]);
    const [fresh, setFresh] = useState<Page<T> | null>(null);
    const [stale, setStale] = useState<ReadonlySet<string>>(new Set());
    const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
    const [meta, setMeta] = useState<Meta>(was.current?.meta ?? { next: null, scannedTo: null, error: null, isAsking: true, isOlder: false });
    const [count, setCount] = useState(0);
    const current = useRef<T[]>([]), freshNow = useRef<Page<T> | null>(null), filterNow = useRef(filter), wait = useRef(NEWS_MS), hasMore = useRef(false);
    const turns = useRef({ known: { isAsking: false, missed: null as Digest | null }, fresh: { isAsking: false, missed: null as Digest | null } });
    current.current = rows;
    freshNow.current = fresh;
    filterNow.current = filter;
    const leaving = useRef<() => void>();
    leaving.current = () => { left = { place, rows: current.current, meta: { ...meta, isAsking: false, isOlder: false }, y: leftY, opened: path.value.split("/")[1] ?? "" }; };
    useLayoutEffect(() => {
        if (was.current) {
            scrollTo(0, was.current.y);
            document.querySelector<HTMLElement>(`[data-id="${was.current.opened}"] .row-link`)?.focus({ preventScroll: true });
        }
        return () => leaving.current!();
    }, []);
    const asError = (reason: unknown) => reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, route);
    const metaOf = (answer: Page<T>): Meta => ({ next: answer.next ?? null, scannedTo: answer.scanned_to ?? null, error: null, isAsking: false, isOlder: false });

    useLayoutEffect(() => {
        if (was.current) {
            was.current = null;
            void lookAtKnown(EVERYTHING);
            void lookForNew(EVERYTHING);
            return undefined;
        }
        const abort = new AbortController();
        wait.current = NEWS_MS;
        setMeta((old) => ({ ...old, isAsking: true }));
        page<T>(route, filter, null, abort.signal).then((answer) => {
            if (abort.signal.aborted) return;
            setRows(answer.items);
            setFresh(null);
            setStale(new Set());
            setMeta(metaOf(answer));
        }, (reason: unknown) => { if (!abort.signal.aborted) setMeta((old) => ({ ...old, error: asError(reason), isAsking: false })); });
        return () => abort.abort();
    }, [route, filter, count]);
    useEffect(() => onRetry(() => setCount((it) => it + 1)), []);

    /** Rows as they are now, in their old places. */
    const take = (latest: T[]) => {
        const old = current.current, byId = new Map(latest.map((it) => [it.id, it])), fits = matcher(filter);
        const differs = new Set(old.filter((it) => byId.has(it.id) && byId.get(it.id)!.status !== it.status).map((it) => it.id));
        setRows(current.current = old.map((it) => byId.get(it.id) ?? it));
        setStale(new Set(current.current.filter((it) => !fits(it)).map((it) => it.id)));
        if (differs.size) { setMarked(differs); setTimeout(() => setMarked(new Set()), 1000); }
    };
    /** The first page anew, and behind it what is known already. */
    const enter = (latest: Page<T>) => {
        const last = latest.items.at(-1), at = last ? current.current.findIndex((it) => it.id === last.id) : -1;
        if (at >= 0) setRows([...latest.items, ...current.current.slice(at + 1)]);
        else { setRows(latest.items); setMeta(metaOf(latest)); }
        setStale(new Set());
        setFresh(null);
    };
    const isKnown = (id: string): boolean => current.current.some((it) => it.id === id);
    /** One question at a time; what comes meanwhile is asked about in one more. */
    const inTurn = (turn: { isAsking: boolean; missed: Digest | null }, look: (digest: Digest) => Promise<void>) => async (digest: Digest): Promise<void> => {
        if (turn.isAsking) { turn.missed = turn.missed ? joined(turn.missed, digest) : digest; return; }
        turn.isAsking = true;
        await look(digest).catch(() => undefined);       // the next digest asks again; the banner says what is wrong
        turn.isAsking = false;
        const more = turn.missed;
        turn.missed = null;
        if (more) void inTurn(turn, look)(more);
    };
    const lookAtKnown = inTurn(turns.current.known, async (digest) => {
        const old = current.current, changed = digest.is_more ? old.slice(0, IDS_MAX).map((it) => it.id) : digest[kind].filter(isKnown).slice(0, IDS_MAX);
        if (changed.length) take((await ask<Page<T>>(`${route}?view=row&limit=${IDS_MAX}&ids=${changed.join(",")}`)).items);
    });
    const lookForNew = inTurn(turns.current.fresh, async () => {
        if (freshNow.current && freshNow.current.items.filter((it) => !isKnown(it.id)).length >= LIMIT) { hasMore.current = true; return; }      // there are "50+" already
        const latest = await page<T>(route, filter, null);
        if (filterNow.current !== filter) return;
        const hasNew = latest.items.some((it) => !isKnown(it.id)), isFirst = !freshNow.current;
        wait.current = hasNew ? NEWS_MS : Math.min(NEWS_MAX_MS, wait.current * 2);
        if (!hasNew) return;
        if (!isBusy() && scrollY < 40) enter(latest);
        else if (isFirst || latest.items[0]?.id !== freshNow.current?.items[0]?.id) setFresh(latest);
    });
    useNews((digest) => digest[kind].some(isKnown), (digest) => void lookAtKnown(digest));
    useNews((digest) => digest[kind].some((id) => !isKnown(id)), (digest) => void lookForNew(digest), () => wait.current);

    const known = new Set(rows.map((it) => it.id));
    return {
        rows, stale, marked, news: fresh?.items.filter((it) => !known.has(it.id)).length ?? 0, ...meta,
        showNews: () => {
            if (fresh && hasMore.current) page<T>(route, filter, null).then(enter, () => enter(fresh));
            else if (fresh) enter(fresh);
            hasMore.current = false;
            scrollTo(0, 0);
        },
        again: () => setCount((it) => it + 1),
        older: () => {
            setMeta((old) => ({ ...old, isOlder: true }));
            page<T>(route, filter, meta.next).then(
                (answer) => { setRows((old) => { const had = new Set(old.map((it) => it.id)); return [...old, ...answer.items.filter((it) => !had.has(it.id))]; }); setMeta(metaOf(answer)); },
                (reason: unknown) => setMeta((old) => ({ ...old, error: asError(reason), isOlder: false })));
        },
    };
}

/** Whether pointer or focus is in the list, though it rests there, or has been lately. */
export function useCalm(hasSelection: boolean): { isBusy: () => boolean; touch: () => void } {
    const last = useRef(0);
    const selected = useRef(hasSelection);
    selected.current = hasSelection;
    return useMemo(() => ({
        isBusy: () => selected.current || Date.now() - last.current < CALM_MS || !!document.querySelector("[data-testid=sheet], details.menu[open], table.list:hover, table.list:focus-within"),
        touch: () => { last.current = Date.now(); },
    }), []);
}

// ---- filters -------------------------------------------------------------------------------------

export function Menu({ label, id, children, isSet = false }: { label: string; id: string; children: preact.ComponentChildren; isSet?: boolean }) {
    return (
        <details class="menu" data-testid={id} onKeyDown={(event) => { if (event.key === "Escape") { event.currentTarget.open = false; event.stopPropagation(); event.currentTarget.querySelector("summary")?.focus(); } }}>
            <summary class={isSet ? "button set" : "button"}>{label}<Icon name="down" size={12} /></summary>
            <div class="menu-body">{children}</div>
        </details>
    );
}

export function closeMenus(): void {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) menu.open = false;
}

addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]"))
        if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
});

export function StatusFilter({ statuses }: { statuses: string[] }) {
    const chosen = one(query.value, "status").split(",").filter(Boolean);
    const toggle = (status: string) => {
        const next = chosen.includes(status) ? chosen.filter((it) => it !== status) : [...chosen, status];
        setQuery({ status: next.join(",") });
    };
    return (
        <Menu label="status" id="filter-status" isSet={chosen.length > 0}>
            {statuses.map((it) => <label key={it} class="check"><input type="checkbox" checked={chosen.includes(it)} onChange={() => toggle(it)} /> {words(it)}</label>)}
        </Menu>
    );
}

const RANGES: [string, string][] = [["-1h", "last hour"], ["-24h", "last 24 hours"], ["-7d", "last 7 days"], ["-30d", "last 30 days"]];

/** Own bounds are moments of this browser's zone. */
function Bound({ name, label }: { name: "from" | "to"; label: string }) {
    const value = one(query.value, name), at = value && !value.startsWith("-") ? Date.parse(value) : NaN;
    const local = Number.isNaN(at) ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    return <label class="field"><span class="label">{label}</span><input type="datetime-local" value={local} onChange={(event) => { const text = event.currentTarget.value; setQuery({ [name]: text ? new Date(text).toISOString().replace(/:\d\d\.\d+Z$/, "Z") : null }); }} /></label>;
}

export const TimeFilter = () => (
    <Menu label="time" id="filter-time" isSet={!!one(query.value, "from") || !!one(query.value, "to")}>
        {RANGES.map(([value, label]) => <button key={value} type="button" class="quiet line" onClick={() => { setQuery({ from: value, to: null }); closeMenus(); }}>{label}</button>)}
        <button type="button" class="quiet line" onClick={() => { setQuery({ from: null, to: null }); closeMenus(); }}>any time</button>
        <Bound name="from" label="created from" /><Bound name="to" label="created before" />
    </Menu>
);

/** Tags add up: each one chosen narrows the list. */
export function TagFilter() {
    const tags = query.value["tag"] ?? [];
    return (
        <Menu label="tag" id="filter-tag" isSet={tags.length > 0}>
            <input aria-label="Tag, as name:value" placeholder="name:value" onInput={(event) => event.currentTarget.setCustomValidity("")} onKeyDown={(event) => {
                const input = event.currentTarget, text = input.value.trim();
                if (event.key !== "Enter" || !text) return;
                if (!text.includes(":")) { input.setCustomValidity("A tag is a name and a value: name:value."); input.reportValidity(); }
                else { setQuery({ tag: [...tags.filter((it) => it !== text), text] }); closeMenus(); }
            }} />
        </Menu>
    );
}

/** Chosen from names that are known, or typed. */
export function NameFilter({ name, label, id, options }: { name: string; label: string; id: string; options: string[] }) {
    const value = one(query.value, name);
    return (
        <Menu label={label} id={id} isSet={!!value}>
            <input aria-label={label} list={`${id}-options`} defaultValue={value} placeholder={label} onKeyDown={(event) => { if (event.key === "Enter") { setQuery({ [name]: event.currentTarget.value }); closeMenus(); } }} />
            <datalist id={`${id}-options`}>{options.map((it) => <option key={it} value={it} />)}</datalist>
            {options.slice(0, 20).map((it) => <button key={it} type="button" class="quiet line" onClick={() => { setQuery({ [name]: it }); closeMenus(); }}>{it}</button>)}
        </Menu>
    );
}

export function TextFilter() {
    const timer = useRef(0);
    const isSearch = !!one(query.value, "has");
    return (
        <input type="search" class="grow" data-testid="filter-text" aria-label="Id, key or text" placeholder="id, key …" value={one(query.value, isSearch ? "has" : "q")}
               onInput={(event) => {
                   const text = event.currentTarget.value;
                   clearTimeout(timer.current);
                   timer.current = setTimeout(() => setQuery(isSearch ? { has: text } : { q: text }, "replace"), 250) as unknown as number;
               }} />
    );
}

export function Chips({ names }: { names: string[] }) {
    const chips = names.flatMap((name) => (query.value[name] ?? []).flatMap((value) => name === "status" ? value.split(",").map((it) => ({ name, value: it })) : [{ name, value }]));
    if (!chips.length) return null;
    const without = (name: string, value: string): string => here({ [name]: name === "status" ? one(query.value, name).split(",").filter((it) => it !== value).join(",") : (query.value[name] ?? []).filter((it) => it !== value) });
    return (
        <div class="chips">
            {chips.map((it) => <a key={it.name + it.value} class="chip" data-testid="chip" data-name={it.name} data-value={it.value} href={without(it.name, it.value)} aria-label={`Remove ${it.name} ${it.value}`}>
                <Icon name="close" size={10} />{it.name === "status" ? words(it.value) : `${it.name}: ${it.value}`}</a>)}
            <a class="chip plain" data-testid="clear-filters" href={here(Object.fromEntries(names.map((name) => [name, null])))}>Clear all</a>
        </div>
    );
}

export const countText = (it: { n: number; is_more?: boolean }): string => it.is_more ? `${grouped(it.n)}+` : grouped(it.n);

export function CountLine({ counts, screen }: { counts: Counts | null; screen: string }) {
    if (!counts) return null;
    const all = Object.values(counts);
    const sum = { n: all.reduce((total, it) => total + it.n, 0), is_more: all.some((it) => it.is_more) };
    return (
        <p class="counts">
            <a href={here({ status: null })} data-testid="count-all">all <b>{countText(sum)}</b></a>
            {Object.entries(counts).filter(([, it]) => it.n > 0).map(([status, it]) => (
                <a key={status} data-testid={`count-${status}`} href={screen === "" ? `instances${writeQuery({ status: [status] })}` : here({ status })}>{words(status)} <b>{countText(it)}</b></a>
            ))}
        </p>
    );
}

/** Arrow keys and j, k move along rows; Enter opens. */
export function moveFocus(step: number, selector: string): void {
    const rows = [...document.querySelectorAll<HTMLElement>(selector)];
    const at = rows.findIndex((it) => it.contains(document.activeElement));
    const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step))];
    const target = next?.querySelector<HTMLElement>("a.row-link") ?? next;
    target?.focus();
    next?.scrollIntoView({ block: "nearest" });
}

// list.tsx - a list that holds still: pages by cursor, rows that change in place, news that is announced.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../base/api";
import { now } from "../base/clock";
import { useNews } from "../base/ask";
import { here, query, setQuery } from "../base/place";
import { one, writeQuery, type Query } from "../base/query";
import { moment } from "../base/time";
import { grouped, words } from "../base/text";
import type { Counts, Page } from "../base/types";
import { Icon } from "./icons";

export interface Row { id: string; status: string }
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

const LIMIT = 50, SCANS = 5, CALM_MS = 2000;

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

async function page<T>(route: string, filter: string, cursor: string | null, signal?: AbortSignal): Promise<Page<T>> {
    let items: T[] = [], next = cursor, scannedTo: string | null = null;
    for (let scan = 0; scan < SCANS; scan++) {
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

export function useList<T extends Row>(route: string, filter: string, kind: "instances" | "jobs", isBusy: () => boolean): ListState<T> {
    const [rows, setRows] = useState<T[]>([]);
    const [fresh, setFresh] = useState<T[]>([]);
    const [stale, setStale] = useState<ReadonlySet<string>>(new Set());
    const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
    const [meta, setMeta] = useState<{ next: string | null; scannedTo: string | null; error: ApiError | null; isAsking: boolean; isOlder: boolean }>({ next: null, scannedTo: null, error: null, isAsking: true, isOlder: false });
    const [count, setCount] = useState(0);
    const current = useRef<T[]>([]);
    current.current = rows;
    const asError = (reason: unknown) => reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, route);

    useEffect(() => {
        const abort = new AbortController();
        setMeta((old) => ({ ...old, isAsking: true }));
        page<T>(route, filter, null, abort.signal).then((answer) => {
            if (abort.signal.aborted) return;
            setRows(answer.items);
            setFresh([]);
            setStale(new Set());
            setMeta({ next: answer.next ?? null, scannedTo: answer.scanned_to ?? null, error: null, isAsking: false, isOlder: false });
        }, (reason: unknown) => { if (!abort.signal.aborted) setMeta((old) => ({ ...old, error: asError(reason), isAsking: false })); });
        return () => abort.abort();
    }, [route, filter, count]);

    const take = (latest: T[]) => {
        const old = current.current, byId = new Map(latest.map((it) => [it.id, it]));
        const differs = new Set(old.filter((it) => byId.has(it.id) && byId.get(it.id)!.status !== it.status).map((it) => it.id));
        setRows(old.map((it) => byId.get(it.id) ?? it));
        if (differs.size) { setMarked(differs); setTimeout(() => setMarked(new Set()), 1000); }
    };
    const look = async () => {
        try {
            const latest = (await page<T>(route, filter, null)).items;
            const old = current.current, known = new Set(old.map((it) => it.id)), seen = new Set(latest.map((it) => it.id));
            const isFull = latest.length >= LIMIT, lastSeen = latest.at(-1)?.id;
            const end = isFull && lastSeen ? old.findIndex((it) => it.id === lastSeen) : old.length - 1;
            const gone = old.slice(0, end + 1).filter((it) => !seen.has(it.id));
            const others = [...gone, ...old.slice(end + 1)].slice(0, 100).map((it) => it.id);
            if (others.length) {
                const changed = await ask<Page<T>>(`${route}?view=row&limit=100&ids=${others.join(",")}`);
                take([...latest, ...changed.items]);
            } else take(latest);
            if (gone.length) setStale((before) => new Set([...before, ...gone.map((it) => it.id)]));
            const added = latest.filter((it) => !known.has(it.id));
            if (added.length && !isBusy() && scrollY < 40) setRows((rows) => [...added.filter((it) => !rows.some((row) => row.id === it.id)), ...rows]);
            else setFresh(added);
        } catch { /* the next digest asks again; the banner says what is wrong */ }
    };
    useNews((digest) => digest[kind].length > 0, () => void look());

    return {
        rows, stale, marked, news: fresh.length, ...meta,
        showNews: () => { setRows([...fresh, ...rows]); setFresh([]); scrollTo(0, 0); },
        again: () => setCount((it) => it + 1),
        older: () => {
            setMeta((old) => ({ ...old, isOlder: true }));
            page<T>(route, filter, meta.next).then(
                (answer) => { setRows((old) => [...old, ...answer.items.filter((it) => !old.some((row) => row.id === it.id))]); setMeta({ next: answer.next ?? null, scannedTo: answer.scanned_to ?? null, error: null, isAsking: false, isOlder: false }); },
                (reason: unknown) => setMeta((old) => ({ ...old, error: asError(reason), isOlder: false })));
        },
    };
}

/** Whether pointer or focus has been in the list lately. */
export function useCalm(hasSelection: boolean): { isBusy: () => boolean; touch: () => void } {
    const last = useRef(0);
    const selected = useRef(hasSelection);
    selected.current = hasSelection;
    return useMemo(() => ({
        isBusy: () => selected.current || Date.now() - last.current < CALM_MS || !!document.querySelector("[data-testid=sheet], details.menu[open]"),
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

export const TimeFilter = () => (
    <Menu label="time" id="filter-time" isSet={!!one(query.value, "from") || !!one(query.value, "to")}>
        {RANGES.map(([value, label]) => <button key={value} type="button" class="quiet line" onClick={() => { setQuery({ from: value, to: null }); closeMenus(); }}>{label}</button>)}
        <button type="button" class="quiet line" onClick={() => { setQuery({ from: null, to: null }); closeMenus(); }}>any time</button>
    </Menu>
);

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

export const countText = (it: { n: number; is_more: boolean }): string => it.is_more ? `${grouped(it.n)}+` : grouped(it.n);

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

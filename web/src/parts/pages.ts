// pages.ts - pages of a route that add up.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../base/api";
import type { Page } from "../base/types";

interface State<T> { items: T[]; next: string | null; scannedTo: string | null; error: ApiError | null; isAsking: boolean }
interface Paged<T> extends State<T> { older: () => void; again: () => void; newer: () => void; newest: () => void }

/** A search that stopped early is asked on so many times, or so long; then somebody has to want it. */
const SCANS = 5, SCAN_MS = 1000;

/** Ids of events and lines are numbers, and cursors are such ids. */
const isLater = (one: string, other: string | null): boolean => !other || BigInt(one) > BigInt(other);

/** Pages that add up, the first one behind `from`.  `again` reads as many as are shown.  Where nothing changes but that more
 *  comes: `newer` reads what has come behind the last one where the oldest come first, `newest` what has come where they come last. */
export function usePages<T extends { id: string }>(target: string, size: number, readPage: (target: string, signal?: AbortSignal) => Promise<Page<T>> = ask, from: string | null = null): Paged<T> {
    const [state, setState] = useState<State<T>>({ items: [], next: null, scannedTo: null, error: null, isAsking: true });
    const own = useRef({ state, count: size, abort: new AbortController(), isLate: false, top: null as string | null, passed: null as string | null });
    const isBusy = useRef(false);
    const put = (next: Partial<State<T>>) => setState(own.current.state = { ...own.current.state, ...next });
    const pageAt = async (cursor: string | null, signal: AbortSignal) => {
        const page = await readPage(`${target}${target.includes("?") ? "&" : "?"}limit=${size}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, signal);
        return { items: page.items, next: page.next ?? null, scannedTo: page.scanned_to ?? null };
    };
    const read = async (known: T[], cursor: string | null, wanted: number, signal: AbortSignal) => {
        let all = known, at = cursor, scans = 0;
        for (const began = Date.now(); ;) {
            const { items, next, scannedTo } = await pageAt(at, signal);
            if (!all.length && at === from) own.current.top = items[0]?.id ?? next;
            own.current.passed = at;
            all = [...all, ...items];
            at = next;
            if (!next || all.length >= wanted || (scannedTo && (++scans === SCANS || Date.now() - began > SCAN_MS))) return { items: all, next, scannedTo };
        }
    };
    /** From the newest on, until what was looked at is reached. */
    const join = async (signal: AbortSignal): Promise<Partial<State<T>>> => {
        const { state: old, top } = own.current, known = new Set(old.items.map((it) => it.id));
        let found: T[] = [], at: string | null = null, scannedTo: string | null = null, isJoined = false;
        for (let scan = 0; scan < SCANS && !isJoined; scan++) {
            const page = await pageAt(at, signal);
            found = [...found, ...page.items];
            ({ next: at, scannedTo } = page);
            if (!scan) own.current.top = found[0]?.id ?? at ?? top;
            isJoined = !at || !isLater(at, top);
        }
        const items = isJoined ? [...found.filter((it) => !known.has(it.id)), ...old.items] : found;
        return isJoined && at ? { items } : { items, next: at, scannedTo };
    };
    const run = (work: (signal: AbortSignal) => Promise<Partial<State<T>>>, isQuiet = false) => {
        const { signal } = own.current.abort, end = (next: Partial<State<T>>) => {
            if (signal.aborted) return;
            put({ error: null, ...next, isAsking: false });
            isBusy.current = false;
            if (own.current.isLate) { own.current.isLate = false; run(join, true); }
        };
        isBusy.current = true;
        if (!isQuiet) put({ isAsking: true });
        work(signal).then(end, (reason: unknown) => end({ error: reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, target) }));
    };
    useEffect(() => {
        own.current = { ...own.current, count: size, abort: new AbortController(), isLate: false, top: null, passed: null };
        run((signal) => read([], from, size, signal));
        return () => own.current.abort.abort();
    }, [target, from]);
    const add = (cursor: string | null) => run((signal) => read(own.current.state.items, cursor, own.current.state.items.length + 1, signal));
    return {
        ...state,
        older: () => { own.current.count += size; add(state.next); },
        newer: () => {
            const { items, next, isAsking } = own.current.state, { passed } = own.current, last = items.at(-1)?.id ?? null;
            if (!isAsking) add(next ?? (last && isLater(last, passed) ? last : passed));
        },
        newest: () => { if (isBusy.current) own.current.isLate = true; else if (!from) run(join, true); },
        again: () => run((signal) => read([], from, own.current.count, signal), true),
    };
}

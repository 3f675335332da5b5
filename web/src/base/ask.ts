// ask.ts - an answer of the server as state of a component: old content stays until the new is there.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask, askText, onRetry } from "./api";
import { joined, onDigest, type Digest } from "./live";
import { member, rawOf, scan, type Node } from "./scan";
import type { Page } from "./types";

export interface Answer<T> {
    data: T | null;
    error: ApiError | null;
    isAsking: boolean;
    again: () => void;
    set: (data: T) => void;
}

const asError = (reason: unknown, what: string): ApiError =>
    reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, what);

/** Asks for `target`, again when it changes; null: nothing is asked for.  One request is under way at a time.  It does not wait for the frame that is drawn meanwhile. */
export function useAsk<T>(target: string | null, read: (target: string, signal: AbortSignal) => Promise<T> = ask): Answer<T> {
    const [state, setState] = useState<{ data: T | null; error: ApiError | null; isAsking: boolean }>({ data: null, error: null, isAsking: target !== null });
    const own = useRef({ isAsking: false, isWanted: false, again: () => undefined as void });
    useLayoutEffect(() => {
        if (target === null) { setState({ data: null, error: null, isAsking: false }); own.current.again = () => undefined; return undefined; }
        const abort = new AbortController(), mine = { isAsking: false, isWanted: false, again: () => undefined as void };
        const end = (next: (old: { data: T | null }) => { data: T | null; error: ApiError | null }) => {
            if (abort.signal.aborted) return;
            mine.isAsking = false;
            setState((old) => ({ ...next(old), isAsking: mine.isWanted }));
            if (mine.isWanted) { mine.isWanted = false; run(); }
        };
        const run = () => {
            if (mine.isAsking) { mine.isWanted = true; return; }
            mine.isAsking = true;
            setState((old) => ({ ...old, isAsking: true }));
            read(target, abort.signal).then((data) => end(() => ({ data, error: null })), (reason: unknown) => end((old) => ({ data: old.data, error: asError(reason, target) })));
        };
        mine.again = run;
        own.current = mine;
        run();
        const leave = onRetry(run);
        return () => { leave(); abort.abort(); };
    }, [target]);
    return { ...state, again: () => own.current.again(), set: (data) => setState({ data, error: null, isAsking: false }) };
}

/** Members as they stand in the answer, so that no digit is lost. */
export interface Raw { raw: Record<string, string> }
const rawMembers = (text: string, node: Node | undefined, names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => { const found = node && member(text, node, name); return [name, found ? rawOf(text, found) : "null"]; }));

/** Reads an answer with these of its members also as they stand in it. */
export const withRaw = <T>(...names: string[]) => async (target: string, signal?: AbortSignal): Promise<T & Raw> => {
    const text = await askText("GET", target, undefined, signal);
    return { ...JSON.parse(text) as T, raw: rawMembers(text, scan(text), names) };
};

/** The same for each item of a page. */
export const pageWithRaw = <T, P extends Page<T> = Page<T>>(...names: string[]) => async (target: string, signal?: AbortSignal): Promise<P & Page<T & Raw>> => {
    const text = await askText("GET", target, undefined, signal), nodes = member(text, scan(text), "items")?.items ?? [], page = JSON.parse(text) as P;
    return { ...page, items: page.items.map((it, index) => ({ ...it, raw: rawMembers(text, nodes[index], names) })) };
};

/** Calls back with news, at most once in `everyMs`; the latest function counts. */
export function useNews(isMine: (digest: Digest) => boolean, act: (digest: Digest) => void, everyMs: number | (() => number) = 1000): void {
    const latest = useRef({ isMine, act, everyMs });
    latest.current = { isMine, act, everyMs };
    useEffect(() => {
        let timer = 0, last = 0, gathered: Digest | null = null;
        const leave = onDigest((digest) => {
            if (!(digest.is_more || latest.current.isMine(digest))) return;
            gathered = gathered ? joined(gathered, digest) : digest;
            if (timer) return;
            const every = latest.current.everyMs, wait = Math.max(0, last + (typeof every === "number" ? every : every()) - Date.now());
            timer = setTimeout(() => { const all = gathered!; timer = 0; gathered = null; last = Date.now(); latest.current.act(all); }, wait) as unknown as number;
        });
        return () => { leave(); clearTimeout(timer); };
    }, []);
}

/** Asks again and again while somebody looks: for what changes with time alone, of which no news tells. */
export function useEvery(ms: number, act: () => void): void {
    const latest = useRef(act);
    latest.current = act;
    useEffect(() => {
        if (!ms) return undefined;
        const timer = setInterval(() => { if (!document.hidden) latest.current(); }, ms);
        return () => clearInterval(timer);
    }, [ms]);
}

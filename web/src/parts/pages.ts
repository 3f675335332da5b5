// pages.ts - pages of a route that add up.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../base/api";
import type { Page } from "../base/types";

interface Paged<T> { items: T[]; next: string | null; error: ApiError | null; isAsking: boolean; older: () => void; again: () => void; newer: () => void }

/** Pages that add up, the first one behind `from`; `again` reads as many as are shown, `newer` what has come behind the last one where the oldest come first. */
export function usePages<T extends { id: string }>(target: string, size: number, readPage: (target: string, signal?: AbortSignal) => Promise<Page<T>> = ask, from: string | null = null): Paged<T> {
    const [state, setState] = useState<{ items: T[]; next: string | null; error: ApiError | null; isAsking: boolean }>({ items: [], next: null, error: null, isAsking: true });
    const count = useRef(size);
    const read = async (target: string, known: T[], cursor: string | null, wanted: number, signal?: AbortSignal) => {
        let items = known, next = cursor;
        do {
            const page = await readPage(`${target}${target.includes("?") ? "&" : "?"}limit=${size}${next ? `&cursor=${encodeURIComponent(next)}` : ""}`, signal);
            items = [...items, ...page.items];
            next = page.next ?? null;
        } while (next && items.length < wanted);
        setState({ items, next, error: null, isAsking: false });
    };
    const fail = (reason: unknown) => setState((old) => ({ ...old, error: reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, target), isAsking: false }));
    useEffect(() => {
        const abort = new AbortController();
        count.current = size;
        setState((old) => ({ ...old, isAsking: true }));
        read(target, [], from, size, abort.signal).catch((reason: unknown) => { if (!abort.signal.aborted) fail(reason); });
        return () => abort.abort();
    }, [target, from]);
    return {
        ...state,
        older: () => { count.current += size; setState((old) => ({ ...old, isAsking: true })); read(target, state.items, state.next, state.items.length + 1).catch(fail); },
        newer: () => {
            const last = state.items.at(-1);
            if (state.isAsking) return;
            setState((old) => ({ ...old, isAsking: true }));
            read(target, state.items, state.next ?? last?.id ?? null, state.items.length + 1).catch(fail);
        },
        again: () => void read(target, [], from, count.current).catch(fail),
    };
}

// ask.ts - an answer of the server as state of a component: old content stays until the new is there.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "./api";
import { onDigest, type Digest } from "./live";

export interface Answer<T> {
    data: T | null;
    error: ApiError | null;
    isAsking: boolean;
    again: () => void;
    set: (data: T) => void;
}

const asError = (reason: unknown, what: string): ApiError =>
    reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, what);

/** Asks for `target`, again when it changes; null: nothing is asked for. */
export function useAsk<T>(target: string | null, read: (target: string, signal: AbortSignal) => Promise<T> = ask): Answer<T> {
    const [state, setState] = useState<{ data: T | null; error: ApiError | null; isAsking: boolean }>({ data: null, error: null, isAsking: target !== null });
    const [count, setCount] = useState(0);
    useEffect(() => {
        if (target === null) { setState({ data: null, error: null, isAsking: false }); return undefined; }
        const abort = new AbortController();
        setState((old) => ({ ...old, isAsking: true }));
        read(target, abort.signal).then(
            (data) => { if (!abort.signal.aborted) setState({ data, error: null, isAsking: false }); },
            (reason: unknown) => { if (!abort.signal.aborted) setState((old) => ({ data: old.data, error: asError(reason, target), isAsking: false })); });
        return () => abort.abort();
    }, [target, count]);
    return { ...state, again: () => setCount((it) => it + 1), set: (data) => setState({ data, error: null, isAsking: false }) };
}

/** Calls back with news, at most once in `everyMs`; the latest function counts. */
export function useNews(isMine: (digest: Digest) => boolean, act: () => void, everyMs = 1000): void {
    const latest = useRef({ isMine, act });
    latest.current = { isMine, act };
    useEffect(() => {
        let timer = 0, last = 0;
        const leave = onDigest((digest) => {
            if (timer || document.hidden || !(digest.is_more || latest.current.isMine(digest))) return;
            const wait = Math.max(0, last + everyMs - Date.now());
            timer = setTimeout(() => { timer = 0; last = Date.now(); latest.current.act(); }, wait) as unknown as number;
        });
        return () => { leave(); clearTimeout(timer); };
    }, [everyMs]);
}

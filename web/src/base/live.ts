// live.ts - news from the server: one stream for all tabs of this browser, read with fetch.
//
// SPDX-License-Identifier: Apache-2.0
//
// The tab that holds the lock reads the stream and tells the others.  A server that sends no digests
// sends events; digests are then made of them here.
import { signal } from "@preact/signals";
import { apiUrl, headers, token } from "./api";
import { isLiveWanted } from "./settings";

export interface Digest { at: string; instances: string[]; jobs: string[]; is_more: boolean; approvals?: number; dead?: number }
export type LiveState = "live" | "paused" | "connecting" | "lost" | "off";

export const state = signal<LiveState>("connecting");
export const isPaused = signal(false);
/** When the latest word came, and when the next try is. */
export const heardAt = signal(Date.now());
export const retryAt = signal(0);

type Listener = (digest: Digest) => void;
const listeners = new Set<Listener>();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("cairn-live") : null;
const SILENCE_MS = 20_000, POLL_MS = 10_000, HIDDEN_MS = 60_000;
const EVERYTHING: Digest = { at: "", instances: [], jobs: [], is_more: true };

let missed = false;

function tell(digest: Digest): void {
    if (isPaused.value) { missed = true; return; }
    for (const listener of listeners) listener(digest);
}

export function onDigest(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export function pause(isWanted: boolean): void {
    isPaused.value = isWanted;
    if (!isWanted && missed) {
        missed = false;
        tell(EVERYTHING);
    }
}

channel?.addEventListener("message", (message: MessageEvent<{ digest?: Digest; state?: LiveState }>) => {
    if (message.data.digest) { heardAt.value = Date.now(); tell(message.data.digest); }
    if (message.data.state) state.value = message.data.state;
});

function setState(next: LiveState): void {
    state.value = next;
    channel?.postMessage({ state: next });
}

/** Messages of a text/event-stream, and its comments as null. */
export async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: string; event: string; data: string } | null> {
    const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
    let text = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        text += value;
        for (let end; (end = text.indexOf("\n\n")) >= 0;) {
            const block = text.slice(0, end);
            text = text.slice(end + 2);
            const fields = { id: "", event: "message", data: "" };
            let isComment = true;
            for (const line of block.split("\n")) {
                const colon = line.indexOf(":");
                const name = line.slice(0, colon);
                if (name in fields) { isComment = false; fields[name as "data"] += line.slice(colon + 1).trimStart(); }
            }
            yield isComment ? null : fields;
        }
    }
}

const sleep = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(); });
});

let lastId = "";

async function open(target: string, signal: AbortSignal): Promise<Response> {
    return fetch(apiUrl(target), { headers: headers(lastId ? { "Last-Event-ID": lastId } : {}), cache: "no-store", signal });
}

async function readOnce(stop: AbortSignal): Promise<"again" | "poll"> {
    const own = new AbortController();
    const onStop = () => own.abort();
    stop.addEventListener("abort", onStop);
    let silence = 0;
    const hear = () => {
        heardAt.value = Date.now();
        clearTimeout(silence);
        silence = setTimeout(() => own.abort(), SILENCE_MS) as unknown as number;
    };
    let gathered: Set<string> | null = null;
    const gather = (subject: string) => {
        if (!gathered) {
            gathered = new Set();
            setTimeout(() => {
                const ids = [...(gathered ?? [])];
                gathered = null;
                pass({ at: "", instances: ids.slice(0, 200), jobs: ids.slice(0, 200), is_more: ids.length > 200 });
            }, 1000);
        }
        gathered.add(subject);
    };
    try {
        hear();
        let response = await open("/v1/stream?digest_ms=1000", own.signal);
        if (response.status === 400) { lastId = ""; response = await open("/v1/stream", own.signal); }
        if (response.status === 403 || response.status === 404 || response.status === 401) return "poll";
        if (!response.ok || !response.body) return "again";
        setState("live");
        hear();
        for await (const message of messages(response.body)) {
            hear();
            if (!message) continue;
            if (message.id) lastId = message.id;
            const data = JSON.parse(message.data) as Digest & { subject?: string };
            if (message.event === "digest") pass(data);
            else if (data.subject) gather(data.subject);
        }
    } catch {
        if (stop.aborted) return "again";
    } finally {
        clearTimeout(silence);
        stop.removeEventListener("abort", onStop);
        own.abort();
    }
    return "again";
}

function pass(digest: Digest): void {
    channel?.postMessage({ digest });
    tell(digest);
}

/** Reads until `stop`; after a failure it waits 1, 2, 4 ... 30 s. */
async function follow(stop: AbortSignal): Promise<void> {
    let wait = 1000, wasLost = false;
    while (!stop.aborted) {
        const began = Date.now();
        const how = await readOnce(stop);
        if (stop.aborted) return;
        if (how === "poll") {
            setState("off");
            await sleep(POLL_MS, stop);
            if (!stop.aborted) pass(EVERYTHING);
            continue;
        }
        if (Date.now() - began > 5000) wait = 1000;
        setState("lost");
        wasLost = true;
        retryAt.value = Date.now() + wait;
        await sleep(wait + Math.random() * 300, stop);
        wait = Math.min(wait * 2, 30_000);
        if (wasLost && !stop.aborted) { setState("connecting"); pass(EVERYTHING); }
    }
}

let current: AbortController | null = null;

/** With locks one tab reads for all; without them every visible tab reads for itself. */
function start(): void {
    if (current || !isLiveWanted.value || (document.hidden && !("locks" in navigator))) return;
    const stop = (current = new AbortController());
    if (!("locks" in navigator)) { void follow(stop.signal); return; }
    navigator.locks.request("cairn-live", { signal: stop.signal }, () => follow(stop.signal)).catch(() => undefined);
    if (state.value === "connecting" && channel) setTimeout(() => { if (state.value === "connecting") state.value = "live"; }, 1500);
}

function stop(): void {
    current?.abort();
    current = null;
}

let hiding = 0;
document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(stop, HIDDEN_MS) as unknown as number;
    else if (!current) { start(); tell(EVERYTHING); }
});

export function startLive(): void {
    let known = token.value;
    token.subscribe((now) => { if (now !== known) { known = now; stop(); start(); } });
    isLiveWanted.subscribe((isWanted) => {
        if (isWanted) start();
        else { stop(); state.value = "off"; }
    });
}

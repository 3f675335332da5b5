// live.ts - news from the server: one stream for all tabs of this browser, read with fetch.
//
// SPDX-License-Identifier: Apache-2.0
//
// The tab that holds the lock reads the stream and tells the others.
import { signal } from "@preact/signals";
import { apiUrl, FIRST, headers, LATE, token, turn } from "./api";
import { heard } from "./clock";
import { isLiveWanted } from "./settings";

export interface Digest { at: string; instances: string[]; jobs: string[]; is_more: boolean; started?: number; ended?: number; failed?: number; approvals?: number; dead?: number; workers?: number }
export type LiveState = "live" | "paused" | "connecting" | "lost" | "off";
export interface LiveEvent { subject: string; id: string; type: string; step: string | null; at: string; data: Record<string, unknown> | null }

export const state = signal<LiveState>("connecting");
/** By the button or a key. */
export const isPaused = signal(false);
/** While a pointer is down or text is selected in a list. */
export const isHeld = signal(false);
/** When the latest word came, and when the next try is. */
export const heardAt = signal(Date.now());
export const retryAt = signal(0);

type Listener = (digest: Digest) => void;
const listeners = new Set<Listener>();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("cairn-live") : null;
const SILENCE_MS = 20_000, POLL_MS = 10_000, HIDDEN_MS = 60_000, IDS_MAX = 200;
export const EVERYTHING: Digest = { at: "", instances: [], jobs: [], is_more: true };

let missed = false;

function tell(digest: Digest): void {
    if (digest.at) heard(digest.at);
    if (isPaused.value || isHeld.value || document.hidden) { missed = true; return; }
    for (const listener of listeners) listener(digest);
}

function catchUp(): void {
    if (!missed || isPaused.value || isHeld.value || document.hidden) return;
    missed = false;
    tell(EVERYTHING);
}

/** Two digests as one; the later counts hold. */
export function joined(a: Digest, b: Digest): Digest {
    const both = (x: string[], y: string[]) => [...new Set([...x, ...y])].slice(0, IDS_MAX);
    return { ...a, ...b, instances: both(a.instances, b.instances), jobs: both(a.jobs, b.jobs),
             is_more: a.is_more || b.is_more || a.instances.length + b.instances.length > IDS_MAX || a.jobs.length + b.jobs.length > IDS_MAX };
}

export function onDigest(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export function pause(isWanted: boolean): void {
    isPaused.value = isWanted;
    catchUp();
}

export function hold(isWanted: boolean): void {
    if (isHeld.value === isWanted) return;
    isHeld.value = isWanted;
    catchUp();
}

channel?.addEventListener("message", (message: MessageEvent<{ digest?: Digest; state?: LiveState; asks?: boolean }>) => {
    if (message.data.asks && reading) channel.postMessage({ state: state.value });
    if (message.data.digest) { heardAt.value = Date.now(); tell(message.data.digest); }
    if (message.data.state && !reading) { heardAt.value = Date.now(); state.value = message.data.state; }
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
                const value = line.slice(colon + 1).trimStart();
                if (!Object.hasOwn(fields, name)) continue;
                isComment = false;
                if (name === "data") fields.data += value;
                else fields[name as "id" | "event"] = value;
            }
            yield isComment ? null : fields;
        }
    }
}

const sleep = (ms: number, signal: AbortSignal) => new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(); });
});

let lastId = "", reading = false;

const open = async (target: string, from: string, signal: AbortSignal, late: number): Promise<Response> =>
    turn(signal, late).then(() => fetch(apiUrl(target), { headers: headers(from ? { "Last-Event-ID": from } : {}), cache: "no-store", signal }));

type How = "again" | "poll";

/** One connection, until it ends or has been silent for too long; `late`: see turn(). */
async function readOnce(target: string, late: number, from: () => string, stop: AbortSignal, isOpen: () => void, take: (message: { id: string; event: string; data: string } | null) => void): Promise<How> {
    const own = new AbortController(), onStop = () => own.abort();
    stop.addEventListener("abort", onStop);
    let silence = 0;
    const hear = () => {
        clearTimeout(silence);
        silence = setTimeout(() => own.abort(), SILENCE_MS) as unknown as number;
    };
    try {
        hear();
        let response = await open(target, from(), own.signal, late);
        if (response.status === 400) response = await open(target, "", own.signal, late);          // the id is too old
        if ([401, 403, 404].includes(response.status)) return "poll";
        if (!response.ok || !response.body) return "again";
        isOpen();
        for await (const message of messages(response.body)) { hear(); take(message); }
    } catch {
        /* cut off, or silent; whoever called tries again */
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
    reading = true;
    while (!stop.aborted) {
        let isGood = false;
        // It goes first: what happens between the reading of a list and the beginning of the stream would be missed.
        const how = !isAllowed() ? "poll" : await readOnce("/v1/stream?digest_ms=1000", FIRST, () => lastId, stop,
            () => { isGood = true; heardAt.value = Date.now(); setState("live"); if (wasLost) { wasLost = false; pass(EVERYTHING); } },
            (message) => {
                heardAt.value = Date.now();
                if (!message) { channel?.postMessage({ state: "live" }); return; }
                if (message.id) lastId = message.id;
                pass(JSON.parse(message.data) as Digest);
            });
        if (stop.aborted) break;
        if (how === "poll") {
            setState("off");
            await sleep(POLL_MS, stop);
            if (!stop.aborted) pass(EVERYTHING);
            continue;
        }
        if (isGood) wait = 1000;
        wasLost = true;
        retryAt.value = Date.now() + wait;
        setState("lost");
        await sleep(wait * (1 + Math.random() * 0.2), stop);
        wait = Math.min(wait * 2, 30_000);
    }
    reading = false;
}

let current: AbortController | null = null;

/** With locks one tab reads for all; without them every visible tab reads for itself. */
function start(): void {
    if (current || !isLiveWanted.value || (document.hidden && !("locks" in navigator))) return;
    const stop = (current = new AbortController());
    if (!("locks" in navigator)) { void follow(stop.signal); return; }
    navigator.locks.request("cairn-live", { signal: stop.signal }, () => follow(stop.signal)).catch(() => undefined);
    channel?.postMessage({ asks: true });
}

function stop(): void {
    current?.abort();
    current = null;
    reading = false;
}

/** Every event of one instance or job, for as long as its screen is seen. */
export function followSubject(id: string, take: (event: LiveEvent) => void): () => void {
    const all = new AbortController();
    let own: AbortController | null = null, last = "";
    const run = async () => {
        if (own || document.hidden || all.signal.aborted || !isLiveWanted.value) return;
        const mine = (own = new AbortController());
        let wait = 1000;
        while (!mine.signal.aborted) {
            const how = await readOnce(`/v1/stream?subject=${id}`, LATE, () => last, mine.signal, () => { wait = 1000; },
                (message) => { if (message) { if (message.id) last = message.id; if (!isPaused.value) take(JSON.parse(message.data) as LiveEvent); } });
            if (how === "poll") break;
            await sleep(wait, mine.signal);
            wait = Math.min(wait * 2, 30_000);
        }
    };
    const onVisible = () => { if (document.hidden) { own?.abort(); own = null; } else void run(); };
    document.addEventListener("visibilitychange", onVisible);
    void run();
    return () => { all.abort(); own?.abort(); document.removeEventListener("visibilitychange", onVisible); };
}

let hiding = 0;
document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) { hiding = setTimeout(stop, HIDDEN_MS) as unknown as number; return; }
    if (!current) { missed = true; start(); }
    catchUp();
});

let isAllowed = (): boolean => true;

/** `mayRead`: whether the role has a stream; others are asked to look again every 10 s. */
export function startLive(mayRead: () => boolean): void {
    isAllowed = mayRead;
    let known = token.value;
    token.subscribe((now) => { if (now !== known) { known = now; stop(); start(); } });
    isLiveWanted.subscribe((isWanted) => {
        if (isWanted) { if (state.value === "off") state.value = "connecting"; start(); }
        else { stop(); state.value = "off"; }
    });
    addEventListener("pointerdown", (event) => { if (event.target instanceof Element && event.target.closest("table")) hold(true); });
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => hold(isSelecting()));
    document.addEventListener("selectionchange", () => { if (isHeld.value && !isSelecting()) hold(false); });
}

/** Whether text of a list is selected. */
function isSelecting(): boolean {
    const selection = getSelection();
    return !!selection && !selection.isCollapsed && !!selection.anchorNode?.parentElement?.closest("table");
}

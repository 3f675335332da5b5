// api.ts - requests to the server beside the page: token, errors, and at most one of each at a time.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { base, go, path } from "./place";

export class ApiError extends Error {
    constructor(readonly code: string, message: string, readonly detail: string, readonly hint: string,
                readonly status: number, readonly what: string) {
        super(message);
    }
}

const TOKEN = "cairn.token";
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("cairn-sign") : null;

const readToken = (): string => sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN) ?? "";
export const token = signal(readToken());
/** The store does not answer, is full, or must not be written. */
export const trouble = signal<ApiError | null>(null);
/** When what failed is asked for again. */
export const troubleUntil = signal(0);
/** How many requests are under way. */
export const asking = signal(0);

export function signIn(text: string, isKept: boolean): void {
    (isKept ? localStorage : sessionStorage).setItem(TOKEN, text);
    token.value = text;
}

function clearToken(): void {
    sessionStorage.removeItem(TOKEN);
    localStorage.removeItem(TOKEN);
    token.value = "";
}

export function signOut(): void {
    clearToken();
    channel?.postMessage("out");
    location.assign(new URL("sign-in", base));
}

channel?.addEventListener("message", () => {
    clearToken();
    location.assign(new URL("sign-in", base));
});

/** Paths begin with /v1/ or stand beside it. */
export const apiUrl = (target: string): URL => new URL(`..${target}`, base);

/** Over by themselves: asked again after 1, 2, 4 ... 30 s. */
const PASSING = new Set(["too_many", "busy", "unreachable", "closed"]);
/** Over when something could be written again. */
const UNWRITABLE = new Set(["store_full", "read_only"]);

const tries = new Set<() => void>();
/** Called when it is time to ask again after the store did not answer. */
export function onRetry(act: () => void): () => void {
    tries.add(act);
    return () => tries.delete(act);
}

/** At once, or as soon as somebody looks. */
function whenSeen(act: () => void): void {
    if (document.hidden) document.addEventListener("visibilitychange", act, { once: true });
    else act();
}

let retryTimer = 0, retryWait = 1000;

/** Called when the server refuses what this page thought was allowed. */
let refused = (): void => undefined;
export const onForbidden = (act: () => void): void => { refused = act; };

function note(error: ApiError): void {
    // A store that is only written to in vain answers questions; any other may be as it should be again.
    const isTriedAgain = PASSING.has(error.code) || error.code.startsWith("schema_");
    if (!isTriedAgain && !UNWRITABLE.has(error.code)) return;
    trouble.value = error;
    if (!isTriedAgain || retryTimer) return;
    const wait = retryWait * (1 + Math.random() * 0.2);
    troubleUntil.value = Date.now() + wait;
    retryWait = Math.min(retryWait * 2, 30_000);
    const timer = retryTimer = setTimeout(() => whenSeen(() => { if (retryTimer !== timer) return; retryTimer = 0; tries.forEach((act) => act()); }), wait) as unknown as number;
}

/** Another question may still be answered while this one is not. */
function noteSuccess(method: string, what: string): void {
    const error = trouble.value;
    if (!error || (method === "GET" && UNWRITABLE.has(error.code))) return;
    if (method === "GET" && error.what !== what && (!PASSING.has(error.code) || Date.now() < troubleUntil.value)) return;
    clearTimeout(retryTimer);
    retryTimer = 0;
    retryWait = 1000;
    trouble.value = null;
}

/** At most four requests in any second, whatever happens.  A little longer than one: between its turn and the wire a request takes its time. */
const RATE = 4, SECOND_MS = 1020, LOOK_MS = 25;
/** What a person does goes first; what a screen can be read without, after those that it begins with, and not before what somebody
 *  waits for, unless it has waited long itself. */
export const FIRST = -10_000, LATE = 400;
const LONG_MS = 2500;
interface Turn { due: number; rank: number; begin: () => void }
let sent: number[] = [], waiting: Turn[] = [], timer = 0;

function giveTurns(): void {
    const now = performance.now();
    sent = sent.filter((at) => now - at < SECOND_MS);
    const due = waiting.filter((it) => it.due <= now).sort((a, b) => a.rank - b.rank).slice(0, RATE - sent.length);
    waiting = waiting.filter((it) => !due.includes(it));
    for (const it of due) { sent.push(now); it.begin(); }
    timer = waiting.length ? setTimeout(giveTurns, LOOK_MS) as unknown as number : 0;
}

/** Waits for its turn, `late` milliseconds behind those that are asked now; one that is given up needs none. */
export function turn(signal: AbortSignal, late = 0): Promise<void> {
    return new Promise((begin, left) => {
        if (signal.aborted) { left(new DOMException("left", "AbortError")); return; }
        const due = performance.now() + late, mine = { due, rank: late > 0 ? due + LONG_MS : due, begin };
        waiting.push(mine);
        signal.addEventListener("abort", () => { waiting = waiting.filter((it) => it !== mine); left(new DOMException("left", "AbortError")); });
        if (!timer) { timer = -1; queueMicrotask(giveTurns); }
    });
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
    return token.value ? { ...more, Authorization: `Bearer ${token.value}` } : more;
}

async function failure(response: Response, what: string): Promise<ApiError> {
    let body: Partial<Record<"code" | "message" | "detail" | "hint", string>> = {};
    try { body = (await response.json()) as typeof body; } catch { /* a proxy's words */ }
    return new ApiError(body.code ?? "internal", body.message ?? `the server answered with status ${response.status}`,
                        body.detail ?? "", body.hint ?? "", response.status, what);
}

function toSignIn(): void {
    if (path.value === "sign-in") return;
    const next = location.pathname + location.search;
    go(`sign-in?next=${encodeURIComponent(next)}`, "replace");
}

/** What is asked for now and may be given up. */
const underWay = new Set<AbortController>();

/** Gives up all that is asked for; each says so in its place, and can be asked for again. */
export function stopAsking(): void {
    for (const it of underWay) it.abort();
}

/** `late`: see turn().  `onSent` is called as it goes out. */
export interface Manner { late?: number; onSent?: () => void }

async function request(method: string, target: string, own: AbortController, { late, onSent }: Manner, body?: string): Promise<string> {
    const what = `${method} ${target.split("?")[0] ?? ""}`;
    const isAwaited = (late ?? 0) <= 0;                 // nobody waits for what comes later
    if (isAwaited) asking.value++;
    try {
        const response = await turn(own.signal, late).then(() => {
            onSent?.();
            return fetch(apiUrl(target), {
                method, headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }), cache: "no-store",
                ...(body === undefined ? {} : { body }), signal: own.signal,
            });
        }).catch(() => {
            throw own.signal.aborted ? new ApiError("stopped", "The question was given up.", "", "", 0, what) : new ApiError("unreachable", "the server does not answer", "", "", 0, what);
        });
        if (!response.ok) throw await failure(response, what);
        noteSuccess(method, what);
        return await response.text();
    } catch (reason) {
        if (reason instanceof ApiError) {
            if (reason.code === "unauthorized") toSignIn();
            if (reason.code === "forbidden" && target !== "/v1/me") refused();
            note(reason);
        }
        throw reason;
    } finally {
        if (isAwaited) asking.value--;
    }
}

interface Question { text: Promise<string>; own: AbortController; users: number }
/** Those that wait for their turn, and those that were sent. */
const open = new Map<string, Question>(), away = new Map<string, Promise<unknown>>();

async function question(target: string, own: AbortController, manner: Manner): Promise<string> {
    await away.get(target)?.catch(() => undefined);
    const onSent = () => { open.delete(target); away.set(target, it); manner.onSent?.(); }, it = request("GET", target, own, { ...manner, onSent });
    try { return await it; } finally { underWay.delete(own); if (away.get(target) === it) away.delete(target); if (open.get(target)?.own === own) open.delete(target); }
}

/** One at a time of each; who asks for what waits for its turn already is given the same answer. */
function askOnce(target: string, signal: AbortSignal | undefined, manner: Manner): Promise<string> {
    if (signal?.aborted) return Promise.reject(new DOMException("left", "AbortError"));
    let it = open.get(target);
    if (!it) {
        const own = new AbortController();
        it = { own, users: 0, text: question(target, own, manner) };
        open.set(target, it);
        underWay.add(own);
    }
    const mine = it;
    mine.users++;
    return new Promise((done, failed) => {
        const leave = () => { failed(new DOMException("left", "AbortError")); if (--mine.users) return; if (open.get(target) === mine) open.delete(target); mine.own.abort(); };
        signal?.addEventListener("abort", leave);
        mine.text.then(done, failed).finally(() => signal?.removeEventListener("abort", leave));        // a screen asks for hours
    });
}

/** The answer's text, so that no digit is lost. */
export const askText = (method: string, target: string, body?: string, signal?: AbortSignal, manner: Manner = {}): Promise<string> =>
    method === "GET" ? askOnce(target, signal, manner) : request(method, target, new AbortController(), { late: FIRST }, body);

export async function ask<T>(target: string, signal?: AbortSignal, manner?: Manner): Promise<T> {
    return JSON.parse(await askText("GET", target, undefined, signal, manner)) as T;
}

/** What can come a moment later. */
export const askLater = <T>(target: string, signal?: AbortSignal): Promise<T> => ask<T>(target, signal, { late: LATE });

/** The body is an object, or a text that is JSON already. */
export async function send<T>(method: string, target: string, body?: object | string): Promise<T> {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const answer = await askText(method, target, text);
    return (answer ? JSON.parse(answer) : {}) as T;
}

// who.ts - who is signed in, what the server is, and so which buttons there are.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { ApiError, ask, LATE, onForbidden, token } from "./api";
import { askClock, setVirtual, timed } from "./clock";
import { byName } from "./settings";
import type { About, Me } from "./types";

/** This tab was told before: a screen that is loaded again does not wait to hear it once more.  `of` stands for the token, which is not kept
 *  a second time. */
const KNOWN = "cairn.me";
const markOf = (text: string): number => [...text].reduce((mark, it) => Math.imul(mark ^ it.codePointAt(0)!, 0x01000193), 0x811c9dc5);
let of = markOf(token.peek());

function known(): Me | null {
    try {
        const kept = JSON.parse(sessionStorage.getItem(KNOWN) ?? "null") as { of: number; who: Me } | null;
        return kept?.of === of && Array.isArray(kept.who.may) ? kept.who : null;
    } catch { return null; }
}

export const me = signal<Me | null>(known());
export const about = signal<About | null>(null);

function take(who: Me): void {
    if (JSON.stringify(who) !== JSON.stringify(me.peek())) me.value = who;
    try { sessionStorage.setItem(KNOWN, JSON.stringify({ of, who })); } catch { /* private window */ }
}

/** Which buttons there are is known first; what the server is, with its clock, comes behind the screen that is shown. */
export async function askWho(): Promise<void> {
    const mark = markOf(token.peek()), isKnown = me.peek() !== null && mark === of;
    of = mark;
    try { take(await ask<Me>("/v1/me", undefined, isKnown ? { late: LATE } : {})); }
    catch (reason) {
        if (!(reason instanceof ApiError)) throw reason;
        return;
    }
    await timed<About>("/v1/about").then((what) => {
        about.value = what;
        if (what.clock === "virtual") setVirtual(what.now);
    }, askClock);
}

/** A role may have changed since it was asked for: buttons that it no longer allows go away. */
const AGAIN_MS = 5000;
let askedAt = -AGAIN_MS;
onForbidden(() => {
    if (performance.now() - askedAt < AGAIN_MS) return;
    askedAt = performance.now();
    ask<Me>("/v1/me").then(take, () => undefined);
});

/** "POST /v1/instances/{id}/cancel": as the gate table has it, with {} for each segment. */
export function may(method: string, route: string): boolean {
    const who = me.value;
    return !!who && who.may.includes(`${method} ${route.replace(/\{[^}]*\}/g, "{}")}`);
}

/** Until the server has said so, it has all that this page knows. */
export const hasFeature = (name: string): boolean => about.value?.features.includes(name) ?? true;

/** The name that goes with an action. */
export const actor = (): string => me.value?.name || byName.value;

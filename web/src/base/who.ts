// who.ts - who is signed in, what the server is, and so which buttons there are.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { ApiError, ask, onForbidden } from "./api";
import { askClock, setVirtual, timed } from "./clock";
import { byName } from "./settings";
import type { About, Me } from "./types";

export const me = signal<Me | null>(null);
export const about = signal<About | null>(null);

/** Which buttons there are is known first; what the server is, with its clock, comes behind the screen that is shown. */
export async function askWho(): Promise<void> {
    try { me.value = await ask<Me>("/v1/me"); }
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
    ask<Me>("/v1/me").then((who) => { me.value = who; }, () => undefined);
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

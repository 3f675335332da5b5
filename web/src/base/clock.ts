// clock.ts - the store's clock, and a tick that all times on the screen share.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { ask, LATE } from "./api";

/** What the store's clock is ahead of this browser's. */
export const skew = signal(0);
export const isVirtual = signal(false);
export const now = signal(Date.now());

const ASK_MS = 5 * 60_000, AHEAD_MS = 500, BEHIND_MS = 30_000;

/** The store's clock, of an answer that says what it was. */
export async function timed<T extends { now: string }>(target: string): Promise<T> {
    let sentAt = Date.now();
    const answer = await ask<T>(target, undefined, { late: LATE, onSent: () => { sentAt = Date.now(); } });
    if (isVirtual.value) stoodAt = Date.parse(answer.now);
    else skew.value = Date.parse(answer.now) - (sentAt + Date.now()) / 2;
    tick();
    return answer;
}

/** The role may not ask; then this browser's clock counts. */
export const askClock = (): void => void timed("/v1/clock").catch(() => undefined);

/** A moment of the store's clock that has just come with the news. */
export function heard(at: string): void {
    const ms = Date.parse(at);
    if (Number.isNaN(ms)) return;
    const ahead = ms - Date.now() - skew.value;
    if (isVirtual.value) stoodAt = Math.max(stoodAt, ms);
    else if (ahead > AHEAD_MS) skew.value = ms - Date.now();
    else if (ahead < -BEHIND_MS) askClock();        // or the news is late
    tick();
}

let stoodAt = 0;
function tick(): void {
    if (isVirtual.value) now.value = stoodAt;
    else now.value = Date.now() + skew.value;
}

/** A virtual clock stands still until the server says otherwise. */
export function setVirtual(at: string): void {
    isVirtual.value = true;
    stoodAt = Date.parse(at);
    tick();
}

export function startClock(): void {
    setInterval(() => { if (!document.hidden) tick(); }, 1000);
    setInterval(() => { if (!document.hidden) askClock(); }, ASK_MS);
}

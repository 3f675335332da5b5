// more.tsx - a list that is read as a whole: more of it is asked for by a larger limit.
//
// SPDX-License-Identifier: Apache-2.0
import { grouped } from "../base/text";

const STEP = 200, MOST = 1000;

/** Nothing is left out without a word. */
export function More({ page, limit, set }: { page: { next?: string | null } | null; limit: number; set: (limit: number) => void }) {
    if (!page?.next) return null;
    return limit < MOST ? <p class="center"><button type="button" data-testid="older" onClick={() => set(Math.min(MOST, limit + STEP))}>More</button></p> : <p class="muted">Only the first {grouped(MOST)} are shown.</p>;
}

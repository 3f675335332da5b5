// ticks.ts - where the lines of a chart stand.
//
// SPDX-License-Identifier: Apache-2.0

/** Round values from 0 to at least `max`, at most `most` of them: steps of 1, 2 or 5 times a power of ten. */
export function ticks(max: number, most = 4): number[] {
    const least = Math.max(max, 1) / most, power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max(1, [1, 2, 5, 10].map((it) => it * power).find((it) => it >= least * (1 - 1e-9)) ?? 10 * power);
    return Array.from({ length: Math.ceil(Math.max(max, 1) / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Which of `count` places have a label: as many as there is room for, evenly, the last one's near the right edge. */
export function labelled(count: number, room: number): number[] {
    const step = Math.max(1, Math.ceil(count / Math.max(1, room)));
    return Array.from({ length: Math.floor((count - 1) / step) + 1 }, (_, index) => count - 1 - index * step).reverse();
}

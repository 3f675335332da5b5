// changes.ts - two versions of a definition, compared element by element.
//
// SPDX-License-Identifier: Apache-2.0
import { KINDS } from "./layout";

export interface KeyChange { key: string; before: string; after: string }
export interface Change { step: string; change: "added" | "removed" | "changed" | "moved"; keys: KeyChange[] }

type Item = Record<string, unknown>;

/** Every element by name, without the lists within, in the order of the file. */
function flat(list: unknown, found = new Map<string, Item>()): Map<string, Item> {
    if (!Array.isArray(list)) return found;
    for (const item of list as Item[]) {
        const word = KINDS.find((it) => typeof item[it] === "string");
        if (!word) continue;
        const { then, else: other, branches, steps, ...own } = item;
        found.set(String(item[word]), own);
        flat(then, found);
        flat(other, found);
        if (Array.isArray(branches)) branches.forEach((branch) => flat(branch, found));
        flat(steps, found);
    }
    return found;
}

const text = (value: unknown): string => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

function keysOf(before: Item, after: Item): KeyChange[] {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((key) => ({ key, before: text(before[key]), after: text(after[key]) })).filter((it) => it.before !== it.after);
}

/** Names that stand in another order than before: all but a longest row of names that kept theirs. */
function moved(before: string[], after: string[]): Set<string> {
    const at = new Map(after.map((name, index) => [name, index])), tails: number[] = [], tailNames: string[] = [], previous = new Map<string, string | undefined>();
    for (const name of before) {
        const place = at.get(name)!;
        let low = 0, high = tails.length;
        while (low < high) { const middle = (low + high) >> 1; if (tails[middle]! < place) low = middle + 1; else high = middle; }
        tails[low] = place;
        tailNames[low] = name;
        previous.set(name, low ? tailNames[low - 1] : undefined);
    }
    const kept = new Set<string>();
    for (let name = tailNames.at(-1); name !== undefined; name = previous.get(name)) kept.add(name);
    return new Set(before.filter((name) => !kept.has(name)));
}

/** What came, went, changed or moved from one list of steps to another. */
export function changes(before: unknown, after: unknown): Change[] {
    const a = flat(before), b = flat(after);
    const both = [...a.keys()].filter((it) => b.has(it)), others = moved(both, [...b.keys()].filter((it) => a.has(it)));
    return [
        ...[...b].filter(([name]) => !a.has(name)).map(([step, item]): Change => ({ step, change: "added", keys: keysOf({}, item) })),
        ...[...a].filter(([name]) => !b.has(name)).map(([step, item]): Change => ({ step, change: "removed", keys: keysOf(item, {}) })),
        ...both.filter((it) => keysOf(a.get(it)!, b.get(it)!).length).map((step): Change => ({ step, change: "changed", keys: keysOf(a.get(step)!, b.get(step)!) })),
        ...both.filter((it) => others.has(it) && !keysOf(a.get(it)!, b.get(it)!).length).map((step): Change => ({ step, change: "moved", keys: [] })),
    ];
}

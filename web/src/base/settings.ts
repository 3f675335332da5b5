// settings.ts - what this browser remembers.
//
// SPDX-License-Identifier: Apache-2.0
import { effect, signal, type Signal } from "@preact/signals";
import type { TimeForm } from "./time";

const PREFIX = "cairn.";

function read<T>(name: string, otherwise: T): T {
    try {
        const text = localStorage.getItem(PREFIX + name);
        return text === null ? otherwise : (JSON.parse(text) as T);
    } catch {
        return otherwise;
    }
}

/** A signal that outlives the tab. */
export function kept<T>(name: string, otherwise: T): Signal<T> {
    const value = signal(read(name, otherwise));
    let isFirst = true;
    effect(() => {
        const text = JSON.stringify(value.value);
        if (isFirst) { isFirst = false; return; }
        try { localStorage.setItem(PREFIX + name, text); } catch { /* private window: it lasts as long as the tab */ }
    });
    return value;
}

export interface SavedView { name: string; screen: string; query: string }

export const timeForm = kept<TimeForm>("time", "relative");
export const zone = kept("zone", "UTC");
export const theme = kept<"system" | "light" | "dark">("theme", "system");
export const density = kept<"normal" | "tight">("density", "normal");
export const hasShortcuts = kept("shortcuts", true);
export const isLiveWanted = kept("live", true);
export const byName = kept("by", "");
export const views = kept<SavedView[]>("views", []);
export const hiddenColumns = kept<string[]>("hidden", ["preview", "took", "step", "error", "priority", "runs"]);

effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    document.documentElement.dataset["density"] = density.value;
});

export function forgetAll(): void {
    for (const place of [localStorage, sessionStorage]) for (const name of Object.keys(place)) if (name.startsWith(PREFIX)) place.removeItem(name);
}

// place.ts - the address is the state: the path and the query as signals.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { changed, readQuery, writeQuery, type Query } from "./query";

/** Of the page, with a slash at its end; everything else is relative to it. */
export const base = new URL(".", document.baseURI);

const pathNow = (): string => location.pathname.startsWith(base.pathname) ? location.pathname.slice(base.pathname.length) : "";

export const path = signal(pathNow());
export const query = signal<Query>(readQuery(location.search));

function read(): void {
    path.value = pathNow();
    query.value = readQuery(location.search);
}

addEventListener("popstate", read);

/** To an address below the base, such as "instances?status=failed". */
export function go(to: string, how: "push" | "replace" = "push"): void {
    const url = new URL(to, base);
    if (url.href === location.href) return;
    if (how === "push") history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    const isOther = pathNow() !== path.value;
    read();
    if (isOther && how === "push") scrollTo(0, 0);
}

/** A name as the last part of an address: one with a dot would be taken for a file when it is loaded anew. */
export const lastPart = (name: string): string => encodeURIComponent(name).replaceAll(".", "%2E");

/** This screen with other parameters. */
export const here = (changes: Record<string, string | string[] | null>): string =>
    path.value + writeQuery(changed(query.value, changes));

export const setQuery = (changes: Record<string, string | string[] | null>, how: "push" | "replace" = "push"): void => go(here(changes), how);

/** Links below the base are followed without loading the page anew. */
addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || !link.href.startsWith(base.href)) return;
    event.preventDefault();
    go(link.href.slice(base.href.length));
});

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

/** Whether a person has come back here, and expects what was left; how far down it was left. */
export let isBack = false, leftY = 0;
let list: string | null = null;

function read(): void {
    path.value = pathNow();
    query.value = readQuery(location.search);
    if (!path.value.includes("/")) list = path.value + location.search;
}

addEventListener("popstate", () => { isBack = true; read(); });
read();

/** The list of this name with the filters that it had, if it was the latest one. */
export const listOf = (name: string): string => list?.split("?")[0] === name ? list : name;

/** From one of something to the list that it was chosen from. */
export const goBack = (): void => go(list ?? path.value.split("/")[0]!, "push", true);

/** To an address below the base, such as "instances?status=failed". */
export function go(to: string, how: "push" | "replace" = "push", isReturn = false): void {
    const url = new URL(to || ".", base);
    if (url.href === location.href) return;
    isBack = isReturn;
    leftY = scrollY;
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
    go(link.href.slice(base.href.length), "push", !!link.closest(".crumbs"));
});

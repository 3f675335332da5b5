// text.ts - ids, sizes and words as people read them.
//
// SPDX-License-Identifier: Apache-2.0

/** The first characters of ids that are made one after the other are alike. */
export const shortId = (id: string): string => id.slice(-8);

export const isId = (text: string): boolean =>
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

export const words = (status: string): string => status.replaceAll("_", " ");

export function bytes(count: number): string {
    if (count < 1000) return `${count} B`;
    if (count < 1_000_000) return `${(count / 1000).toFixed(1)} KB`;
    return `${(count / 1_000_000).toFixed(1)} MB`;
}

export const grouped = (count: number): string => count.toLocaleString("en-US");

export const plural = (count: number, one: string, many = `${one}s`): string =>
    `${grouped(count)} ${count === 1 ? one : many}`;

/** Characters that turn or hide text, each shown as its code. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export const visible = (text: string): string =>
    text.replace(HIDDEN, (it) => `\u2423${(it.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);

export function oneLine(text: string, length = 200): string {
    const line = text.split("\n", 1)[0] ?? "";
    return line.length > length ? `${line.slice(0, length)}…` : line;
}

/** A word of a command, as a shell reads it. */
export const quoted = (text: string): string => /^[\w.:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

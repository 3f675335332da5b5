// query.ts - filters as parameters of an address, and back.
//
// SPDX-License-Identifier: Apache-2.0

export type Query = Record<string, string[]>;

export function readQuery(search: string): Query {
    const query: Query = Object.create(null) as Query;
    for (const [name, value] of new URLSearchParams(search)) (query[name] ??= []).push(value);
    return query;
}

/** In the order of the names given; commas, colons and slashes stay readable. */
export function writeQuery(query: Query): string {
    const parts: string[] = [];
    for (const [name, values] of Object.entries(query))
        for (const value of values)
            parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(value).replace(/%(2C|3A|2F)/g, (it) => decodeURIComponent(it))}`);
    return parts.length ? `?${parts.join("&")}` : "";
}

/** A changed copy; null or "" removes a parameter. */
export function changed(query: Query, changes: Record<string, string | string[] | null>): Query {
    const result: Query = Object.assign(Object.create(null) as Query, query);
    for (const [name, value] of Object.entries(changes)) {
        const values = value === null ? [] : Array.isArray(value) ? value : value === "" ? [] : [value];
        if (values.length) result[name] = values;
        else delete result[name];
    }
    return result;
}

export const one = (query: Query, name: string): string => query[name]?.[0] ?? "";

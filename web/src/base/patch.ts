// patch.ts - a merge patch (RFC 7396) on a JSON text; what it does not touch keeps its digits.
//
// SPDX-License-Identifier: Apache-2.0
import { member, rawOf, scan, type Node } from "./scan";

function apply(text: string, target: Node | null, patchText: string, patch: Node): string {
    if (patch.kind !== "object") return rawOf(patchText, patch);
    const parts: string[] = [], seen = new Set<string>();
    const keys = target?.kind === "object" ? target.keys! : [];
    for (const key of keys) {
        if (seen.has(key)) continue;
        seen.add(key);
        const value = member(text, target!, key)!, change = member(patchText, patch, key);
        if (!change) parts.push(`${JSON.stringify(key)}: ${rawOf(text, value)}`);
        else if (rawOf(patchText, change) !== "null") parts.push(`${JSON.stringify(key)}: ${apply(text, value, patchText, change)}`);
    }
    for (const key of patch.keys!) {
        if (seen.has(key)) continue;
        seen.add(key);
        const change = member(patchText, patch, key)!;
        if (rawOf(patchText, change) !== "null") parts.push(`${JSON.stringify(key)}: ${apply(text, null, patchText, change)}`);
    }
    return `{${parts.join(", ")}}`;
}

export const merged = (text: string, patch: string): string => apply(text, scan(text), patch, scan(patch));

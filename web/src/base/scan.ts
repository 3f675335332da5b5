// scan.ts - JSON read without losing a digit: every value knows where it stands in the text.
//
// SPDX-License-Identifier: Apache-2.0

export type Kind = "object" | "array" | "string" | "number" | "word";

export interface Node {
    kind: Kind;
    start: number;
    end: number;
    /** Of objects: the name of each member, in order. */
    keys?: string[];
    items?: Node[];
}

export class Flaw extends Error {
    constructor(message: string, readonly line: number, readonly column: number) {
        super(message);
    }
}

const DEPTH_MAX = 512;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;

/** The tree of a JSON text; throws a Flaw. */
export function scan(text: string): Node {
    let at = 0;
    const flaw = (message: string): never => {
        const before = text.slice(0, at);
        const line = before.split("\n").length;
        throw new Flaw(message, line, at - before.lastIndexOf("\n"));
    };
    const match = (pattern: RegExp): boolean => {
        pattern.lastIndex = at;
        const found = pattern.exec(text);
        if (!found) return false;
        at += found[0].length;
        return true;
    };
    const leaf = (kind: Kind, pattern: RegExp, message: string): Node => {
        const start = at;
        if (!match(pattern)) flaw(message);
        return { kind, start, end: at };
    };
    const list = (close: string, one: () => void) => {
        at++;
        match(SPACE);
        if (text[at] === close) { at++; return; }
        for (;;) {
            one();
            match(SPACE);
            const next = text[at];
            if (next !== "," && next !== close) flaw(`"," or "${close}" is missing`);
            at++;
            if (next === close) return;
            match(SPACE);
        }
    };
    const value = (depth: number): Node => {
        match(SPACE);
        if (depth > DEPTH_MAX) flaw("nested too deeply");
        const start = at, first = text[at];
        if (first === "{") {
            const node: Node = { kind: "object", start, end: 0, keys: [], items: [] };
            list("}", () => {
                const key = leaf("string", STRING, "a name in quotes is missing");
                match(SPACE);
                if (text[at] !== ":") flaw('":" is missing');
                at++;
                node.keys!.push(textOf(text, key));
                node.items!.push(value(depth + 1));
            });
            node.end = at;
            return node;
        }
        if (first === "[") {
            const node: Node = { kind: "array", start, end: 0, items: [] };
            list("]", () => node.items!.push(value(depth + 1)));
            node.end = at;
            return node;
        }
        if (first === '"') return leaf("string", STRING, "this string does not end or has a bad character");
        if (first !== undefined && /[-\d]/.test(first)) return leaf("number", NUMBER, "this is not a number");
        return leaf("word", WORD, first === undefined ? "a value is missing" : "this is not a value");
    };
    const root = value(0);
    match(SPACE);
    if (at < text.length) flaw("there is more after the value");
    return root;
}

/** The characters of a string node. */
export const textOf = (text: string, node: Node): string => JSON.parse(text.slice(node.start, node.end)) as string;

export const rawOf = (text: string, node: Node): string => text.slice(node.start, node.end);

/** The last member of this name, as it stands in the text; null: there is none. */
export function member(text: string, node: Node, name: string): Node | null {
    const index = node.keys?.lastIndexOf(name) ?? -1;
    return index < 0 ? null : node.items?.[index] ?? null;
}

/** Indented by two spaces; strings and numbers as they are. */
export function format(text: string, node: Node = scan(text), indent = ""): string {
    const inner = `${indent}  `;
    if (!node.items) return rawOf(text, node);
    if (!node.items.length) return node.kind === "object" ? "{}" : "[]";
    const lines = node.items.map((item, index) => {
        const key = node.keys ? `${JSON.stringify(node.keys[index])}: ` : "";
        return `${inner}${key}${format(text, item, inner)}`;
    });
    const [open, close] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
    return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

// schema.ts - a form made of a JSON schema: which field each part is, and what is wrong with a text.
//
// SPDX-License-Identifier: Apache-2.0
//
// Texts are changed where they stand, so that no digit of what was not edited is lost.
import { member, rawOf, scan, textOf, type Node } from "./scan";

export interface Schema {
    type?: string; title?: string; description?: string; format?: string; pattern?: string; default?: unknown; enum?: unknown[]; required?: string[];
    minimum?: number; maximum?: number; minLength?: number; maxLength?: number; properties?: Record<string, Schema>; items?: Schema;
}

export type FieldKind = "object" | "enum" | "text" | "time" | "number" | "boolean" | "list" | "json";

const DEPTH = 3, SCALARS = new Set(["string", "number", "integer", "boolean"]);
/** Words that say more than these fields can show. */
const BEYOND = ["$ref", "oneOf", "anyOf", "allOf", "not", "if", "patternProperties"];

/** What the form does not understand is JSON. */
export function fieldsOf(schema: Schema, depth: number): FieldKind {
    if (BEYOND.some((word) => word in schema)) return "json";
    if (Array.isArray(schema.enum) && schema.enum.every((it) => it === null || typeof it !== "object")) return "enum";
    switch (schema.type) {
    case "object": return depth < DEPTH && schema.properties ? "object" : "json";
    case "string": return schema.format === "date-time" ? "time" : "text";
    case "number": case "integer": return "number";
    case "boolean": return "boolean";
    case "array": return schema.items && SCALARS.has(schema.items.type ?? "") && !schema.items.enum ? "list" : "json";
    default: return "json";
    }
}

/** Whether a form can be made of it at all. */
export const hasForm = (schema: Schema | null): schema is Schema => !!schema && fieldsOf(schema, 0) === "object";

/** Its fields as `required` orders them, then the others; a deployed definition has its keys sorted. */
export function inOrder(schema: Schema): [string, Schema][] {
    const parts = Object.entries(schema.properties ?? {}), first = schema.required ?? [];
    const place = (name: string): number => { const at = first.indexOf(name); return at < 0 ? first.length : at; };
    return parts.sort(([a], [b]) => place(a) - place(b));
}

/** The members of an object as they stand in its text, or null while it is no JSON. */
export function partsOf(text: string): Map<string, string> | null {
    let node: Node;
    try { node = scan(text); } catch { return null; }
    const parts = new Map<string, string>();
    if (node.kind === "object") node.keys!.forEach((key, index) => { if (!parts.has(key)) parts.set(key, rawOf(text, node.items![index]!)); });
    return parts;
}

/** An object of these members; it is no JSON while one of them is none, such as a number that is being typed. */
export const textOfParts = (parts: Map<string, string>): string => `{${[...parts].map(([key, raw]) => `${JSON.stringify(key)}: ${raw}`).join(", ")}}`;

const KINDS: Record<string, Node["kind"][]> = { object: ["object"], array: ["array"], string: ["string"], number: ["number"], integer: ["number"], boolean: ["word"], null: ["word"] };

function check(schema: Schema, text: string, node: Node, where: string, found: string[]): void {
    const raw = rawOf(text, node), say = (what: string) => found.push(`${where || "the input"} ${what}`);
    if (Array.isArray(schema.enum) && !schema.enum.some((it) => JSON.stringify(it) === raw)) { say(`must be one of ${schema.enum.map(String).join(", ")}`); return; }
    const kinds = schema.type ? KINDS[schema.type] : null;
    if (kinds && (!kinds.includes(node.kind) || (schema.type === "boolean" && raw === "null") || (schema.type === "integer" && !/^-?\d+$/.test(raw)))) { say(`must be ${/^[aeio]/.test(schema.type!) ? "an" : "a"} ${schema.type}`); return; }
    if (node.kind === "number") {
        if (schema.minimum !== undefined && Number(raw) < schema.minimum) say(`must be at least ${schema.minimum}`);
        if (schema.maximum !== undefined && Number(raw) > schema.maximum) say(`must be at most ${schema.maximum}`);
    }
    if (node.kind === "string") {
        const value = textOf(text, node);
        if (schema.minLength !== undefined && value.length < schema.minLength) say(`must have at least ${schema.minLength} characters`);
        if (schema.maxLength !== undefined && value.length > schema.maxLength) say(`must have at most ${schema.maxLength} characters`);
        if (schema.pattern !== undefined && !matches(schema.pattern, value)) say(`must match ${schema.pattern}`);
    }
    if (node.kind === "object") {
        for (const name of schema.required ?? []) if (!member(text, node, name)) found.push(`${where ? `${where}.` : ""}${name} is missing`);
        for (const [name, part] of Object.entries(schema.properties ?? {})) { const inner = member(text, node, name); if (inner) check(part, text, inner, where ? `${where}.${name}` : name, found); }
    }
    if (node.kind === "array" && schema.items) node.items!.forEach((item, index) => check(schema.items!, text, item, `${where}[${index}]`, found));
}

function matches(pattern: string, value: string): boolean {
    try { return new RegExp(pattern, "u").test(value); } catch { return true; }
}

/** What the schema finds wrong with a text, in words. */
export function problems(schema: Schema, text: string): string[] {
    const found: string[] = [];
    let root: Node;
    try { root = scan(text || "{}"); } catch { return ["the input is not JSON"]; }
    check(schema, text || "{}", root, "", found);
    return found;
}

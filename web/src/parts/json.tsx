// json.tsx - JSON to read: lossless, folded, in portions; and JSON to edit.
//
// SPDX-License-Identifier: Apache-2.0
import { diffLines } from "diff";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Flaw, format, rawOf, scan, textOf, type Node } from "../base/scan";
import { bytes, plural, visible } from "../base/text";
import { Copy, Loading } from "./bits";
import { Icon } from "./icons";

const SMALL = 64 * 1024, MEDIUM = 256 * 1024;
const PORTION = 100, STRING_MAX = 500;
/** In the document at once. */
const LINES = 2000;

export function download(name: string, text: string, type = "application/json"): void {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function StringValue({ text }: { text: string }) {
    const [isWhole, setWhole] = useState(false);
    const isLong = text.length > STRING_MAX && !isWhole;
    return (
        <span class="j-string"><bdi>"{visible(isLong ? text.slice(0, STRING_MAX) : text)}{isLong ? "" : '"'}</bdi>
            {isLong && <button type="button" class="quiet" data-testid="json-string-more" onClick={() => setWhole(true)}>… {plural(text.length - STRING_MAX, "character")} more</button>}
        </span>
    );
}

// ---- the tree as lines -----------------------------------------------------------------------------

interface Line { node: Node; depth: number; name?: string; part: "leaf" | "open" | "close" | "more"; rest?: number }

/** What is unfolded, and how many members of each are shown. */
interface Shape { open: ReadonlySet<Node>; shown: ReadonlyMap<Node, number> }

/** The nodes down to a level. */
function opened(root: Node, level: number): Set<Node> {
    const found = new Set<Node>();
    const walk = (node: Node, depth: number) => {
        if (!node.items?.length || depth >= level || found.size > LINES) return;
        found.add(node);
        for (const item of node.items.slice(0, PORTION)) walk(item, depth + 1);
    };
    walk(root, 0);
    return found;
}

function linesOf(root: Node, shape: Shape): Line[] {
    const lines: Line[] = [];
    const walk = (node: Node, depth: number, name?: string) => {
        const named = name === undefined ? {} : { name };
        if (!node.items?.length) { lines.push({ node, depth, part: "leaf", ...named }); return; }
        lines.push({ node, depth, part: "open", ...named });
        if (!shape.open.has(node)) return;
        const count = shape.shown.get(node) ?? PORTION;
        for (let at = 0; at < node.items.length && at < count; at++) walk(node.items[at]!, depth + 1, node.keys?.[at]);
        if (node.items.length > count) lines.push({ node, depth: depth + 1, part: "more", rest: node.items.length - count });
        lines.push({ node, depth, part: "close" });
    };
    walk(root, 0);
    return lines;
}

/** Nodes that contain the text, and all above them; at most `most` of them. */
function finds(text: string, root: Node, mark: string, most = 200): { found: Set<Node>; above: Set<Node>; shown: Map<Node, number> } {
    const found = new Set<Node>(), above = new Set<Node>(), shown = new Map<Node, number>(), wanted = mark.toLowerCase();
    const walk = (node: Node, path: Node[], name?: string): void => {
        if (found.size >= most) return;
        const isHit = (name !== undefined && name.toLowerCase().includes(wanted)) || (!node.items && rawOf(text, node).toLowerCase().includes(wanted));
        if (isHit) { found.add(node); for (const it of path) above.add(it); }
        node.items?.forEach((item, index) => {
            const before = found.size;
            walk(item, [...path, node], node.keys?.[index]);
            if (found.size > before && index >= (shown.get(node) ?? PORTION)) shown.set(node, index + 1);
        });
    };
    walk(root, []);
    return { found, above, shown };
}

function Tree({ text, root, level, mark }: { text: string; root: Node; level: number; mark: string }) {
    const [shape, setShape] = useState<Shape>(() => ({ open: opened(root, level), shown: new Map() }));
    const [start, setStart] = useState(0);
    useEffect(() => { setShape({ open: opened(root, level), shown: new Map() }); setStart(0); }, [root, level]);
    const hits = useMemo(() => mark ? finds(text, root, mark) : null, [text, root, mark]);
    const lines = useMemo(() => linesOf(root, hits ? { open: new Set([...shape.open, ...hits.above]), shown: new Map([...shape.shown, ...hits.shown]) } : shape), [root, shape, hits]);
    const fold = (node: Node) => setShape((old) => { const open = new Set(old.open); if (!open.delete(node)) open.add(node); return { ...old, open }; });
    const more = (node: Node) => setShape((old) => ({ ...old, shown: new Map(old.shown).set(node, (old.shown.get(node) ?? PORTION) + PORTION) }));
    return (
        <div class="mono scroll j-tree">
            {start > 0 && <button type="button" class="quiet" onClick={() => setStart(Math.max(0, start - LINES))}>earlier lines</button>}
            {lines.slice(start, start + LINES).map((line, index) => {
                const { node, name } = line, [first, last] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
                const key = name === undefined ? null : <span class="j-key"><bdi>"{visible(name)}"</bdi>: </span>;
                const shell = { key: start + index, class: `j-line l-${Math.min(line.depth, 16)}${hits?.found.has(node) && line.part !== "close" ? " found" : ""}` };
                if (line.part === "close") return <div {...shell}>{last}</div>;
                if (line.part === "more") return <div {...shell}><button type="button" class="quiet" data-testid="json-more" onClick={() => more(node)}>{plural(line.rest!, "member")} more</button></div>;
                if (line.part === "leaf") return <div {...shell}>{key}{node.items ? `${first}${last}` : node.kind === "string" ? <StringValue text={textOf(text, node)} /> : <span class={`j-${node.kind}`}>{rawOf(text, node)}</span>}</div>;
                const isOpen = shape.open.has(node) || !!hits?.above.has(node);
                return <div {...shell}><button type="button" class="fold" aria-expanded={isOpen} aria-label={isOpen ? "Fold" : "Unfold"} onClick={() => fold(node)}><Icon name={isOpen ? "down" : "right"} size={12} /></button>{key}{first}{!isOpen && <span class="muted"> {plural(node.items!.length, "member")} {last}</span>}</div>;
            })}
            {lines.length > start + LINES && <button type="button" class="quiet" data-testid="json-lines" onClick={() => setStart(start + LINES)}>{plural(lines.length - start - LINES, "line")} more</button>}
        </div>
    );
}

/** A JSON text as it is kept; a large one waits to be asked for, unless it was. */
export function Json({ text, name = "payload", id = "json", isAsked = false }: { text: string; name?: string; id?: string; isAsked?: boolean }) {
    const [isRaw, setRaw] = useState(false);
    const [isShown, setShown] = useState(isAsked);
    const [level, setLevel] = useState<number | null>(null);
    const [mark, setMark] = useState("");
    const size = useMemo(() => new Blob([text]).size, [text]);
    const isLarge = size > MEDIUM && !isShown;
    const root = useMemo(() => {
        if (isLarge) return null;
        try { return scan(text); } catch { return null; }
    }, [text, isLarge]);
    const atFirst = size > SMALL ? 1 : 2;
    return (
        <div class="json" data-testid={id} data-bytes={size}>
            <div class="j-controls">
                <span class="muted">{bytes(size)}</span>
                <Copy text={text} id="json-copy" label="Copy" />
                <button type="button" class="quiet" data-testid="json-download" onClick={() => download(`${name}.json`, text)}>Download</button>
                {!isLarge && <button type="button" class="quiet" data-testid="json-raw" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>{isRaw ? "Tree" : "Raw"}</button>}
                {!isLarge && !isRaw && root?.items && size > 100 && <label class="inline">levels <select data-testid="json-level" value={String(level ?? atFirst)} onChange={(event) => setLevel(Number(event.currentTarget.value))}>{[0, 1, 2, 3, 4, 99].map((it) => <option key={it} value={String(it)}>{it === 99 ? "all" : it}</option>)}</select></label>}
                {!isLarge && size > 200 && <input class="small" type="search" placeholder="find" aria-label="Find in this JSON" data-testid="json-find" value={mark} onInput={(event) => setMark(event.currentTarget.value)} />}
            </div>
            {isLarge
                ? <p>{bytes(size)} of JSON <button type="button" data-testid="json-show" onClick={() => setShown(true)}>Show</button></p>
                : isRaw || !root ? <pre class="scroll"><bdi>{visible(text.slice(0, MEDIUM))}</bdi>{text.length > MEDIUM && <span class="muted">… only the beginning is shown</span>}</pre>
                : <Tree text={text} root={root} level={level ?? atFirst} mark={mark} />}
        </div>
    );
}

/** JSON that is asked for when it is small, or wanted. */
export function RemoteJson({ load, size, name, id }: { load: (signal: AbortSignal) => Promise<string>; size: number | null | undefined; name: string; id?: string }) {
    const [text, setText] = useState<string | null>(null);
    const [error, setError] = useState("");
    const isLarge = (size ?? 0) > MEDIUM;
    const [isWanted, setWanted] = useState(!isLarge);
    useEffect(() => {
        if (!isWanted) return undefined;
        const abort = new AbortController();
        load(abort.signal).then(setText, (reason: unknown) => { if (!abort.signal.aborted) setError(reason instanceof Error ? reason.message : String(reason)); });
        return () => abort.abort();
    }, [isWanted, size]);
    if (error) return <p class="bad" role="alert">{visible(error)}</p>;
    if (text !== null) return text === "null" ? <p class="muted">–</p> : <Json text={text} name={name} isAsked={isLarge} {...(id ? { id } : {})} />;
    if (isWanted) return <Loading rows={2} />;
    return <div class="json" data-testid={id ?? "json"} data-bytes={size ?? 0}><p>{bytes(size ?? 0)} of JSON <button type="button" data-testid="json-show" onClick={() => setWanted(true)}>Show</button> <button type="button" class="quiet" data-testid="json-download" onClick={() => void load(new AbortController().signal).then((it) => download(`${name}.json`, it), (reason: unknown) => setError(String(reason)))}>Download</button></p></div>;
}

export interface Edited { text: string; flaw: Flaw | null }

export function check(text: string): Flaw | null {
    try { scan(text); return null; } catch (reason) { return reason instanceof Flaw ? reason : new Flaw(String(reason), 1, 1); }
}

const LINES_MAX = 5000;

export function Difference({ before, after }: { before: string; after: string }) {
    const parts = useMemo(() => {
        if (before.split("\n").length + after.split("\n").length > LINES_MAX) return null;
        return diffLines(before, after);
    }, [before, after]);
    if (!parts) return <p class="muted">too long to compare</p>;
    return (
        <pre class="diff scroll" data-testid="json-diff" tabIndex={0}>
            {parts.map((part, index) => (
                <span key={index} class={part.added ? "added" : part.removed ? "removed" : ""}>
                    {part.value.replace(/\n$/, "").split("\n").map((line) => `${part.added ? "+" : part.removed ? "−" : " "} ${visible(line)}\n`).join("")}
                </span>
            ))}
        </pre>
    );
}

export const pretty = (text: string): string => { try { return format(text); } catch { return text; } };

/** A text area that says whether its text is JSON, and what was changed. */
export function JsonEditor({ value, onChange, original, id = "json-editor", label }: { value: string; onChange: (text: string) => void; original?: string; id?: string; label: string }) {
    const flaw = check(value);
    const lines = value.split("\n").length;
    const numbers = useRef<HTMLPreElement>(null);
    return (
        <div class="editor">
            <div class="row"><span class="label">{label}</span>
                <button type="button" class="quiet" data-testid="json-format" disabled={!!flaw} onClick={() => onChange(pretty(value))}>Format</button>
                <span class={flaw ? "bad" : "good"} role="status" data-testid="json-valid">{flaw ? `line ${flaw.line}, column ${flaw.column}: ${flaw.message}` : "valid"}</span>
            </div>
            <div class="edit-area">
                <pre class="numbers" aria-hidden="true" ref={numbers}>{Array.from({ length: lines }, (_, index) => index + 1).join("\n")}</pre>
                <textarea class="mono" data-testid={id} aria-label={label} aria-invalid={!!flaw} spellcheck={false} wrap="off" rows={Math.min(Math.max(lines, 4), 16)} value={value}
                          onInput={(event) => onChange(event.currentTarget.value)} onScroll={(event) => { if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop; }} />
            </div>
            {original !== undefined && original !== value && !flaw && <Difference before={pretty(original)} after={pretty(value)} />}
        </div>
    );
}

// json.tsx - JSON to read: lossless, folded, in portions; and JSON to edit.
//
// SPDX-License-Identifier: Apache-2.0
import { diffLines } from "diff";
import { useMemo, useState } from "preact/hooks";
import { Flaw, format, rawOf, scan, textOf, type Node } from "../base/scan";
import { bytes, plural, visible } from "../base/text";
import { Copy } from "./bits";
import { Icon } from "./icons";

const SMALL = 64 * 1024, MEDIUM = 256 * 1024;
const PORTION = 100, STRING_MAX = 500;

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

function Value({ text, node, name, depth, open, mark }: { text: string; node: Node; name?: string; depth: number; open: number; mark: string }) {
    const [isOpen, setOpen] = useState(depth < open);
    const [count, setCount] = useState(PORTION);
    const key = name === undefined ? null : <span class={mark && name.includes(mark) ? "j-key found" : "j-key"}><bdi>"{visible(name)}"</bdi>: </span>;
    if (!node.items) {
        const raw = rawOf(text, node);
        const isFound = mark !== "" && raw.includes(mark);
        return <div class={isFound ? "j-line found" : "j-line"}>{key}{node.kind === "string" ? <StringValue text={textOf(text, node)} /> : <span class={`j-${node.kind}`}>{raw}</span>}</div>;
    }
    const [first, last] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
    const size = node.items.length;
    if (!size) return <div class="j-line">{key}{first}{last}</div>;
    return (
        <div>
            <div class="j-line">
                <button type="button" class="fold" aria-expanded={isOpen} aria-label={isOpen ? "Fold" : "Unfold"} onClick={() => setOpen(!isOpen)}><Icon name={isOpen ? "down" : "right"} size={12} /></button>
                {key}{first}{!isOpen && <span class="muted"> {size} {last}</span>}
            </div>
            {isOpen && <>
                <div class="j-inner">
                    {node.items.slice(0, count).map((item, index) => (
                        <Value key={index} text={text} node={item} depth={depth + 1} open={open} mark={mark} {...(node.keys ? { name: node.keys[index]! } : {})} />
                    ))}
                    {size > count && <button type="button" class="quiet" data-testid="json-more" onClick={() => setCount(count + PORTION)}>{plural(size - count, "member")} more</button>}
                </div>
                <div class="j-line">{last}</div>
            </>}
        </div>
    );
}

/** A JSON text as it is kept. */
export function Json({ text, name = "payload", id = "json" }: { text: string; name?: string; id?: string }) {
    const [isRaw, setRaw] = useState(false);
    const [isShown, setShown] = useState(false);
    const [mark, setMark] = useState("");
    const size = useMemo(() => new Blob([text]).size, [text]);
    const isLarge = size > MEDIUM && !isShown;
    const root = useMemo(() => {
        if (isLarge) return null;
        try { return scan(text); } catch { return null; }
    }, [text, isLarge]);
    const controls = (
        <div class="j-controls">
            <span class="muted">{bytes(size)}</span>
            <Copy text={text} id="json-copy" label="Copy" />
            <button type="button" class="quiet" data-testid="json-download" onClick={() => download(`${name}.json`, text)}>Download</button>
            {!isLarge && <button type="button" class="quiet" data-testid="json-raw" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>{isRaw ? "Tree" : "Raw"}</button>}
            {!isLarge && size > 200 && <input class="small" type="search" placeholder="find" aria-label="Find in this JSON" data-testid="json-find" value={mark} onInput={(event) => setMark(event.currentTarget.value)} />}
        </div>
    );
    return (
        <div class="json" data-testid={id} data-bytes={size}>
            {controls}
            {isLarge
                ? <p>{bytes(size)} of JSON <button type="button" onClick={() => setShown(true)}>Show</button></p>
                : isRaw || !root ? <pre class="scroll"><bdi>{visible(text.slice(0, MEDIUM))}</bdi></pre>
                : <div class="mono scroll"><Value text={text} node={root} depth={0} open={size > SMALL ? 1 : 2} mark={mark} /></div>}
        </div>
    );
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
        <pre class="diff scroll" data-testid="json-diff">
            {parts.map((part, index) => (
                <span key={index} class={part.added ? "added" : part.removed ? "removed" : ""}>
                    {part.value.replace(/\n$/, "").split("\n").map((line) => `${part.added ? "+" : part.removed ? "−" : " "} ${line}\n`).join("")}
                </span>
            ))}
        </pre>
    );
}

const pretty = (text: string): string => { try { return format(text); } catch { return text; } };

/** A text area that says whether its text is JSON, and what was changed. */
export function JsonEditor({ value, onChange, original, id = "json-editor", label }: { value: string; onChange: (text: string) => void; original?: string; id?: string; label: string }) {
    const flaw = check(value);
    const lines = value.split("\n").length;
    return (
        <div class="editor">
            <div class="row"><span class="label">{label}</span>
                <button type="button" class="quiet" disabled={!!flaw} onClick={() => onChange(pretty(value))}>Format</button>
                <span class={flaw ? "bad" : "good"} role="status">{flaw ? `line ${flaw.line}, column ${flaw.column}: ${flaw.message}` : "valid"}</span>
            </div>
            <div class="edit-area">
                <pre class="numbers" aria-hidden="true">{Array.from({ length: lines }, (_, index) => index + 1).join("\n")}</pre>
                <textarea class="mono" data-testid={id} aria-label={label} aria-invalid={!!flaw} spellcheck={false} wrap="off" rows={Math.min(Math.max(lines, 4), 16)} value={value}
                          onInput={(event) => onChange(event.currentTarget.value)} />
            </div>
            {original !== undefined && original !== value && !flaw && <Difference before={pretty(original)} after={pretty(value)} />}
        </div>
    );
}

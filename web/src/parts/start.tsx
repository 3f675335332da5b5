// start.tsx - the form that starts an instance: fields made of a schema, or JSON.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, askText, send } from "../base/api";
import { go } from "../base/place";
import { fieldsOf, hasForm, inOrder, partsOf, problems, textOfParts, type Schema } from "../base/schema";
import { member, rawOf, scan, textOf } from "../base/scan";
import { quoted, shortId } from "../base/text";
import type { InstanceRow, Page } from "../base/types";
import { hasFeature } from "../base/who";
import { JsonEditor } from "./json";
import { sheet, type Field, type Values } from "./sheet";

// ---- drafts ----------------------------------------------------------------------------------------

const draftName = (workflow: string): string => `cairn.draft.${workflow}`;
function readDraft(workflow: string): string {
    try { return localStorage.getItem(draftName(workflow)) ?? ""; } catch { return ""; }
}
function keepDraft(workflow: string, text: string): void {
    try { if (text.length < 64 * 1024) localStorage.setItem(draftName(workflow), text); } catch { /* private window */ }
}

// ---- what the definition and the past offer --------------------------------------------------------

interface Offer { schema: Schema | null; example: string; lastInput: string; lastName: string }

async function offerOf(workflow: string, version: number): Promise<Offer> {
    const offer: Offer = { schema: null, example: "", lastInput: "", lastName: "" };
    try {
        const text = await askText("GET", `/v1/workflows/${encodeURIComponent(workflow)}/${version}`), root = scan(text);
        const definition = member(text, root, "definition"), input = definition && member(text, definition, "input");
        const schema = input && member(text, input, "schema"), example = input && member(text, input, "example");
        if (schema?.kind === "object") offer.schema = JSON.parse(rawOf(text, schema)) as Schema;
        if (example) offer.example = rawOf(text, example);
        const page = await ask<Page<InstanceRow>>(`/v1/instances?workflow=${encodeURIComponent(workflow)}&limit=1&view=row`), last = page.items[0];
        if (last && (last.input_bytes ?? 0) < 64 * 1024) {
            const answer = await askText("GET", `/v1/instances/${last.id}`), found = member(answer, scan(answer), "input");
            offer.lastInput = found ? rawOf(answer, found) : "";
            offer.lastName = last.key ?? shortId(last.id);
        }
    } catch { /* then there is less to choose from */ }
    return offer;
}

// ---- fields of a schema ----------------------------------------------------------------------------

const stringOf = (raw: string | null): string => { if (!raw) return ""; try { const node = scan(raw); return node.kind === "string" ? textOf(raw, node) : raw; } catch { return raw; } };

function SchemaField({ name, schema, isRequired, raw, onChange, depth }: { name: string; schema: Schema; isRequired: boolean; raw: string | null; onChange: (raw: string | null) => void; depth: number }) {
    const kind = fieldsOf(schema, depth), title = `${schema.title ?? name}${isRequired ? " (required)" : ""}`, id = `field-${name}`;
    const hint = schema.description && <span class="muted">{schema.description}</span>;
    const common = { id, "data-testid": id, required: isRequired };
    if (kind === "object") return (
        <fieldset data-testid={id}><legend>{title}</legend>{hint}
            <SchemaFields schema={schema} text={raw ?? "{}"} onChange={onChange} depth={depth + 1} /></fieldset>);
    if (kind === "boolean") return <label class="check"><input type="checkbox" {...common} required={false} checked={raw === "true"} onChange={(event) => onChange(String(event.currentTarget.checked))} /> {title} {hint}</label>;
    if (kind === "json") return <JsonEditor id={id} label={title} value={raw ?? ""} onChange={(text) => onChange(text || null)} />;
    const text = stringOf(raw);
    const write = (value: string) => onChange(value === "" && !isRequired ? null : JSON.stringify(value));
    return (
        <label class="field" for={id}><span class="label">{title}</span>
            {kind === "enum" ? <select {...common} value={raw ?? ""} onChange={(event) => onChange(event.currentTarget.value || null)}>{!isRequired || raw === null ? <option value="" /> : null}{schema.enum!.map((it) => <option key={String(it)} value={JSON.stringify(it)}>{String(it)}</option>)}</select>
                : kind === "number" ? <input {...common} inputMode="decimal" value={raw ?? ""} min={schema.minimum} max={schema.maximum} onInput={(event) => onChange(event.currentTarget.value.trim() || null)} />
                : kind === "list" ? <textarea {...common} rows={3} placeholder="one on each line" value={raw ? (JSON.parse(raw) as unknown[]).map(String).join("\n") : ""} onInput={(event) => {
                    const lines = event.currentTarget.value.split("\n").filter((it, index, all) => it || index < all.length - 1), isText = schema.items?.type === "string" || !schema.items?.type;
                    onChange(lines.length ? `[${lines.map((it) => isText ? JSON.stringify(it) : it || "null").join(", ")}]` : null);
                }} />
                : kind === "time" ? <input {...common} type="datetime-local" value={text.slice(0, 16)} onInput={(event) => { const value = event.currentTarget.value; onChange(value ? JSON.stringify(new Date(value).toISOString()) : null); }} />
                : <input {...common} type="text" value={text} minLength={schema.minLength} maxLength={schema.maxLength} onInput={(event) => write(event.currentTarget.value)} />}
            {hint}
        </label>
    );
}

/** While a field holds no JSON, as "1." on the way to "1.5", the text of all of them is none; they are remembered meanwhile. */
function SchemaFields({ schema, text, onChange, depth }: { schema: Schema; text: string; onChange: (text: string) => void; depth: number }) {
    const kept = useRef(new Map<string, string>());
    const parts = kept.current = partsOf(text) ?? kept.current;
    const set = (name: string, raw: string | null) => {
        const next = kept.current = new Map(parts);
        if (raw === null) next.delete(name); else next.set(name, raw);
        onChange(textOfParts(next));
    };
    return <>{inOrder(schema).map(([name, part]) => (
        <SchemaField key={name} name={name} schema={part} isRequired={!!schema.required?.includes(name)} raw={parts.get(name) ?? null} depth={depth} onChange={(raw) => set(name, raw)} />))}</>;
}

function StartInput({ workflow, values, set }: { workflow: string; values: Values; set: (changes: Values) => void }) {
    const [offer, setOffer] = useState<Offer | null>(null);
    const [isJson, setJson] = useState(false);
    const version = Number(values["version"]);
    useEffect(() => {
        let isOld = false;
        void offerOf(workflow, version).then((it) => {
            if (isOld) return;
            setOffer(it);
            set({ schema: it.schema ? JSON.stringify(it.schema) : "", ...(values["input"] ? {} : { input: it.example || readDraft(workflow) || it.lastInput || "{}" }) });
        });
        return () => { isOld = true; };
    }, [version]);
    // Shown when it is filled in: what a person types meanwhile would be written over.
    if (!offer) return <p class="muted" role="status">Loading …</p>;
    const text = values["input"] ?? "", change = (input: string) => { keepDraft(workflow, input); set({ input }); };
    const choices = [["file", "from the file", offer.example], ["draft", "last input typed here", readDraft(workflow)], ["last", `input of ${offer.lastName}`, offer.lastInput]].filter((it): it is [string, string, string] => !!it[2]);
    const schema = hasForm(offer.schema) ? offer.schema! : null;
    const flaws = schema ? problems(schema, text) : [];
    return (
        <div data-testid="start-form">
            <div class="row between">
                {choices.length > 0 && <label class="inline">example <select data-testid="start-example" value="" onChange={(event) => { const found = choices.find(([name]) => name === event.currentTarget.value); if (found) set({ input: found[2] }); }}>
                    <option value="">choose …</option>{choices.map(([name, label]) => <option key={name} value={name}>{label}</option>)}</select></label>}
                {schema && <span class="segments" role="group" aria-label="How the input is given"><button type="button" aria-pressed={!isJson} data-testid="start-as-form" onClick={() => setJson(false)}>Form</button><button type="button" aria-pressed={isJson} data-testid="start-as-json" onClick={() => setJson(true)}>JSON</button></span>}
            </div>
            {schema && !isJson ? <SchemaFields schema={schema} text={text || "{}"} onChange={change} depth={0} />
                : <JsonEditor id="start-json" label="Input" value={text} onChange={change} />}
            {flaws.length > 0 && <ul class="flaws" role="status">{flaws.slice(0, 5).map((it) => <li key={it} class="bad">{it}</li>)}</ul>}
        </div>
    );
}

// ---- known keys ------------------------------------------------------------------------------------

const EXISTING: Record<string, string> = {
    return: "the earlier one is given back, and nothing is started", fail: "it is refused", restart_failed: "the earlier one begins anew if it has failed", new_if_ended: "if the earlier one has ended, this one takes its key and starts",
};
export const existingField = (what: string): Field => ({ name: "on_existing", label: "If the key is known", kind: "choice", options: Object.keys(EXISTING), value: "return", hint: (values) => EXISTING[values["on_existing"] ?? "return"]!, isShown: (values) => !!values["key"], testId: `${what}-existing` });
export const existingOf = (values: Values): { on_existing?: string } => values["on_existing"] && values["on_existing"] !== "return" ? { on_existing: values["on_existing"] } : {};
export const existingCli = (values: Values): string => existingOf(values).on_existing ? ` --on-existing ${values["on_existing"]}` : "";

/** A time of a form, as the command line takes it. */
export const atCli = (text: string | undefined): string => text ? ` --at ${new Date(text).toISOString()}` : "";

// ---- the sheet -------------------------------------------------------------------------------------

/** "a:b, c:d" as an object of tags. */
function tagsOf(text: string): Record<string, string> {
    return Object.fromEntries(text.split(",").map((it) => it.trim()).filter((it) => it.includes(":")).map((it) => [it.slice(0, it.indexOf(":")), it.slice(it.indexOf(":") + 1)]));
}

function isJsonText(text: string): boolean {
    try { scan(text); return true; } catch { return false; }
}

/** `versions`: those to choose from, the newest first; the input is chosen for the person unless it is given. */
export function startForm(workflow: string, version: number, input = "", versions: number[] = [version]): void {
    sheet.value = {
        action: "start", title: `Start ${workflow}`, sentence: `A new instance of ${workflow} begins with this input.`, confirm: "Start", confirmId: "start-confirm",
        fields: [
            ...(versions.length > 1 ? [{ name: "version", label: "Version", kind: "choice" as const, value: String(version), options: versions.map(String), testId: "start-version" }] : []),
            { name: "input", label: "Input", kind: "own", value: input, draw: (values, set) => <StartInput workflow={workflow} values={{ version: String(version), ...values }} set={set} />,
              flaw: (values) => !isJsonText(values["input"] ?? "") ? "no JSON" : values["schema"] ? problems(JSON.parse(values["schema"]) as Schema, values["input"]!)[0] ?? "" : "" },
            { name: "key", label: "Key", kind: "text", hint: "One instance per workflow and key.", testId: "start-key" }, existingField("start"),
            { name: "start_at", label: "Start at", kind: "time", hint: "Now if left empty.", testId: "start-at" },
            { name: "group", label: "Group", kind: "text", hint: "Such as a tenant: groups take turns, and limits can be for each.", testId: "start-group" },
            ...(hasFeature("tags") ? [{ name: "tags", label: "Tags", kind: "text" as const, hint: "As name:value, with commas between them.", testId: "start-tags" }] : []),
        ],
        cli: (values) => `cairn start ${quoted(workflow)} --version ${values["version"] ?? version} --input ${quoted(values["input"] ?? "{}")}${values["key"] ? ` --key ${quoted(values["key"])}${existingCli(values)}` : ""}${values["group"] ? ` --group ${quoted(values["group"])}` : ""}${atCli(values["start_at"])}${Object.entries(tagsOf(values["tags"] ?? "")).map(([name, value]) => ` --tag ${quoted(`${name}=${value}`)}`).join("")}`,
        send: async (values) => {
            const tags = tagsOf(values["tags"] ?? "");
            const head = JSON.stringify({ workflow, version: Number(values["version"] ?? version), ...(values["key"] ? { key: values["key"], ...existingOf(values) } : {}), ...(values["start_at"] ? { start_at: new Date(values["start_at"]).toISOString() } : {}), ...(values["group"] ? { group: values["group"] } : {}), ...(Object.keys(tags).length ? { tags } : {}) });
            const answer = await send<{ id: string; existing: boolean }>("POST", "/v1/instances", `${head.slice(0, -1)},"input":${values["input"] || "{}"}}`);
            go(`instances/${answer.id}`);
            return { text: answer.existing ? "The key was known; this is the first instance." : `Started ${values["key"] || shortId(answer.id)}` };
        },
    };
}

// sheet.tsx - the dialog that asks before it acts, and the drawer.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../base/api";
import { byName } from "../base/settings";
import { me } from "../base/who";
import { Command, Failure, Text, toast } from "./bits";
import { Icon } from "./icons";
import { check, JsonEditor } from "./json";

export interface Field {
    name: string;
    label: string;
    kind: "text" | "area" | "json" | "check" | "number" | "time" | "choice" | "own";
    value?: string;
    isRequired?: boolean;
    options?: string[];
    original?: string;
    hint?: string | ((values: Values) => string);
    /** Left out while this says no. */
    isShown?: (values: Values) => boolean;
    testId?: string;
    rows?: number;
    /** Of kind "own": draws itself, and may set other fields too. */
    draw?: (values: Values, set: (changes: Values) => void) => ComponentChildren;
    /** What is wrong with it; "" is nothing. */
    flaw?: (values: Values) => string;
}

export type Values = Record<string, string>;

/** How things stand by now, and what can be done. */
export interface Meanwhile { text: string; actions: { name: string; label: string; open: () => void }[] }

export interface SheetSpec {
    action: string;
    title: string;
    sentence: string;
    fields?: Field[];
    /** Asks who acts, unless the token says so. */
    hasBy?: boolean;
    isByOptional?: boolean;
    isDanger?: boolean;
    /** What has to be typed to confirm. */
    typed?: string;
    confirm: string;
    confirmId?: string;
    /** Says how things stand, when the server finds that they have changed meanwhile. */
    explain?: () => Promise<Meanwhile>;
    /** Instead of the plain error. */
    drawError?: (error: ApiError) => ComponentChildren;
    cli?: (values: Values) => string;
    send: (values: Values) => Promise<{ text: string; to?: string } | null>;
    done?: () => void;
    /** Instead of `done`, if somebody was faster. */
    changed?: () => void;
}

export const sheet = signal<SheetSpec | null>(null);

/** Somebody was faster. */
const CHANGED = new Set(["wrong_state", "conflict"]);
const FOCUSABLE = 'a[href], button:not([disabled]), input:not([disabled]), select, textarea, [tabindex="0"]';

/** Keeps the focus inside while it is open, and gives it back. */
function useTrap(close: () => void) {
    const place = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const before = document.activeElement;
        const first = place.current?.querySelector<HTMLElement>("textarea, input:not([type=checkbox]), select") ?? place.current?.querySelector<HTMLElement>("[data-testid=sheet-cancel], [data-testid=drawer-close]");
        first?.focus();
        const onKey = (event: KeyboardEvent) => {
            if (event.key === "Escape") { event.stopPropagation(); close(); return; }
            if (event.key !== "Tab" || !place.current) return;
            const all = [...place.current.querySelectorAll<HTMLElement>(FOCUSABLE)];
            const edge = event.shiftKey ? all[0] : all.at(-1);
            if (document.activeElement === edge) { event.preventDefault(); (event.shiftKey ? all.at(-1) : all[0])?.focus(); }
        };
        place.current?.addEventListener("keydown", onKey);
        return () => { if (before instanceof HTMLElement && before.isConnected) before.focus(); };
    }, []);
    return place;
}

function FieldInput({ field, values, set }: { field: Field; values: Values; set: (changes: Values) => void }) {
    const value = values[field.name] ?? "", onChange = (text: string) => set({ [field.name]: text });
    if (field.kind === "own") return <>{field.draw?.(values, set)}</>;
    const id = `field-${field.name}`;
    const testId = field.testId ?? field.name;
    const common = { id, "data-testid": testId, value, required: !!field.isRequired };
    if (field.kind === "json")
        return <JsonEditor id={testId} label={field.label} value={value} onChange={onChange} {...(field.original === undefined ? {} : { original: field.original })} />;
    if (field.kind === "check")
        return <label class="check"><input type="checkbox" data-testid={testId} checked={value === "yes"} onChange={(event) => onChange(event.currentTarget.checked ? "yes" : "")} /> {field.label}</label>;
    return (
        <label class="field" for={id}><span class="label">{field.label}{field.isRequired ? " (required)" : ""}</span>
            {field.kind === "area" ? <textarea rows={field.rows ?? 2} class={field.rows ? "mono" : undefined} {...common} onInput={(event) => onChange(event.currentTarget.value)} />
                : field.kind === "choice" ? <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>{field.options?.map((it) => <option key={it}>{it}</option>)}</select>
                : <><input type={field.kind === "number" ? "number" : field.kind === "time" ? "datetime-local" : "text"} list={field.options ? `${id}-list` : undefined} {...common} onInput={(event) => onChange(event.currentTarget.value)} />
                    {field.options && <datalist id={`${id}-list`}>{field.options.map((it) => <option key={it} value={it} />)}</datalist>}</>}
            {field.hint && <span class="muted">{typeof field.hint === "string" ? field.hint : field.hint(values)}</span>}
        </label>
    );
}

function SheetBody({ spec }: { spec: SheetSpec }) {
    const needsBy = !!spec.hasBy && !me.value?.name;
    const fields = [...(spec.fields ?? []), ...(needsBy ? [{ name: "by", label: "Your name", kind: "text", isRequired: !spec.isByOptional, value: byName.value } as Field] : [])];
    const [values, setValues] = useState<Values>(() => Object.fromEntries(fields.map((it) => [it.name, it.value ?? ""])));
    const [typed, setTyped] = useState("");
    const [isWorking, setWorking] = useState(false);
    const [error, setError] = useState<ApiError | null>(null);
    const [meanwhile, setMeanwhile] = useState<Meanwhile | null>(null);
    const set = (changes: Values) => setValues((old) => ({ ...old, ...changes }));
    const close = () => { if (sheet.value === spec) sheet.value = null; };
    const place = useTrap(close);
    const isFieldReady = (it: Field): boolean => it.flaw?.(values) ? false : it.kind === "json" ? !values[it.name] || !check(values[it.name]!) : !it.isRequired || !!values[it.name]!.trim();
    const shown = fields.filter((it) => !it.isShown || it.isShown(values));
    const isReady = shown.every(isFieldReady) && (!spec.typed || typed === spec.typed);
    const full = { ...values, by: me.value?.name || values["by"] || "" };
    const confirm = async () => {
        if (isWorking || !isReady) return;
        setWorking(true);
        setError(null);
        setMeanwhile(null);
        if (needsBy) byName.value = values["by"] ?? "";
        try {
            const outcome = await spec.send(full);
            close();
            if (outcome) toast("ok", outcome.text, outcome.to);
            spec.done?.();
        } catch (reason) {
            setError(reason instanceof ApiError ? reason : new ApiError("internal", String(reason), "", "", 0, spec.action));
            setWorking(false);
            if (reason instanceof ApiError && CHANGED.has(reason.code)) {
                setMeanwhile(await spec.explain?.().catch(() => null) ?? null);
                (spec.changed ?? spec.done)?.();
            }
        }
    };
    return (
        <div class="veil" onMouseDown={(event) => { if (event.target === event.currentTarget) close(); }}>
            <div class="sheet" role="dialog" aria-modal="true" aria-labelledby="sheet-title" data-testid="sheet" data-action={spec.action} ref={place}>
                <h2 id="sheet-title">{spec.title}</h2>
                <p>{spec.sentence}</p>
                <form onSubmit={(event) => { event.preventDefault(); void confirm(); }}>
                    {shown.map((it) => <FieldInput key={it.name} field={it} values={values} set={set} />)}
                    {spec.typed && <label class="field"><span class="label">Type {spec.typed} to confirm</span><input data-testid="typed" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></label>}
                    {error && (meanwhile ? <div class="failure" role="alert" data-testid="error" data-code={error.code}><p><Text text={meanwhile.text} /></p>{meanwhile.actions.length > 0 && <p class="row">{meanwhile.actions.map((it) => <button key={it.name} type="button" data-testid="sheet-action" data-action={it.name} onClick={() => { close(); it.open(); }}>{it.label}</button>)}</p>}</div> : spec.drawError?.(error) ?? <Failure error={error} />)}
                    {spec.cli && <details><summary>On the command line</summary><Command text={spec.cli(full)} /></details>}
                    <div class="row end">
                        <button type="button" data-testid="sheet-cancel" onClick={close}>{/^Cancel\b/.test(spec.confirm) ? "Back" : "Cancel"}</button>
                        <button type="submit" class={spec.isDanger ? "danger" : "primary"} data-testid={spec.confirmId ?? "sheet-confirm"} disabled={isWorking || !isReady || !!meanwhile}>{isWorking ? "Working …" : spec.confirm}</button>
                    </div>
                </form>
            </div>
        </div>
    );
}

let count = 0;
const numbers = new WeakMap<SheetSpec, number>();
const numberOf = (spec: SheetSpec): number => { const known = numbers.get(spec) ?? ++count; numbers.set(spec, known); return known; };
export const Sheets = () => sheet.value ? <SheetBody key={numberOf(sheet.value)} spec={sheet.value} /> : null;

export function Drawer({ title, onClose, children }: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }) {
    const place = useTrap(onClose);
    return (
        <aside class="drawer" role="dialog" aria-label="Details" data-testid="drawer" ref={place}>
            <header class="row"><h2>{title}</h2><button type="button" class="quiet" data-testid="drawer-close" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
            {children}
        </aside>
    );
}

// bulk.tsx - one action on many: asked for once, done by the server, watched from anywhere.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { ask, send } from "../base/api";
import { useAsk, useNews } from "../base/ask";
import { bulks, canBulk, openBulk, type BulkOn } from "../base/bulks";
import { now } from "../base/clock";
import { grouped, plural, quoted, words } from "../base/text";
import type { Bulk, BulkMatch } from "../base/types";
import { may } from "../base/who";
import { Failure, Loading, Text, Time, toast } from "./bits";
import { Icon } from "./icons";
import { sheet, type Field, type Values } from "./sheet";

export type Target = { ids: string[] } | { filter: Record<string, string | string[]> };

const THINGS: Record<BulkOn, [string, string]> = { instances: ["instance", "instances"], jobs: ["job", "jobs"], dlq: ["dead letter", "dead letters"] };
const DONE: Record<string, string> = { retry: "Retried", resume: "Resumed", pause: "Paused", cancel: "Cancelled", abort: "Aborted", restart: "Restarted", delete: "Deleted", requeue: "Requeued" };
const SAYS: Record<string, string> = {
    retry: "Failed, undone and stopped steps get fresh attempts; completed ones stay.", resume: "What was held goes on.", pause: "What runs may finish; nothing new starts until they are resumed.",
    cancel: "Completed steps are undone, the latest first.", abort: "Nothing is undone; completed steps stay as they are.", restart: "Each begins anew from its original input. Nothing is undone first.",
    delete: "They are no longer claimed nor listed.", requeue: "Each is called again with fresh attempts.",
};
const DANGER = new Set(["cancel", "abort", "restart", "delete"]), REASONED = new Set(["cancel", "abort"]);
/** From here on the number has to be typed. */
const TYPED = 100;
/** So many ids stand in the command that does the same. */
const CLI_IDS = 5;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const body = (on: BulkOn, action: string, target: Target, more: object, raw = ""): string =>
    `${JSON.stringify({ on, action, ...target, ...more }).slice(0, -1)}${raw}}`;

const CLI_OPTIONS: Record<string, string> = { created_from: "since", created_to: "until" };
/** What `cairn bulk` is told; null: it has no such filter. */
function cliOf(on: BulkOn, action: string, target: Target, values: Values, raw: string): string | null {
    const option = (name: string, value: string) => `--${name} ${quoted(value)}`;
    const filter = "filter" in target ? Object.entries(target.filter) : [];
    if (filter.some(([name]) => ["q", "due", "ids"].includes(name))) return null;
    const wanted = "ids" in target ? target.ids.slice(0, CLI_IDS).concat(target.ids.length > CLI_IDS ? ["…"] : [])
        : filter.length ? filter.flatMap(([name, value]) => [value].flat().map((it) => option(CLI_OPTIONS[name] ?? name, name === "tag" ? it.replace(":", "=") : it))) : ["--all"];
    const [, kind, text] = /^,"args":\{"(input|input_patch)":(.*)\}$/s.exec(raw) ?? [];
    const more = ["by", "reason", "limit", "per_second"].filter((name) => values[name]).map((name) => option(name.replace("_", "-"), values[name]!));
    return ["cairn bulk", action, ...(on === "instances" ? [] : [`--on ${on}`]), ...wanted, ...(kind && text ? [option(kind.replace("_", "-"), text)] : []), ...more].join(" ");
}

export interface BulkOptions { sentence?: string; raw?: string; fields?: Field[]; rawOf?: (values: Values) => string; done?: () => void }

/** Asks the server how many it would be, then the person. */
export async function bulkAction(on: BulkOn, action: string, target: Target, options: BulkOptions = {}): Promise<void> {
    let match: BulkMatch;
    try {
        match = await send<BulkMatch>("POST", "/v1/bulk", body(on, action, target, { dry_run: true }, options.raw));
    } catch (reason) {
        toast("error", reason instanceof Error ? reason.message : String(reason));
        return;
    }
    const { n, is_more } = match.matched, isFilter = "filter" in target;
    const many = `${is_more ? "more than " : ""}${plural(n, ...THINGS[on])}`;
    const count = isFilter ? `About ${grouped(n)}${is_more ? "+" : ""} ${THINGS[on][n === 1 ? 0 : 1]} match now; later ones are not touched.` : `${capital(many)} ${n === 1 ? "is" : "are"} selected.`;
    sheet.value = {
        action: `bulk-${action}`, title: `${capital(action)} ${many}`, confirm: capital(action), isDanger: DANGER.has(action), hasBy: true,
        sentence: options.sentence?.replace("{n}", many) ?? `${count} ${on === "jobs" && action === "retry" ? "They become pending again with fresh attempts." : on === "jobs" && action === "cancel" ? "Workers are told at their next heartbeat." : SAYS[action] ?? ""}`,
        ...(n > TYPED || is_more ? { typed: String(n) } : {}),
        fields: [...(options.fields ?? []), { name: "reason", label: "Reason", kind: "area", isRequired: REASONED.has(action) },
                 { name: "limit", label: "At most", kind: "number", hint: "All of them if left empty." }, { name: "per_second", label: "At most per second", kind: "number", hint: "As fast as it goes if left empty." }],
        ...(cliOf(on, action, target, {}, "") === null ? {} : { cli: (values: Values) => cliOf(on, action, target, values, options.rawOf?.(values) ?? options.raw ?? "")! }),
        send: async (values) => {
            const number = (name: string) => values[name] ? { [name]: Number(values[name]) } : {};
            const more = { ...(values["reason"] ? { reason: values["reason"] } : {}), ...(values["by"] ? { by: values["by"] } : {}), ...number("limit"), ...number("per_second") };
            const answer = await send<Bulk>("POST", "/v1/bulk", body(on, action, target, more, options.rawOf?.(values) ?? options.raw));
            bulks.value = [...new Set([...bulks.value, answer.id])].slice(-10);
            openBulk.value = answer.id;
            options.done?.();
            return null;
        },
    };
}

const isOver = (it: Bulk): boolean => it.status !== "running";
const skippedOf = (it: Bulk): number => Object.values(it.skipped ?? {}).reduce((sum, n) => sum + n, 0);

function filterWords(it: Bulk): string {
    const filter = Object.entries(it.filter ?? {}).map(([name, value]) => `${name} ${String(value)}`).join(", ");
    return filter || "chosen by hand";
}

export function BulkProgress({ id, whenOver }: { id: string; whenOver?: () => void }) {
    const answer = useAsk<Bulk>(`/v1/bulk/${encodeURIComponent(id)}`);
    const it = answer.data;
    useNews(() => true, () => { if (!it || !isOver(it)) answer.again(); }, 1000);
    useEffect(() => {
        if (it && isOver(it)) { bulks.value = bulks.value.filter((other) => other !== id); whenOver?.(); return undefined; }
        const timer = setInterval(() => { if (!document.hidden) answer.again(); }, 2000);
        return () => clearInterval(timer);
    }, [it?.status]);
    if (answer.error && !it) return <Failure error={answer.error} again={answer.again} />;
    if (!it) return <Loading rows={2} />;
    const skipped = skippedOf(it), total = Math.max(it.expected ?? 0, it.done + skipped), seconds = Math.max(1, ((it.finished_at ? Date.parse(it.finished_at) : now.value) - Date.parse(it.started_at)) / 1000);
    const reasons = Object.entries(it.skipped ?? {}).map(([code, n]) => `${grouped(n)} ${words(code)}`).join(", ");
    return (
        <div data-testid="bulk-progress" data-done={it.done} data-skipped={skipped} data-status={it.status}>
            <p class="muted">{filterWords(it)}{it.by && <> · by <Text text={it.by} /></>} · <Time at={it.started_at} /></p>
            <progress max={Math.max(1, total)} value={isOver(it) && it.status === "done" ? Math.max(1, total) : it.done + skipped} aria-label="Progress" />
            <p>{isOver(it)
                ? <b>{it.status === "stopped" ? "Stopped. " : it.status === "failed" ? "Failed. " : ""}{DONE[it.action] ?? it.action} {grouped(it.done)}.{skipped > 0 && ` ${grouped(skipped)} skipped: ${reasons}.`}</b>
                : <>{grouped(it.done)} of about {grouped(total)} · {grouped(skipped)} skipped · {grouped(Math.round(it.done / seconds))}/s</>}
                {!isOver(it) && may("POST", "/v1/bulk/{id}/stop") && <button type="button" class="danger" data-testid="bulk-stop" onClick={() => void send("POST", `/v1/bulk/${encodeURIComponent(id)}/stop`).then(answer.again, (reason: Error) => toast("error", reason.message))}>Stop</button>}</p>
            {(it.skipped_sample ?? []).length > 0 && <div class="table-wrap"><table class="rows"><tbody>{it.skipped_sample.map((one) => (
                <tr key={one.id} data-testid="bulk-skipped" data-id={one.id}><td class="muted">skipped</td><td class="c-key">{it.on === "dlq" ? <Text text={one.id} mono /> : <a class="row-link" href={`${it.on}/${one.id}`} onClick={() => { openBulk.value = null; }}>…{one.id.slice(-8)}</a>}</td><td class="wide"><b>{words(one.code)}</b>: <Text text={one.message} /></td></tr>))}</tbody></table></div>}
        </div>
    );
}

/** Above the screen; it goes on when this is closed. */
export function BulkSheet() {
    const id = openBulk.value;
    if (!id) return null;
    const close = () => { openBulk.value = null; };
    return (
        <div class="veil" onMouseDown={(event) => { if (event.target === event.currentTarget) close(); }}>
            <div class="sheet" role="dialog" aria-modal="true" aria-label="Progress" data-testid="bulk" onKeyDown={(event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } }}>
                <h2>Progress</h2><BulkProgress id={id} />
                <div class="row end"><a class="button" href={`bulk/${encodeURIComponent(id)}`} onClick={close}>Open its page</a><button type="button" class="primary" data-testid="bulk-close" ref={(it) => it?.focus()} onClick={close}>Close</button></div>
            </div>
        </div>
    );
}

export function BulkChip() {
    if (!bulks.value.length || !may("GET", "/v1/bulk/{id}")) return null;
    return <Chip id={bulks.value.at(-1)!} />;
}

function Chip({ id }: { id: string }) {
    const answer = useAsk<Bulk>(`/v1/bulk/${encodeURIComponent(id)}`, (target, signal) => ask<Bulk>(target, signal));
    const it = answer.data;
    const isGone = !!answer.error && answer.error.code === "not_found";
    useEffect(() => {
        if (isGone || (it && isOver(it))) { bulks.value = bulks.value.filter((other) => other !== id); return undefined; }
        const timer = setInterval(() => { if (!document.hidden) answer.again(); }, 3000);
        return () => clearInterval(timer);
    }, [it?.status, isGone]);
    if (!it) return null;
    return <a class="chip" data-testid="bulk-chip" href={`bulk/${encodeURIComponent(id)}`}><Icon name="disc" size={10} />{it.action} {grouped(it.done)}</a>;
}

/** The bar below a list while rows are selected. */
export function BulkBar({ on, ids, filter, matching, actions, clear, exportIds, about }: { on: BulkOn; about?: string; ids: string[]; filter: Record<string, string | string[]> | null; matching: (() => void) | null; actions: string[]; clear: () => void; exportIds?: () => void }) {
    const target: Target = filter ? { filter } : { ids };
    return (
        <div class="bulk-bar" data-testid="bulk-bar"><b>{filter ? "All that match" : `${grouped(ids.length)} selected`}</b>
            {matching && <button type="button" class="quiet" data-testid="select-matching" onClick={matching}>Select all that match{about && ` (about ${about})`}</button>}
            {canBulk() && actions.map((action) => <button key={action} type="button" data-testid={`bulk-${action}`} disabled={!filter && ids.length > 1000} onClick={() => void bulkAction(on, action, target, { done: clear })}>{capital(action)}</button>)}
            {exportIds && <button type="button" class="quiet" data-testid="export-selected" onClick={exportIds}>Export ids</button>}
            <button type="button" class="quiet" aria-label="Clear the selection" onClick={clear}><Icon name="close" /></button>
        </div>
    );
}

export default function BulkScreen({ id }: { id: string }) {
    const answer = useAsk<Bulk>(`/v1/bulk/${encodeURIComponent(id)}`);
    const title = answer.data ? `${capital(answer.data.action)} · ${THINGS[answer.data.on as BulkOn]?.[1] ?? answer.data.on}` : "Bulk action";
    return <section data-testid="bulk" data-id={id}><div class="row head"><h1>{title}</h1></div><div class="card"><BulkProgress id={id} /></div></section>;
}

// dead.tsx - what went wrong, and can it be mended at once?
//
// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from "preact/hooks";
import { ask, askLater, askText } from "../base/api";
import { useAsk, useNews, withRaw, type Raw } from "../base/ask";
import { canBulk } from "../base/bulks";
import { merged } from "../base/patch";
import { here, query, setQuery } from "../base/place";
import { one } from "../base/query";
import { member, rawOf, scan } from "../base/scan";
import { grouped, oneLine } from "../base/text";
import type { Counts, DlqRecord, DlqRow, ErrorGroup, InstanceRow, JobRow, Page } from "../base/types";
import { may } from "../base/who";
import { requeue } from "../parts/actions";
import { BulkBar, bulkAction } from "../parts/bulk";
import { Empty, Failure, Loading, Status, Tabs, Text, Time } from "../parts/bits";
import { Icon } from "../parts/icons";
import { Chips } from "../parts/list";
import { More } from "../parts/more";
import { check, Difference, Json, JsonEditor, pretty } from "../parts/json";
import type { Field } from "../parts/sheet";

type Of = "dlq" | "jobs" | "instances";
const TABS: [string, Of, string][] = [["parked", "dlq", "Parked"], ["jobs", "jobs", "Failed jobs"], ["instances", "instances", "Failed instances"]];

interface Groups { items: ErrorGroup[]; scanned: number; is_more: boolean; of?: string }
type Member = DlqRow & InstanceRow & JobRow;

// ---- edit and requeue all --------------------------------------------------------------------------

const SHOWN = 3;

/** The inputs of the first few, as they are kept. */
async function firstInputs(group: string, signal: AbortSignal): Promise<string[]> {
    const text = await askText("GET", `/v1/dlq?group=${group}&limit=${SHOWN}`, undefined, signal), items = member(text, scan(text), "items");
    return (items?.items ?? []).map((it) => { const input = member(text, it, "input"); return input ? rawOf(text, input) : "null"; });
}

function EditAll({ group, mode, text, set }: { group: string; mode: string; text: string; set: (changes: Record<string, string>) => void }) {
    const inputs = useAsk<string[]>(group, firstInputs);
    const isGood = text !== "" && !check(text);
    const after = (before: string): string => mode === "patch" ? merged(before, text) : text;
    return (
        <>
            <div class="segments" role="group" aria-label="How the inputs are changed">
                <button type="button" data-testid="edit-mode-replace" aria-pressed={mode === "replace"} onClick={() => set({ mode: "replace", text: inputs.data?.[0] ?? "{}" })}>One input for all</button>
                <button type="button" data-testid="edit-mode-patch" aria-pressed={mode === "patch"} onClick={() => set({ mode: "patch", text: "{}" })}>Change each one's own</button>
            </div>
            <p class="muted">{mode === "patch" ? "A merge patch: members given here replace those of each input; null removes one." : "Every one gets this input."}</p>
            <JsonEditor label={mode === "patch" ? "Patch" : "Input"} value={text} onChange={(next) => set({ text: next })} />
            {isGood && inputs.data && <div data-testid="edit-preview"><h3>The first {inputs.data.length}, before and after</h3>{inputs.data.map((it, index) => <Difference key={index} before={pretty(it)} after={pretty(after(it))} />)}</div>}
        </>
    );
}

function editAll(it: ErrorGroup, first: string, done: () => void): void {
    const field: Field = {
        name: "text", label: "Input", kind: "own", value: first, draw: (values, set) => <EditAll group={it.group} mode={values["mode"] || "replace"} text={values["text"] ?? ""} set={set} />,
        flaw: (values) => !values["text"] || check(values["text"]) ? "no JSON" : "",
    };
    void bulkAction("dlq", "requeue", { filter: { group: it.group } }, {
        sentence: "Requeue {n} with another input? Each is called again with fresh attempts.", fields: [field], done,
        rawOf: (values) => `,"args":{"${values["mode"] === "patch" ? "input_patch" : "input"}":${values["text"]}}`,
    });
}

async function firstInput(group: string): Promise<string> {
    return (await firstInputs(group, new AbortController().signal).catch(() => []))[0] ?? "{}";
}

// ---- members of a group ----------------------------------------------------------------------------

/** Records name their instances by id; people know them by their keys. */
async function withKeys(target: string, signal: AbortSignal): Promise<Page<Member>> {
    const page = await ask<Page<Member>>(target, signal), ids = [...new Set(page.items.map((it) => it.instance_id).filter(Boolean))].slice(0, 100);
    if (!ids.length) return page;
    const owners = await ask<Page<InstanceRow>>(`/v1/instances?view=row&limit=100&ids=${ids.join(",")}`, signal).catch(() => null);
    const keys = new Map(owners?.items.map((it) => [it.id, it.key]));
    return { ...page, items: page.items.map((it) => ({ ...it, key: it.key ?? keys.get(it.instance_id) ?? null })) };
}

/** What else happens may have mended something that is not in sight, and is looked at now and then. */
const OTHER_MS = 15_000;

/** Calls back when something has failed, or there are more or fewer dead letters. */
function useFailures(act: () => void, everyMs: number): void {
    const dead = useRef<number | null>(null);
    useNews((digest) => {
        const isOther = digest.dead !== undefined && digest.dead !== dead.current;
        dead.current = digest.dead ?? null;
        return isOther || (digest.failed ?? 1) > 0;
    }, act, everyMs);
    useNews((digest) => digest.instances.length + digest.jobs.length > 0, act, OTHER_MS);
}

function Members({ group, of, reload }: { group: string; of: Of; reload: () => void }) {
    const [limit, setLimit] = useState(50);
    const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
    const filter = group && `&group=${group}`;
    const target = of === "dlq" ? `/v1/dlq?limit=${limit}${filter}${may("GET", "/v1/errors") ? "&view=row" : ""}` : `/v1/${of}?view=row&status=failed&limit=${limit}${filter}`;
    const page = useAsk<Page<Member>>(target, withKeys);
    const canRequeue = may("POST", "/v1/dlq/{id}/requeue");
    useNews((digest) => [...digest.instances, ...digest.jobs].some((id) => page.data?.items.some((it) => it.id === id || it.instance_id === id)), () => { page.again(); reload(); }, 2000);
    useFailures(page.again, 2000);
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading rows={2} />;
    if (!page.data.items.length) return group ? <p class="muted">None is left.</p> : <Nobody />;
    const done = () => { page.again(); reload(); };
    const flip = (id: string) => { const next = new Set(selected); if (!next.delete(id)) next.add(id); setSelected(next); };
    const box = (it: Member, name: string) => canBulk() && <td class="narrow"><label class="hit"><input type="checkbox" data-testid="select-row" aria-label={`Select ${name}`} checked={selected.has(it.id)} onClick={() => flip(it.id)} /></label></td>;
    const draw = (it: Member) => {
        const name = it.key ?? it.idempotency_key ?? `…${(it.instance_id ?? it.id).slice(-8)}`;
        if (of !== "dlq") return (
            <tr key={it.id} data-testid="dead-row" data-id={it.id} data-status={it.status}>{box(it, name)}<td class="c-key"><a class="row-link" href={`${of}/${it.id}`}><Text text={name} /></a></td>
                <td><Status status={it.status} of={of === "jobs" ? "job" : "instance"} /></td><td class="clip rest mono muted"><Text text={it.input_preview ?? it.payload_preview ?? ""} /></td><td class="right c-time"><Time at={it.created_at} /></td></tr>);
        return (
            <tr key={it.id} data-testid="dead-row" data-id={it.id} data-status="dlq">{box(it, name)}
                <td class="c-key"><a class="row-link" href={`instances/${it.instance_id}`}><Text text={name} /></a></td>
                {!group && <td class="clip"><b><Text text={it.step_name} /></b> <span class="bad"><Text text={oneLine(it.error ?? "")} /></span></td>}
                <td class="clip rest mono muted"><Text text={it.input_preview ?? (it.input === undefined ? "" : JSON.stringify(it.input))} /></td><td class="right c-time"><Time at={it.created_at} /></td>
                <td class="right nowrap c-buttons">{canRequeue && <><button type="button" data-testid="action-requeue" onClick={() => void requeue(it.id, it.step_name, false, done, it.instance_id)}>Requeue</button> <button type="button" data-testid="action-requeue-edit" onClick={() => void requeue(it.id, it.step_name, true, done, it.instance_id)}>Edit and requeue</button></>}</td>
            </tr>);
    };
    return (
        <>
            <table class="rows inner"><tbody>{page.data.items.map(draw)}</tbody></table>
            <More page={page.data} limit={limit} set={setLimit} />
            {selected.size > 0 && <BulkBar on={of} ids={[...selected]} filter={null} matching={null} actions={of === "dlq" ? ["requeue", "cancel"] : of === "jobs" ? ["retry", "delete"] : ["retry", "restart"]} clear={() => setSelected(new Set())} />}
        </>
    );
}

/** One by its number, as the search offers it; also if it was mended meanwhile. */
function Record({ id, reload }: { id: string; reload: () => void }) {
    const answer = useAsk<DlqRecord & Raw>(`/v1/dlq/${encodeURIComponent(id)}`, withRaw<DlqRecord>("input")), it = answer.data;
    if (answer.error && !it) return answer.error.code === "not_found" ? <Empty reason="filter"><p>There is no dead letter <Text text={id} />.</p></Empty> : <Failure error={answer.error} again={answer.again} />;
    if (!it) return <Loading rows={2} />;
    const done = () => { answer.again(); reload(); };
    return (
        <article class="card group" data-testid="dead-record" data-id={it.id}>
            <p class="row"><b><Text text={it.step_name} /></b><a href={`instances/${it.instance_id}`}>…{it.instance_id.slice(-8)}</a><Time at={it.created_at} />{!it.is_open && <span class="muted">no longer open</span>}
                <span class="grow" />{it.is_open && may("POST", "/v1/dlq/{id}/requeue") && <><button type="button" data-testid="action-requeue" onClick={() => void requeue(it.id, it.step_name, false, done, it.instance_id)}>Requeue</button><button type="button" data-testid="action-requeue-edit" onClick={() => void requeue(it.id, it.step_name, true, done, it.instance_id)}>Edit and requeue</button></>}</p>
            {it.error && <p class="bad"><Text text={it.error} /></p>}
            <Json text={it.raw["input"]!} name={`dead-${it.id}`} />
        </article>
    );
}

const Nobody = () => <Empty reason="done"><Icon name="tick" size={24} /><p>No dead letters.</p></Empty>;

function GroupActions({ it, of, reload }: { it: ErrorGroup; of: Of; reload: () => void }) {
    if (!canBulk()) return null;
    const on = (action: string) => void bulkAction(of, action, { filter: of === "dlq" ? { group: it.group } : { group: it.group, status: "failed" } }, { done: reload });
    if (of === "dlq") return (
        <div class="row group-actions">
            <button type="button" class="primary" data-testid="group-requeue" onClick={() => on("requeue")}>Requeue all</button>
            <button type="button" data-testid="group-edit" onClick={() => void firstInput(it.group).then((first) => editAll(it, first, reload))}>Edit and requeue all</button>
            <button type="button" data-testid="group-cancel" onClick={() => on("cancel")}>Cancel all</button>
        </div>);
    return <div class="row group-actions"><button type="button" class="primary" data-testid="group-retry" onClick={() => on("retry")}>Retry all</button>{of === "jobs" && <button type="button" data-testid="group-delete" onClick={() => on("delete")}>Delete all</button>}</div>;
}

export default function Dead() {
    const tab = TABS.find(([name]) => name === one(query.value, "tab")) ?? TABS[0]!;
    const of = tab[1], workflow = one(query.value, "workflow"), hasGroups = may("GET", "/v1/errors");
    const groups = useAsk<Groups>(!hasGroups ? null : `/v1/errors?of=${of}${workflow && of !== "jobs" ? `&workflow=${encodeURIComponent(workflow)}` : ""}`, async (target, signal) => ({ ...await ask<Groups>(target, signal), of: target.split(/[=&]/)[1]! }));
    // Those of the tab before stay in the answer until the next one is there; they are no rows of this one.
    const found = groups.data?.of === of ? groups.data : null;
    const instances = useAsk<{ counts: Counts }>(may("GET", "/v1/instances/counts") ? "/v1/instances/counts" : null, askLater);
    const jobs = useAsk<{ counts: Counts }>(may("GET", "/v1/jobs/counts") ? "/v1/jobs/counts" : null, askLater);
    const [open, setOpen] = useState<ReadonlySet<string> | null>(null);
    useFailures(() => { groups.again(); instances.again(); jobs.again(); }, 3000);
    const record = one(query.value, "record"), chosen = one(query.value, "group"), items = (found?.items ?? []).filter((it) => !chosen || it.group === chosen), first = items.slice(0, 3).map((it) => it.group);
    const total: Record<Of, number | undefined> = { dlq: of === "dlq" && found && !chosen ? items.reduce((sum, it) => sum + it.n, 0) : instances.data?.counts["dlq"]?.n, jobs: jobs.data?.counts["failed"]?.n, instances: instances.data?.counts["failed"]?.n };
    const isOpen = (group: string) => open ? open.has(group) : first.includes(group);
    const toggle = (group: string) => { const next = new Set(open ?? first); if (!next.delete(group)) next.add(group); setOpen(next); };
    const names = [...new Set(items.map((it) => it.workflow).filter((it): it is string => !!it))];
    return (
        <section data-testid="dead">
            <div class="row head"><h1>Dead letters</h1>
                {(names.length > 1 || workflow) && of !== "jobs" && <label class="inline">workflow <select data-testid="filter-workflow" value={workflow} onChange={(event) => setQuery({ workflow: event.currentTarget.value })}><option value="">all</option>{[...new Set([...names, ...(workflow ? [workflow] : [])])].map((it) => <option key={it}>{it}</option>)}</select></label>}</div>
            <Tabs chosen={tab[0]} items={TABS.map(([name, kind, label]) => ({ name, id: `dead-tab-${name}`, href: here({ tab: name === "parked" ? null : name, group: null }), label: <>{label} {total[kind] !== undefined && <span class="count">{grouped(total[kind]!)}</span>}</> }))} />
            <Chips names={["group", "record"]} />
            {record && <Record key={record} id={record} reload={groups.again} />}
            {!hasGroups ? <div class="card"><Members key={of} group="" of={of} reload={() => undefined} /></div>
                : groups.error && !found ? <Failure error={groups.error} again={groups.again} /> : !found ? <Loading />
                : !items.length ? chosen ? <Empty reason="filter"><p>None of this error is left.</p><a href={here({ group: null })}>All errors</a></Empty> : <Nobody />
                : items.map((it) => (
                    <article key={it.group} class="card group" data-testid="group" data-group={it.group} data-count={it.n}>
                        <header class="row"><button type="button" class="fold" data-testid="group-fold" aria-expanded={isOpen(it.group)} aria-label={isOpen(it.group) ? "Fold" : "Unfold"} onClick={() => toggle(it.group)}><Icon name={isOpen(it.group) ? "down" : "right"} /></button>
                            <span class="grow"><b><Text text={it.step ?? it.type ?? ""} /></b> {it.is_undo && <span class="pill g-undo">undo</span>}{it.workflow && <span class="muted"> · <Text text={it.workflow} /></span>}<br /><span class="bad"><Text text={it.sample || it.pattern} /></span></span>
                            <span class="group-side"><b class="big num">{grouped(it.n)}</b><span class="muted small-text">first <Time at={it.first_at} />, last <Time at={it.last_at} /></span></span></header>
                        {isOpen(it.group) && <><GroupActions it={it} of={of} reload={groups.again} /><Members key={of} group={it.group} of={of} reload={groups.again} /></>}
                    </article>
                ))}
            {found?.is_more && <p class="muted">Only the newest {grouped(found.scanned)} were read.</p>}
        </section>
    );
}

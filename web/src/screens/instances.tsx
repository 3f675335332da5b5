// instances.tsx - which instances, and what do they wait for?
//
// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { useAsk, useNews } from "../base/ask";
import { ask } from "../base/api";
import { query, setQuery } from "../base/place";
import { one, writeQuery } from "../base/query";
import { hiddenColumns, views } from "../base/settings";
import { oneLine } from "../base/text";
import type { Counts, InstanceRow, Page, Workflow } from "../base/types";
import { hasFeature, may } from "../base/who";
import { startForm } from "../parts/actions";
import { Command, Copy, Empty, Failure, Id, Loading, Status, Text, Time, Took } from "../parts/bits";
import { Icon } from "../parts/icons";
import { download } from "../parts/json";
import { Chips, closeMenus, CountLine, filterOf, Menu, NameFilter, StatusFilter, TextFilter, TimeFilter, useCalm, useList } from "../parts/list";
import { sheet } from "../parts/sheet";
import { WhyLine } from "../parts/why";

export const STATUSES = ["pending", "running", "waiting_signal", "paused", "compensating", "dlq", "completed", "failed", "cancelled", "aborted"];
const FILTERS = ["status", "workflow", "version", "q", "tag", "has", "from", "to"];
const VIEWS: [name: string, label: string, query: Record<string, string>][] = [
    ["all", "All", {}], ["flight", "In flight", { status: "running,waiting_signal,compensating" }], ["person", "Needs a person", { status: "paused,dlq" }],
    ["failed", "Failed, 24 h", { status: "failed", from: "-24h" }], ["planned", "Planned", { status: "pending" }],
];
const COLUMNS: [string, string][] = [["why", "now, and why"], ["tags", "tags"], ["preview", "input"], ["took", "took"], ["created", "created"]];

export function Views({ screen, builtIn }: { screen: string; builtIn: typeof VIEWS }) {
    const now = writeQuery(query.value);
    return (
        <div class="views" role="group" aria-label="Views">
            {builtIn.map(([name, label, params]) => {
                const to = writeQuery(Object.fromEntries(Object.entries(params).map(([key, value]) => [key, [value]])));
                return <a key={name} class="view" data-testid={`view-${name}`} aria-current={to === now ? "page" : undefined} href={screen + to}>{label}</a>;
            })}
            {views.value.filter((it) => it.screen === screen).map((it) => <a key={it.name} class="view" data-testid={`view-${it.name}`} aria-current={it.query === now ? "page" : undefined} href={screen + it.query}>{it.name}</a>)}
            {now && <button type="button" class="quiet" data-testid="save-view" onClick={() => {
                sheet.value = { action: "save-view", title: "Save this view", sentence: "The filters get a name. They are kept in this browser.", confirm: "Save", fields: [{ name: "name", label: "Name", kind: "text", isRequired: true }],
                                send: async (values) => { views.value = [...views.value, { name: values["name"]!, screen, query: now }]; return { text: `Saved as ${values["name"]}` }; } };
            }}><Icon name="plus" size={12} /> save view</button>}
        </div>
    );
}

export function NewStore({ children }: { children?: preact.ComponentChildren }) {
    return (
        <Empty reason="new">
            <h2>Nothing has been recorded yet.</h2>
            <p>Record a job, or start a workflow:</p>
            <p><Command text={`cairn job add hello.v1 --payload '{"name": "you"}'`} /></p>
            <p><Command text={`cairn deploy order.yaml && cairn start order --input '{"total": 40}'`} /></p>
            {children}
        </Empty>
    );
}

export function Nothing({ names, scannedTo, older }: { names: string[]; scannedTo: string | null; older: () => void }) {
    if (scannedTo) return <Empty reason="searched"><p>Not found in the newest ones (back to <Time at={scannedTo} />).</p><button type="button" onClick={older}>Search further back</button></Empty>;
    return <Empty reason="filter"><p>Nothing matches.</p><Chips names={names} /></Empty>;
}

const Cell = ({ row }: { row: InstanceRow }) => row.why
    ? <WhyLine why={row.why} />
    : row.last_error && ["failed", "dlq", "aborted"].includes(row.status)
        ? <span class="bad"><Text text={`${row.last_error.step ? `${row.last_error.step}: ` : ""}${oneLine(row.last_error.message)}`} /></span>
        : <span class="muted"><Text text={row.current_steps.join(", ")} /></span>;

export async function pickAndStart(): Promise<void> {
    const page = await ask<Page<Workflow>>("/v1/workflows?limit=1000");
    const names = [...new Set(page.items.map((it) => it.name))];
    sheet.value = {
        action: "start", title: "Start an instance", sentence: "Choose the workflow; its input is asked for next.", confirm: "Next",
        fields: [{ name: "workflow", label: "Workflow", kind: "choice", value: names[0] ?? "", options: names }],
        send: async (values) => {
            const name = values["workflow"]!;
            const version = Math.max(...page.items.filter((it) => it.name === name).map((it) => it.version));
            setTimeout(() => void startForm(name, version, "{}"));
            return null;
        },
    };
}

export default function Instances() {
    const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
    const [lastClick, setLastClick] = useState(-1);
    const { isBusy, touch } = useCalm(selected.size > 0);
    const params = filterOf(query.value, ["status", "workflow", "version", "q", "tag", "has"]);
    const filter = params.toString();
    const list = useList<InstanceRow>("/v1/instances", filter, "instances", isBusy);
    const forCounts = new URLSearchParams(params);
    forCounts.delete("status");
    forCounts.delete("has");
    const counts = useAsk<{ counts: Counts }>(may("GET", "/v1/instances/counts") ? `/v1/instances/counts?${forCounts.toString()}` : null);
    useNews((digest) => digest.instances.length > 0, counts.again, 5000);
    const workflows = useAsk<Page<Workflow>>("/v1/workflows?limit=1000");
    const names = [...new Set(workflows.data?.items.map((it) => it.name) ?? [])];
    const isShown = (column: string) => !hiddenColumns.value.includes(column);
    const canStart = may("POST", "/v1/instances") && names.length > 0;
    const toggle = (index: number, isRange: boolean) => {
        const next = new Set(selected), ids = list.rows.map((it) => it.id);
        if (isRange && lastClick >= 0) for (let at = Math.min(index, lastClick); at <= Math.max(index, lastClick); at++) next.add(ids[at]!);
        else if (!next.delete(ids[index]!)) next.add(ids[index]!);
        setLastClick(index);
        setSelected(next);
    };
    const hasFilter = FILTERS.some((it) => one(query.value, it));
    return (
        <section data-testid="instances" onPointerMove={touch} onFocusIn={touch}>
            <div class="row head"><h1>Instances</h1><Views screen="instances" builtIn={VIEWS} />
                {canStart && <button type="button" class="primary" data-testid="action-start" onClick={() => void pickAndStart()}>Start</button>}
            </div>
            <div class="row filters">
                <StatusFilter statuses={STATUSES} />
                <NameFilter name="workflow" label="workflow" id="filter-workflow" options={names} />
                {hasFeature("tags") && <NameFilter name="tag" label="tag" id="filter-tag" options={[]} />}
                <TimeFilter />
                <TextFilter />
                <Menu label="columns" id="columns">
                    {COLUMNS.map(([name, label]) => <label key={name} class="check"><input type="checkbox" checked={isShown(name)} onChange={() => { hiddenColumns.value = isShown(name) ? [...hiddenColumns.value, name] : hiddenColumns.value.filter((it) => it !== name); }} /> {label}</label>)}
                    <button type="button" class="quiet line" data-testid="export-ids" onClick={() => { download("ids.txt", list.rows.map((it) => `${it.id}\n`).join(""), "text/plain"); closeMenus(); }}>Export ids</button>
                </Menu>
            </div>
            <Chips names={FILTERS} />
            <div class="row between"><CountLine counts={counts.data?.counts ?? null} screen="instances" />
                {list.news > 0 && <button type="button" class="news" data-testid="news-pill" data-count={list.news} onClick={list.showNews}>{list.news} new</button>}
            </div>
            {list.error && <Failure error={list.error} again={list.again} />}
            {list.isAsking && !list.rows.length ? <Loading rows={8} />
                : !list.rows.length && !list.error ? (hasFilter ? <Nothing names={FILTERS} scannedTo={list.scannedTo} older={list.older} /> : <NewStore>{canStart && <button type="button" onClick={() => void pickAndStart()}>Start an instance</button>}</NewStore>)
                : list.rows.length > 0 && (
                    <div class="table-wrap"><table class="rows">
                        <thead><tr>
                            <th class="narrow"><input type="checkbox" aria-label="Select all on this page" data-testid="select-page" checked={selected.size > 0 && selected.size === list.rows.length} onChange={(event) => setSelected(event.currentTarget.checked ? new Set(list.rows.map((it) => it.id)) : new Set())} /></th>
                            <th>status</th><th>key / id</th><th>workflow</th>
                            {isShown("why") && <th class="wide">now, and why</th>}{isShown("tags") && list.rows.some((it) => it.tags) && <th>tags</th>}
                            {isShown("preview") && <th class="wide">input</th>}{isShown("took") && <th class="right">took</th>}{isShown("created") && <th class="right">created</th>}
                        </tr></thead>
                        <tbody>{list.rows.map((row, index) => (
                            <tr key={row.id} data-testid="instance-row" data-id={row.id} data-status={row.status} data-stale={list.stale.has(row.id) ? "true" : undefined} class={list.marked.has(row.id) ? "marked" : undefined}>
                                <td class="narrow"><input type="checkbox" data-testid="select-row" aria-label={`Select ${row.key ?? row.id}`} checked={selected.has(row.id)} onClick={(event) => toggle(index, event.shiftKey)} /></td>
                                <td class="c-status"><Status status={row.status} /></td>
                                <td class="c-key"><a class="row-link" href={`instances/${row.id}`}>{row.key ? <Text text={row.key} /> : <Id id={row.id} />}</a><Copy text={row.id} label="Copy the id" /></td>
                                <td class="c-flow"><Text text={row.workflow} /> <span class="muted">{row.version}</span></td>
                                {isShown("why") && <td class="c-why clip"><Cell row={row} /></td>}
                                {isShown("tags") && list.rows.some((it) => it.tags) && <td class="clip">{Object.entries(row.tags ?? {}).map(([name, value]) => <a key={name} class="chip plain" href={`instances${writeQuery({ tag: [`${name}:${value}`] })}`}>{name}:{value}</a>)}</td>}
                                {isShown("preview") && <td class="clip mono muted"><Text text={row.input_preview ?? ""} /></td>}
                                {isShown("took") && <td class="right"><Took from={row.started_at} to={row.finished_at} /></td>}
                                {isShown("created") && <td class="right c-time"><Time at={row.created_at} /></td>}
                            </tr>
                        ))}</tbody>
                    </table></div>
                )}
            {list.rows.length > 0 && list.next && <p class="center"><button type="button" data-testid="older" disabled={list.isOlder} onClick={list.older}>{list.scannedTo ? "Search further back" : "Older"}</button></p>}
            {selected.size > 0 && (
                <div class="bulk-bar" data-testid="bulk-bar"><b>{selected.size} selected</b>
                    <button type="button" onClick={() => download("ids.txt", [...selected].join("\n") + "\n", "text/plain")}>Export ids</button>
                    <button type="button" class="quiet" aria-label="Clear the selection" onClick={() => setSelected(new Set())}><Icon name="close" /></button>
                </div>
            )}
        </section>
    );
}

export const clearFilters = (): void => setQuery(Object.fromEntries(FILTERS.map((it) => [it, null])));

// instances.tsx - which instances, and what do they wait for?
//
// SPDX-License-Identifier: Apache-2.0
import { ask, askLater } from "../base/api";
import { useAsk } from "../base/ask";
import { query, setQuery } from "../base/place";
import { one, writeQuery } from "../base/query";
import { oneLine, visible } from "../base/text";
import type { InstanceRow, Page, Workflow } from "../base/types";
import { hasFeature, may } from "../base/who";
import { Copy, Id, Status, Text, Time, Took } from "../parts/bits";
import { NameFilter, StatusFilter, TagFilter, TextFilter, TimeFilter } from "../parts/list";
import { ListScreen, NewStore, type Column, type View } from "../parts/listscreen";
import { sheet } from "../parts/sheet";
import { WhyLine } from "../parts/why";

export const STATUSES = ["pending", "running", "waiting_signal", "paused", "compensating", "dlq", "completed", "failed", "cancelled", "aborted"];
const FILTERS = ["status", "stand", "workflow", "version", "q", "tag", "has", "group", "parent", "from", "to"];
const VIEWS: View[] = [
    ["all", "All", {}], ["flight", "In flight", { status: "running,waiting_signal,compensating" }], ["person", "Needs a person", { status: "paused,dlq" }],
    ["failed", "Failed, 24 h", { status: "failed", from: "-24h" }], ["planned", "Planned", { status: "pending" }],
];

/** Leads to all that failed alike. */
const SameError = ({ row }: { row: InstanceRow }) => row.error_group ? <a class="bad" href={`instances${writeQuery({ group: [row.error_group] })}`}><Text text={oneLine(row.last_error!.message)} /></a> : <Text text={oneLine(row.last_error!.message)} />;

const Cell = ({ row }: { row: InstanceRow }) => row.why
    ? <WhyLine why={row.why} />
    : row.last_error && ["failed", "dlq", "aborted"].includes(row.status)
        ? <span class="bad"><Text text={`${row.last_error.step ? `${row.last_error.step}: ` : ""}${oneLine(row.last_error.message)}`} /></span>
        : <span class="muted"><Text text={row.current_steps.join(", ")} /></span>;

/** "2/3": calls of the step that the reason names, or that failed. */
const callsOf = (row: InstanceRow): string => !row.attempts ? "" : row.max_attempts ? `${row.attempts}/${row.max_attempts}` : String(row.attempts);

/** What was started by others is left out: the list is then what people have started. */
function RootsFilter({ rows }: { rows: InstanceRow[] }) {
    const isOn = one(query.value, "parent") === "none";
    if (!isOn && !rows.some((it) => it.parent)) return null;
    return <button type="button" class={isOn ? "button set" : "button"} data-testid="filter-roots" aria-pressed={isOn} onClick={() => setQuery({ parent: isOn ? null : "none" })}>without children</button>;
}

export const Tags = ({ tags }: { tags: Record<string, string> | null | undefined }) => <>{Object.entries(tags ?? {}).map(([name, value]) => <a key={name} class="chip plain" href={`instances${writeQuery({ tag: [`${name}:${value}`] })}`}><Text text={`${name}:${value}`} /></a>)}</>;

const COLUMNS: Column<InstanceRow>[] = [
    { name: "status", label: "status", isFixed: true, class: "c-status", cell: (row) => <Status status={row.status} /> },
    { name: "key", label: "key / id", isFixed: true, class: "c-key", cell: (row) => <><a class="row-link key-text" href={`instances/${row.id}`} title={row.key ? visible(row.key) : undefined}>{row.key ? <Text text={row.key} /> : <Id id={row.id} />}</a><Copy text={row.id} label="Copy the id" /></> },
    { name: "workflow", label: "workflow", isFixed: true, class: "c-flow", cell: (row) => <><span class="key-text" title={visible(row.workflow)}><Text text={row.workflow} /></span> <span class="muted">{row.version}</span></> },
    { name: "why", label: "now, and why", head: "wide", class: "c-why clip", cell: (row) => <Cell row={row} /> },
    { name: "step", label: "step", class: "c-flow clip-short", cell: (row) => <Text text={row.current_steps.join(", ")} /> },
    { name: "error", label: "error", class: "clip bad", cell: (row) => row.last_error && <SameError row={row} /> },
    { name: "tags", label: "tags", head: "spare", class: "c-tags spare", isShown: (rows) => rows.some((it) => it.tags && Object.keys(it.tags).length), cell: (row) => <Tags tags={row.tags} /> },
    { name: "preview", label: "input", class: "clip mono muted", cell: (row) => <Text text={row.input_preview ?? ""} /> },
    { name: "took", label: "took", head: "right", class: "right", cell: (row) => <Took from={row.started_at} to={row.finished_at} /> },
    { name: "attempts", label: "calls", head: "right roomy", class: "right num roomy", isShown: (rows) => rows.some((it) => callsOf(it)), cell: (row) => callsOf(row) },
    { name: "created", label: "created", head: "right", class: "right c-time", cell: (row) => <Time at={row.created_at} /> },
];

export async function pickAndStart(): Promise<void> {
    const page = await ask<Page<Workflow>>("/v1/workflows?limit=1000");
    const names = [...new Set(page.items.map((it) => it.name))];
    sheet.value = {
        action: "start", title: "Start an instance", sentence: "Choose the workflow; its input is asked for next.", confirm: "Next",
        fields: [{ name: "workflow", label: "Workflow", kind: "choice", value: names[0] ?? "", options: names }],
        send: async (values) => {
            const name = values["workflow"]!;
            const version = Math.max(...page.items.filter((it) => it.name === name).map((it) => it.version));
            const { startForm } = await import("../parts/start");
            setTimeout(() => startForm(name, version));
            return null;
        },
    };
}

export default function Instances() {
    const workflows = useAsk<Page<Workflow>>("/v1/workflows?limit=1000", askLater);
    const names = [...new Set(workflows.data?.items.map((it) => it.name) ?? [])];
    const canStart = may("POST", "/v1/instances") && (!workflows.data || names.length > 0);
    return (
        <ListScreen<InstanceRow> kind="instances" title="Instances" row="instance-row" views={VIEWS} filters={FILTERS} columns={COLUMNS} label={(row) => row.key ?? row.id}
            bar={(rows) => <><StatusFilter statuses={STATUSES} /><NameFilter name="workflow" label="workflow" id="filter-workflow" options={names} />{hasFeature("tags") && <TagFilter />}<TimeFilter /><RootsFilter rows={rows} /><TextFilter /></>}
            action={canStart && <button type="button" class="primary" data-testid="action-start" onClick={() => void pickAndStart()}>Start</button>}
            empty={<NewStore>{canStart && workflows.data && <button type="button" onClick={() => void pickAndStart()}>Start an instance</button>}</NewStore>} />
    );
}

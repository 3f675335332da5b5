// instances.tsx - which instances, and what do they wait for?
//
// SPDX-License-Identifier: Apache-2.0
import { ask } from "../base/api";
import { useAsk } from "../base/ask";
import { writeQuery } from "../base/query";
import { oneLine, visible } from "../base/text";
import type { InstanceRow, Page, Workflow } from "../base/types";
import { hasFeature, may } from "../base/who";
import { startForm } from "../parts/actions";
import { Copy, Id, Status, Text, Time, Took } from "../parts/bits";
import { NameFilter, StatusFilter, TagFilter, TextFilter, TimeFilter } from "../parts/list";
import { ListScreen, NewStore, type Column, type View } from "../parts/listscreen";
import { sheet } from "../parts/sheet";
import { WhyLine } from "../parts/why";

export const STATUSES = ["pending", "running", "waiting_signal", "paused", "compensating", "dlq", "completed", "failed", "cancelled", "aborted"];
const FILTERS = ["status", "workflow", "version", "q", "tag", "has", "group", "parent", "from", "to"];
const VIEWS: View[] = [
    ["all", "All", {}], ["flight", "In flight", { status: "running,waiting_signal,compensating" }], ["person", "Needs a person", { status: "paused,dlq" }],
    ["failed", "Failed, 24 h", { status: "failed", from: "-24h" }], ["planned", "Planned", { status: "pending" }],
];

const Cell = ({ row }: { row: InstanceRow }) => row.why
    ? <WhyLine why={row.why} />
    : row.last_error && ["failed", "dlq", "aborted"].includes(row.status)
        ? <span class="bad"><Text text={`${row.last_error.step ? `${row.last_error.step}: ` : ""}${oneLine(row.last_error.message)}`} /></span>
        : <span class="muted"><Text text={row.current_steps.join(", ")} /></span>;

/** "2/3" while it is called or awaits the next call; of what has failed, the calls that it took. */
function callsOf(row: InstanceRow): string {
    const n = row.why?.values["n"], max = row.why?.values["max"];
    if (typeof n === "number" && typeof max === "number") return `${n}/${max}`;
    return row.last_error?.attempt && row.status !== "completed" ? String(row.last_error.attempt) : "";
}

export const Tags = ({ tags }: { tags: Record<string, string> | null | undefined }) => <>{Object.entries(tags ?? {}).map(([name, value]) => <a key={name} class="chip plain" href={`instances${writeQuery({ tag: [`${name}:${value}`] })}`}><Text text={`${name}:${value}`} /></a>)}</>;

const COLUMNS: Column<InstanceRow>[] = [
    { name: "status", label: "status", isFixed: true, class: "c-status", cell: (row) => <Status status={row.status} /> },
    { name: "key", label: "key / id", isFixed: true, class: "c-key", cell: (row) => <><a class="row-link key-text" href={`instances/${row.id}`} title={row.key ? visible(row.key) : undefined}>{row.key ? <Text text={row.key} /> : <Id id={row.id} />}</a><Copy text={row.id} label="Copy the id" /></> },
    { name: "workflow", label: "workflow", isFixed: true, class: "c-flow", cell: (row) => <><span class="key-text" title={visible(row.workflow)}><Text text={row.workflow} /></span> <span class="muted">{row.version}</span></> },
    { name: "why", label: "now, and why", head: "wide", class: "c-why clip", cell: (row) => <Cell row={row} /> },
    { name: "step", label: "step", class: "c-flow clip-short", cell: (row) => <Text text={row.current_steps.join(", ")} /> },
    { name: "error", label: "error", class: "clip bad", cell: (row) => row.last_error && <Text text={oneLine(row.last_error.message)} /> },
    { name: "tags", label: "tags", class: "c-tags", isShown: (rows) => rows.some((it) => it.tags && Object.keys(it.tags).length), cell: (row) => <Tags tags={row.tags} /> },
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
            setTimeout(() => void startForm(name, version));
            return null;
        },
    };
}

export default function Instances() {
    const workflows = useAsk<Page<Workflow>>("/v1/workflows?limit=1000");
    const names = [...new Set(workflows.data?.items.map((it) => it.name) ?? [])];
    const canStart = may("POST", "/v1/instances") && names.length > 0;
    return (
        <ListScreen<InstanceRow> kind="instances" title="Instances" row="instance-row" views={VIEWS} filters={FILTERS} columns={COLUMNS} label={(row) => row.key ?? row.id}
            bar={() => <><StatusFilter statuses={STATUSES} /><NameFilter name="workflow" label="workflow" id="filter-workflow" options={names} />{hasFeature("tags") && <TagFilter />}<TimeFilter /><TextFilter /></>}
            action={canStart && <button type="button" class="primary" data-testid="action-start" onClick={() => void pickAndStart()}>Start</button>}
            empty={<NewStore>{canStart && <button type="button" onClick={() => void pickAndStart()}>Start an instance</button>}</NewStore>} />
    );
}

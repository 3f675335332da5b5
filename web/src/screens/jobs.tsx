// jobs.tsx - what is queued, what failed? And one job.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { useAsk, useEvery, useNews } from "../base/ask";
import { askText } from "../base/api";
import { now } from "../base/clock";
import { member, rawOf, scan } from "../base/scan";
import { go, listOf } from "../base/place";
import { writeQuery } from "../base/query";
import { oneLine, visible } from "../base/text";
import type { Event, Job as JobType, JobRow, Page } from "../base/types";
import { hasFeature, may } from "../base/who";
import { ACTION_NAMES, jobAction, jobActions, jobAdd, limitPlace, rawMember, typeAction } from "../parts/actions";
import { Command, Copy, Failure, Id, Loading, Status, Text, Time } from "../parts/bits";
import { attemptsOf, Attempts, RemotePayload } from "../parts/drawer";
import { Events } from "../parts/happened";
import { NameFilter, StatusFilter, TagFilter, TextFilter, TimeFilter } from "../parts/list";
import { ListScreen, NewStore, type Column, type View } from "../parts/listscreen";
import { WhyBox, whyEveryMs, WhyLine } from "../parts/why";
import { NotFound } from "./instance";

const STATUSES = ["pending", "leased", "succeeded", "failed", "cancelled"];
const FILTERS = ["status", "type", "due", "q", "tag", "has", "group", "from", "to"];
const VIEWS: View[] = [
    ["all", "All", {}], ["due", "Due", { status: "pending", due: "true" }], ["later", "Later", { status: "pending", due: "false" }], ["running", "Running", { status: "leased" }], ["failed", "Failed", { status: "failed" }],
];

const isDue = (row: { run_at: string }): boolean => Date.parse(row.run_at) <= now.value;

function Note({ row }: { row: JobRow }) {
    if (row.why) return <WhyLine why={row.why} />;
    if (row.last_error && row.status !== "succeeded") return <span class="bad"><Text text={oneLine(row.last_error)} /></span>;
    if (row.status === "pending" && !isDue(row)) return <span>runs <Time at={row.run_at} /></span>;
    if (row.leased_by) return <span>by <Text text={row.leased_by} /></span>;
    return null;
}

/** As the command line counts: the column has calls that failed; one that is under way, or succeeded, is added. */
const callsOf = (row: JobRow): number => row.attempt + (row.status === "succeeded" || row.leased_by ? 1 : 0);

const COLUMNS: Column<JobRow>[] = [
    { name: "status", label: "status", isFixed: true, class: "c-status", cell: (row) => <Status status={row.status} of="job" isDue={isDue(row)} /> },
    { name: "type", label: "type", isFixed: true, class: "c-key", cell: (row) => <a class="row-link key-text" href={`jobs/${row.id}`} title={visible(row.type)}><Text text={row.type} mono /></a> },
    { name: "key", label: "key / id", isFixed: true, class: "c-flow", cell: (row) => <>{row.idempotency_key ? <span class="key-text" title={visible(row.idempotency_key)}><Text text={row.idempotency_key} /></span> : <Id id={row.id} />}<Copy text={row.id} label="Copy the id" /></> },
    { name: "why", label: "why", head: "wide", class: "c-why clip", cell: (row) => <Note row={row} /> },
    { name: "tags", label: "tags", head: "spare", class: "c-tags spare", isShown: (rows) => rows.some((it) => it.tags && Object.keys(it.tags).length), cell: (row) => <>{Object.entries(row.tags ?? {}).map(([name, value]) => <a key={name} class="chip plain" href={`jobs${writeQuery({ tag: [`${name}:${value}`] })}`}><Text text={`${name}:${value}`} /></a>)}</> },
    { name: "preview", label: "input", class: "clip mono muted", cell: (row) => <Text text={row.payload_preview ?? ""} /> },
    { name: "priority", label: "priority", head: "right", class: "right num", cell: (row) => row.priority },
    { name: "runs", label: "run at", head: "right", class: "right c-time", cell: (row) => <Time at={row.run_at} /> },
    { name: "calls", label: "calls", head: "right", class: "right num", cell: (row) => `${callsOf(row)}/${row.max_attempts}` },
    { name: "created", label: "created", head: "right", class: "right c-time", cell: (row) => <Time at={row.created_at} /> },
];

/** Each type that is seen, and the first parts that several of them share. */
function typesOf(rows: JobRow[]): string[] {
    const types = [...new Set(rows.map((it) => it.type))].sort(), firsts = types.map((it) => it.split(".")[0]!);
    const shared = [...new Set(firsts.filter((it, index) => firsts.indexOf(it) !== index))].map((it) => `${it}.%`);
    return [...shared, ...types];
}

export default function Jobs() {
    return (
        <ListScreen<JobRow> kind="jobs" title="Jobs" row="job-row" views={VIEWS} filters={FILTERS} columns={COLUMNS} label={(row) => row.idempotency_key ?? row.id}
            bar={(rows) => <><StatusFilter statuses={STATUSES} /><NameFilter name="type" label="type" id="filter-type" options={typesOf(rows)} />{hasFeature("tags") && <TagFilter />}<TimeFilter /><TextFilter /></>}
            action={may("POST", "/v1/jobs") && <button type="button" class="primary" data-testid="action-job-add" onClick={() => jobAdd()}>Add</button>}
            empty={<NewStore />} />
    );
}

async function jobPart(id: string, name: string, signal: AbortSignal): Promise<string> {
    const text = await askText("GET", `/v1/jobs/${id}`, undefined, signal), found = member(text, scan(text), name);
    return found ? rawOf(text, found) : "null";
}

export function Job({ id }: { id: string }) {
    const job = useAsk<JobType>(`/v1/jobs/${id}`);
    const events = useAsk<Page<Event>>(`/v1/jobs/${id}/events?limit=1000`);
    const sizes = useAsk<Page<JobRow>>(`/v1/jobs?ids=${encodeURIComponent(id)}&view=row&limit=1`);
    const [count, setCount] = useState(0);
    const reload = () => { job.again(); events.again(); sizes.again(); setCount((it) => it + 1); };
    useNews((digest) => digest.jobs.includes(id), reload, 500);
    const it = job.data;
    useEvery(whyEveryMs(it?.why ? [it.why] : []), job.again);
    useEffect(() => { if (it) document.title = `${it.status === "failed" ? "✗ " : ""}${it.idempotency_key ?? it.type} · Cairn`; }, [it?.status]);
    if (job.error?.code === "not_found" && !it) return <NotFound id={id} what="job" />;
    if (job.error && !it) return <Failure error={job.error} again={job.again} />;
    if (!it) return <Loading rows={6} />;
    const attempts = attemptsOf(events.data?.items, null);
    const buttons = it.deleted_at ? [] : jobActions(it.status), row = sizes.data?.items[0];         // a deleted one is in no list
    return (
        <section data-testid="job" data-id={id}>
            <p class="crumbs"><a href={listOf("jobs")}>‹ Jobs</a></p>
            <div class="row head"><h1><Text text={it.type} /></h1><span class="nowrap"><Id id={id} /><Copy text={id} label="Copy the id" /></span><Status status={it.status} of="job" isDue={isDue(it)} id="job-status" />
                {it.idempotency_key && <span>key <Text text={it.idempotency_key} /></span>}<span class="muted"><Time at={it.created_at} prefix="created " /></span></div>
            {it.why ? <WhyBox whys={[it.why]} more={it.status === "failed" && it.error_group && may("GET", "/v1/errors") && <a data-testid="same-error" data-group={it.error_group} href={`dead?tab=jobs&group=${it.error_group}`}>Errors like this</a>} allowed={(action) => buttons.includes(action) || ["workers", "limit", "about"].includes(action) || (action === "type-enable" && may("PUT", "/v1/registry/{name}"))} act={(action, why) => action.action === "limit" ? go(limitPlace(why)) : action.action === "type-enable" ? void typeAction(it.type, true, reload) : action.action === "workers" ? go("workers") : action.action === "about" ? go("settings") : jobAction(action.action, it, reload)} />
                : it.last_error && <section class="why-box"><div class="why u-failing" data-testid="why"><p data-testid="why-text"><Text text={it.last_error} /></p></div></section>}
            <div class="row actions">{buttons.map((action) => <button key={action} type="button" class={action === "job-retry" ? "primary" : undefined} data-testid={`action-${action}`} onClick={() => jobAction(action, it, reload)}>{ACTION_NAMES[action]}</button>)}
                {may("POST", "/v1/jobs") && <button type="button" data-testid="action-job-add" onClick={() => void rawMember(`/v1/jobs/${id}`, "payload").then((payload) => jobAdd(it.type, payload))}>Add again</button>}</div>
            <dl class="facts">{it.group && <><dt>group</dt><dd data-testid="job-in-group"><Text text={it.group} /></dd></>}<dt>priority</dt><dd>{it.priority}</dd><dt>run at</dt><dd><Time at={it.run_at} /></dd><dt>calls</dt><dd>{it.attempt} of {it.max_attempts} failed</dd>
                {it.leased_by && <><dt>worker</dt><dd><Text text={it.leased_by} />, lease until <Time at={it.lease_until} /></dd></>}</dl>
            {!sizes.data && !sizes.error ? <Loading rows={2} /> : <div class="two"><RemotePayload id="payload-input" title="Payload" route={`/v1/jobs/${id}/payload`} size={row?.payload_bytes ?? null} name={`${id}-payload`} otherwise={(signal) => jobPart(id, "payload", signal)} />
                <RemotePayload key={`${it.status}${row?.result_bytes}`} id="payload-output" title="Result" route={`/v1/jobs/${id}/result`} size={it.status === "succeeded" ? row?.result_bytes ?? null : 0} name={`${id}-result`} none={["pending", "leased"].includes(it.status) ? "Not there yet." : "None."} otherwise={(signal) => jobPart(id, "result", signal)} /></div>}
            <h3>Calls</h3>
            <Attempts items={attempts} />
            <h3>Events</h3>
            <Events of={`/v1/jobs/${id}`} count={count} />
            <Command text={`cairn job show ${id}`} />
        </section>
    );
}

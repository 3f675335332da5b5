// jobs.tsx - what is queued, what failed? And one job.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { useAsk, useNews } from "../base/ask";
import { now } from "../base/clock";
import { query } from "../base/place";
import { one } from "../base/query";
import { oneLine } from "../base/text";
import type { Counts, Event, Job as JobType, JobRow, Page } from "../base/types";
import { may } from "../base/who";
import { ACTION_NAMES, jobAction, jobActions, jobAdd, rawMember, typeAction } from "../parts/actions";
import { Command, Copy, Failure, Id, Loading, Status, Text, Time, Took } from "../parts/bits";
import { Icon } from "../parts/icons";
import { download } from "../parts/json";
import { Chips, CountLine, filterOf, NameFilter, StatusFilter, TextFilter, TimeFilter, useCalm, useList } from "../parts/list";
import { WhyBox, WhyLine } from "../parts/why";
import { attemptsOf, Events, Payload, useRaw } from "./instance";
import { NewStore, Nothing, Views } from "./instances";

const STATUSES = ["pending", "leased", "succeeded", "failed", "cancelled"];
const FILTERS = ["status", "type", "due", "q", "tag", "has", "from", "to"];
const VIEWS: [string, string, Record<string, string>][] = [
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

export default function Jobs() {
    const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
    const { isBusy, touch } = useCalm(selected.size > 0);
    const params = filterOf(query.value, ["status", "type", "due", "q", "tag", "has"]);
    const list = useList<JobRow>("/v1/jobs", params.toString(), "jobs", isBusy);
    const forCounts = new URLSearchParams(params);
    for (const name of ["status", "has", "due"]) forCounts.delete(name);
    const counts = useAsk<{ counts: Counts }>(may("GET", "/v1/jobs/counts") ? `/v1/jobs/counts?${forCounts.toString()}` : null);
    useNews((digest) => digest.jobs.length > 0, counts.again, 5000);
    const types = [...new Set(list.rows.map((it) => it.type))].sort();
    const hasFilter = FILTERS.some((it) => one(query.value, it));
    return (
        <section data-testid="jobs" onPointerMove={touch} onFocusIn={touch}>
            <div class="row head"><h1>Jobs</h1><Views screen="jobs" builtIn={VIEWS} />
                {may("POST", "/v1/jobs") && <button type="button" class="primary" data-testid="action-job-add" onClick={() => jobAdd()}>Add</button>}</div>
            <div class="row filters"><StatusFilter statuses={STATUSES} /><NameFilter name="type" label="type" id="filter-type" options={types} /><TimeFilter /><TextFilter /></div>
            <Chips names={FILTERS} />
            <div class="row between"><CountLine counts={counts.data?.counts ?? null} screen="jobs" />
                {list.news > 0 && <button type="button" class="news" data-testid="news-pill" data-count={list.news} onClick={list.showNews}>{list.news} new</button>}</div>
            {list.error && <Failure error={list.error} again={list.again} />}
            {list.isAsking && !list.rows.length ? <Loading rows={8} /> : !list.rows.length && !list.error ? (hasFilter ? <Nothing names={FILTERS} scannedTo={list.scannedTo} older={list.older} /> : <NewStore />)
                : list.rows.length > 0 && <div class="table-wrap"><table class="rows">
                    <thead><tr><th class="narrow"><input type="checkbox" aria-label="Select all on this page" data-testid="select-page" checked={selected.size > 0 && selected.size === list.rows.length} onChange={(event) => setSelected(event.currentTarget.checked ? new Set(list.rows.map((it) => it.id)) : new Set())} /></th>
                        <th>status</th><th>type</th><th>key / id</th><th class="wide">why</th><th class="right">calls</th><th class="right">created</th></tr></thead>
                    <tbody>{list.rows.map((row) => (
                        <tr key={row.id} data-testid="job-row" data-id={row.id} data-status={row.status} data-stale={list.stale.has(row.id) ? "true" : undefined} class={list.marked.has(row.id) ? "marked" : undefined}>
                            <td class="narrow"><input type="checkbox" data-testid="select-row" aria-label={`Select ${row.idempotency_key ?? row.id}`} checked={selected.has(row.id)} onClick={() => { const next = new Set(selected); if (!next.delete(row.id)) next.add(row.id); setSelected(next); }} /></td>
                            <td class="c-status"><Status status={row.status} of="job" isDue={isDue(row)} /></td>
                            <td class="c-flow"><a class="row-link" href={`jobs/${row.id}`}><Text text={row.type} mono /></a></td>
                            <td class="c-key">{row.idempotency_key ? <Text text={row.idempotency_key} /> : <Id id={row.id} />}<Copy text={row.id} label="Copy the id" /></td>
                            <td class="c-why clip"><Note row={row} /></td><td class="right num">{row.attempt}/{row.max_attempts}</td><td class="right c-time"><Time at={row.created_at} /></td>
                        </tr>))}</tbody></table></div>}
            {list.rows.length > 0 && list.next && <p class="center"><button type="button" data-testid="older" disabled={list.isOlder} onClick={list.older}>{list.scannedTo ? "Search further back" : "Older"}</button></p>}
            {selected.size > 0 && <div class="bulk-bar" data-testid="bulk-bar"><b>{selected.size} selected</b>
                <button type="button" onClick={() => download("ids.txt", [...selected].join("\n") + "\n", "text/plain")}>Export ids</button>
                <button type="button" class="quiet" aria-label="Clear the selection" onClick={() => setSelected(new Set())}><Icon name="close" /></button></div>}
        </section>
    );
}

export function Job({ id }: { id: string }) {
    const job = useAsk<JobType>(`/v1/jobs/${id}`);
    const raw = useRaw(`/v1/jobs/${id}`, ["payload", "result", "metadata"]);
    const events = useAsk<Page<Event>>(`/v1/jobs/${id}/events?limit=1000`);
    const [count, setCount] = useState(0);
    const reload = () => { job.again(); raw.again(); events.again(); setCount((it) => it + 1); };
    useNews((digest) => digest.jobs.includes(id), reload, 500);
    const it = job.data;
    useEffect(() => { if (it) document.title = `${it.status === "failed" ? "✗ " : ""}${it.idempotency_key ?? it.type} · Cairn`; }, [it?.status]);
    if (job.error?.code === "not_found") return <section class="empty" data-testid="error" data-code="not_found"><h1>There is no job {id}.</h1><p><a href={`jobs?q=${encodeURIComponent(id)}`}>Search in jobs</a></p></section>;
    if (job.error && !it) return <Failure error={job.error} again={job.again} />;
    if (!it) return <Loading rows={6} />;
    const attempts = attemptsOf(events.data?.items ?? [], null);
    const buttons = jobActions(it.status);
    return (
        <section data-testid="job" data-id={id}>
            <p class="crumbs"><a href="jobs">‹ Jobs</a></p>
            <div class="row head"><h1><Text text={it.type} /></h1><span class="nowrap"><Id id={id} /><Copy text={id} label="Copy the id" /></span><Status status={it.status} of="job" isDue={isDue(it)} id="job-status" />
                {it.idempotency_key && <span>key <Text text={it.idempotency_key} /></span>}<span class="muted"><Time at={it.created_at} prefix="created " /></span></div>
            {it.why ? <WhyBox whys={[it.why]} allowed={(action) => buttons.includes(action) || action === "workers" || action === "about" || (action === "type-enable" && may("PUT", "/v1/registry/{name}"))} act={(action) => action.action === "type-enable" ? typeAction(it.type, true, String(action.values["runtime"] ?? ""), reload) : jobAction(action.action, it, reload)} />
                : it.last_error && <section class="why-box"><div class="why u-failing" data-testid="why"><p data-testid="why-text"><Text text={it.last_error} /></p></div></section>}
            <div class="row actions">{buttons.map((action) => <button key={action} type="button" class={action === "job-retry" ? "primary" : undefined} data-testid={`action-${action}`} onClick={() => jobAction(action, it, reload)}>{ACTION_NAMES[action]}</button>)}
                {may("POST", "/v1/jobs") && <button type="button" data-testid="action-job-add" onClick={() => void rawMember(`/v1/jobs/${id}`, "payload").then((payload) => jobAdd(it.type, payload))}>Add again</button>}</div>
            <dl class="facts"><dt>priority</dt><dd>{it.priority}</dd><dt>run at</dt><dd><Time at={it.run_at} /></dd><dt>calls</dt><dd>{it.attempt} of {it.max_attempts} failed</dd>
                {it.leased_by && <><dt>worker</dt><dd><Text text={it.leased_by} />, lease until <Time at={it.lease_until} /></dd></>}</dl>
            <div class="two"><Payload id="payload-input" title="Payload" text={raw.texts?.["payload"]} name={`${id}-payload`} /><Payload id="payload-output" title="Result" text={raw.texts?.["result"]} name={`${id}-result`} none="Not there yet." /></div>
            <h3>Calls</h3>
            {!attempts.length ? <p class="muted">Not called yet.</p> : <div class="table-wrap"><table class="rows"><tbody>{attempts.map((attempt) => (
                <tr key={attempt.n} data-testid="attempt-row" data-outcome={attempt.outcome}><td class="num">{attempt.n}</td><td><Text text={attempt.worker} /></td><td><Time at={attempt.start} /></td><td class="num"><Took from={attempt.start} to={attempt.end} /></td><td>{attempt.outcome}</td><td class="bad wide"><Text text={attempt.error} /></td></tr>))}</tbody></table></div>}
            <h3>Events</h3>
            <Events of={`/v1/jobs/${id}`} count={count} />
            <Command text={`cairn job show ${id}`} />
        </section>
    );
}

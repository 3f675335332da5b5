// overview.tsx - is everything all right, and if not, where?
//
// SPDX-License-Identifier: Apache-2.0
import { ask } from "../base/api";
import { useAsk, useNews, type Answer } from "../base/ask";
import { now } from "../base/clock";
import { here, query } from "../base/place";
import { one, writeQuery } from "../base/query";
import { grouped, isId, oneLine, plural, words } from "../base/text";
import { duration } from "../base/time";
import type { Counts, ErrorGroup, InstanceRow, OverviewAnswer, Page, Series, TypeRow } from "../base/types";
import { may } from "../base/who";
import { Empty, Failure, Loading, Status, Text, Time, Took } from "../parts/bits";
import { Chart, count as countOf, time, type ChartSpec } from "../parts/chart";
import { Icon } from "../parts/icons";
import { countText } from "../parts/list";
import { NewStore } from "../parts/listscreen";
import { pickAndStart } from "./instances";

const EVERY_MS = 5000, AMBER_MS = 10_000;
const SHOWN = ["running", "waiting_signal", "paused", "compensating", "dlq", "failed", "completed"];
const RANGES = ["1h", "6h", "24h", "7d", "30d"];

// ---- a role that may not ask for figures -----------------------------------------------------------

/** What a worker's token may read: of the rest nothing is said. */
async function gathered(_: string, signal: AbortSignal): Promise<OverviewAnswer> {
    const [{ counts }, { items: recent }] = await Promise.all([ask<{ counts: Counts }>("/v1/instances/counts", signal), ask<Page<InstanceRow>>("/v1/instances?view=row&status=completed,failed,cancelled,aborted&limit=10", signal)]);
    return { counts, recent, needs: { approvals: 0, dead: counts["dlq"]?.n ?? 0, paused_failed: 0, mismatch: 0, undo_failed: 0, unserved_types: 0 } } as unknown as OverviewAnswer;
}

// ---- parts -----------------------------------------------------------------------------------------

function Needs({ it }: { it: OverviewAnswer }) {
    const needs: [string, number, string, string][] = [
        ["approvals", it.needs.approvals, "approvals", plural(it.needs.approvals, "approval")],
        ["dead", it.needs.dead, "dead", plural(it.needs.dead, "dead letter")],
        ["paused", it.needs.paused_failed + it.needs.mismatch, "instances?status=paused", `${grouped(it.needs.paused_failed + it.needs.mismatch)} paused`],
        ["undo", it.needs.undo_failed, "dead", `${grouped(it.needs.undo_failed)} could not be undone`],
        ["unserved", it.needs.unserved_types, "workers", `${plural(it.needs.unserved_types, "type")} nobody serves`],
    ];
    const open = needs.filter(([, count]) => count > 0);
    if (!open.length && !it.types) return null;
    const oldest = it.types.map((type) => type.oldest_ready_at).filter((at): at is string => !!at).sort()[0];
    if (!open.length) return <div class="needs well" data-testid="needs-you"><Icon name="tick" /> All is well.{oldest && <span>The oldest task waits for {duration(Math.max(0, now.value - Date.parse(oldest)))}.</span>}</div>;
    return <div class="needs" data-testid="needs-you"><b>Needs you</b>{open.map(([name, , to, text]) => <a key={name} data-testid={`need-${name}`} href={to}>{text}</a>)}</div>;
}

function Charts({ series }: { series: Series }) {
    const from = Date.parse(series.from), unit = series.step_s === 60 ? "minute" : series.step_s === 600 ? "10 minutes" : "hour";
    const between = (a: number, b: number) => ({ from: [new Date(a).toISOString().slice(0, 16) + "Z"], to: [new Date(b).toISOString().slice(0, 16) + "Z"] });
    const shared = { from, stepS: series.step_s };
    const specs: ChartSpec[] = [
        { ...shared, id: "chart-ended", title: `Started and ended per ${unit}`, text: countOf, link: (a, b) => `instances${writeQuery(between(a, b))}`,
          lines: [{ label: "ended", colour: "--done-text", values: series.completed, isBar: true }, { label: "started", colour: "--run-text", values: series.started }] },
        { ...shared, id: "chart-failed", title: `Failed per ${unit}`, text: countOf, link: (a, b) => `instances${writeQuery({ status: ["failed"], ...between(a, b) })}`,
          lines: [{ label: "failed", colour: "--fail-text", values: series.failed, isBar: true }, { label: "retried calls", colour: "--queue-text", values: series.retried }] },
        { ...shared, id: "chart-latency", title: "How long a task takes", text: time,
          lines: [{ label: "half within", colour: "--run-text", values: series.p50_ms }, { label: "95 % within", colour: "--wait-text", values: series.p95_ms }, { label: "95 % wait less than", colour: "--queue-text", values: series.wait_p95_ms }] },
    ];
    return <div class="charts">{specs.map((it) => <Chart key={it.id} spec={it} />)}</div>;
}

function Waiting({ it }: { it: OverviewAnswer }) {
    const rows = it.types.filter((type) => type.ready > 0).sort((a, b) => (a.oldest_ready_at ?? "9").localeCompare(b.oldest_ready_at ?? "9")).slice(0, 10);
    const isOld = (type: TypeRow) => !!type.oldest_ready_at && now.value - Date.parse(type.oldest_ready_at) > AMBER_MS;
    return (
        <section class="card"><h2>Waiting for a worker</h2>
            {!rows.length ? <p class="muted">Nothing waits.</p> : <table class="rows inner"><thead><tr><th class="wide">type</th><th /><th class="right">oldest</th><th class="right">ready</th></tr></thead><tbody>{rows.map((type) => (
                <tr key={type.type} data-testid="type-row" data-type={type.type} data-served={type.is_served === null ? "unknown" : String(type.is_served)}><td class="c-key mono"><a class="row-link" href={`jobs${writeQuery({ type: [type.type] })}`}><Text text={type.type} /></a></td><td>{type.is_served === false ? <span class="bad nowrap"><Icon name="cross" size={12} /> no worker</span> : ""}</td>
                    <td class={`right ${type.is_served !== false && isOld(type) ? "warn" : ""}`}><Time at={type.oldest_ready_at} /></td><td class="right num">{grouped(type.ready)}</td></tr>))}</tbody></table>}
            <p><a href="workers">{plural(it.workers.live, "live worker")}{it.workers.quiet > 0 && `, ${it.workers.quiet} quiet`}</a></p></section>
    );
}

/** What failed alike: dead letters are numbered, instances and jobs have ids. */
const placeOfGroup = (it: ErrorGroup): string => `dead${writeQuery({ ...(isId(it.newest) ? { tab: [it.workflow ? "instances" : "jobs"] } : {}), group: [it.group] })}`;

const Errors = ({ items }: { items: ErrorGroup[] }) => (
    <section class="card"><h2>Failures by error</h2>
        {!items.length ? <p class="muted">Nothing has failed.</p> : <table class="rows inner"><tbody>{items.slice(0, 10).map((it) => (
            <tr key={it.group} data-testid="error-row" data-group={it.group}><td class="clip"><a class="row-link" href={placeOfGroup(it)}><Text text={it.step ?? it.type ?? ""} /> <span class="beside"><Text text={oneLine(it.sample || it.pattern)} /></span></a></td><td class="right num">{grouped(it.n)}</td></tr>))}</tbody></table>}</section>
);

const Recent = ({ items }: { items: OverviewAnswer["recent"] }) => (
    <section class="card"><h2>Recently ended</h2>
        {!items.length ? <Empty reason="none"><p>Nothing has ended yet.</p></Empty> : <table class="rows inner"><tbody>{items.map((it) => (
            <tr key={it.id} data-testid="recent-row" data-id={it.id} data-status={it.status}><td class="c-status"><Status status={it.status} /></td><td class="c-key"><a class="row-link" href={`instances/${it.id}`}><Text text={it.key ?? `…${it.id.slice(-8)}`} /></a></td><td class="c-flow"><Text text={it.workflow} /></td><td class="right"><Took from={it.started_at} to={it.finished_at} /></td><td class="right c-time"><Time at={it.finished_at ?? it.created_at} /></td></tr>))}</tbody></table>}</section>
);

function JobCounts() {
    const jobs = useAsk<{ counts: Counts }>("/v1/jobs/counts");
    useNews((digest) => digest.jobs.length > 0, jobs.again, EVERY_MS);
    const found = Object.entries(jobs.data?.counts ?? {}).filter(([, it]) => it.n > 0);
    return found.length ? <p class="counts">Jobs: {found.map(([status, it]) => <a key={status} href={`jobs?status=${status}`}>{words(status)} <b>{countText(it)}</b></a>)}</p> : null;
}

/** Where there is no instance and nothing waits: whether jobs have ended, and whether something can be started. */
interface Bare { isNew: boolean; canStart: boolean }
async function bareStore(_: string, signal: AbortSignal): Promise<Bare> {
    const [jobs, flows] = await Promise.all(["jobs?view=row&", "workflows?"].map((route) => ask<Page<object>>(`/v1/${route}limit=1`, signal)));
    return { isNew: !jobs!.items.length, canStart: may("POST", "/v1/instances") && !!flows!.items.length };
}

export default function Overview() {
    const hasFigures = may("GET", "/v1/overview"), range = RANGES.includes(one(query.value, "range")) ? one(query.value, "range") : "1h";
    const answer: Answer<OverviewAnswer> = useAsk<OverviewAnswer>(hasFigures ? `/v1/overview?range=${range}` : "gathered", hasFigures ? ask : gathered);
    useNews(() => true, answer.again, EVERY_MS);
    const it = answer.data, isBare = !!it && !it.recent.length && !it.types?.length && !Object.values(it.counts).some((count) => count.n);
    const bare = useAsk<Bare>(isBare ? "bare" : null, bareStore);
    useNews((digest) => digest.jobs.length > 0, bare.again, EVERY_MS);
    if (answer.error && !it) return <Failure error={answer.error} again={answer.again} />;
    if (!it) return <Loading rows={8} />;
    if (isBare && !bare.data && !bare.error) return <Loading rows={8} />;
    if (isBare && bare.data?.isNew) return <section><h1>Overview</h1><NewStore>{bare.data.canStart && <button type="button" onClick={() => void pickAndStart()}>Start an instance</button>}</NewStore></section>;
    return (
        <section data-testid="overview">
            <div class="row head"><h1>Overview</h1>
                {it.series && <span class="segments" role="group" aria-label="Range">{RANGES.map((name) => <a key={name} class="button" data-testid={`range-${name}`} aria-current={name === range ? "true" : undefined} href={here({ range: name === "1h" ? null : name })}>{name}</a>)}</span>}</div>
            <Needs it={it} />
            <div class="tiles">{SHOWN.filter((status) => it.counts[status]).map((status) => <a key={status} class={`tile${it.counts[status]!.n ? "" : " dim"}`} data-testid={`count-${status}`} href={`instances?status=${status}`}><b class="big num">{countText(it.counts[status]!)}</b><Status status={status} /></a>)}</div>
            {may("GET", "/v1/jobs/counts") && !hasFigures && <JobCounts />}
            {it.series && <><Charts series={it.series} /><p class="muted small-text">Figures may miss seconds.</p></>}
            {hasFigures && <div class="two cards"><Waiting it={it} /><Errors items={it.errors} /></div>}
            <Recent items={it.recent} />
        </section>
    );
}

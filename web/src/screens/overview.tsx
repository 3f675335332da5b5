// overview.tsx - is everything all right, and if not, where?
//
// SPDX-License-Identifier: Apache-2.0
import { ask } from "../base/api";
import { useAsk, useNews } from "../base/ask";
import { grouped, plural, words } from "../base/text";
import type { Counts, ErrorGroup, InstanceRow, Page, TypeRow, WorkerRow } from "../base/types";
import { may } from "../base/who";
import { Empty, Failure, Loading, Status, Text, Time } from "../parts/bits";
import { Icon } from "../parts/icons";
import { countText } from "../parts/list";
import { NewStore, pickAndStart } from "./instances";

const EVERY_MS = 5000;
const SHOWN = ["running", "waiting_signal", "paused", "compensating", "dlq", "failed", "completed"];

/** Counts of each status; those of /v1/stats are of what has not ended. */
async function countsOf(target: string, signal: AbortSignal): Promise<{ counts: Counts }> {
    const answer = await ask<{ counts?: Counts }>(target, signal);
    if (answer.counts) return { counts: answer.counts };
    const found = Object.entries(answer).filter(([name]) => name.startsWith("instances_"));
    return { counts: Object.fromEntries(found.map(([name, n]) => [name.slice("instances_".length), { n: Number(n), is_more: false }])) };
}

export default function Overview() {
    const where = (route: string, rest = ""): string | null => may("GET", route) ? route + rest : null;
    const counts = useAsk<{ counts: Counts }>(where("/v1/instances/counts") ?? "/v1/stats", countsOf);
    const jobs = useAsk<{ counts: Counts }>(where("/v1/jobs/counts") ?? "/v1/stats", countsOf);
    const approvals = useAsk<{ n: number }>(where("/v1/approvals", "?limit=1"));
    const errors = useAsk<{ items: ErrorGroup[] }>(where("/v1/errors", "?of=dlq"));
    const types = useAsk<Page<TypeRow>>(where("/v1/types", "?limit=50"));
    const workers = useAsk<Page<WorkerRow>>(where("/v1/workers"));
    const recent = useAsk<Page<InstanceRow>>("/v1/instances?view=row&status=completed,failed,cancelled,aborted&limit=10");
    const all = [counts, jobs, approvals, errors, types, workers, recent];
    useNews(() => true, () => all.forEach((it) => it.again()), EVERY_MS);
    if (counts.error && !counts.data) return <Failure error={counts.error} again={counts.again} />;
    if (!counts.data) return <Loading rows={8} />;
    const n = (status: string) => counts.data!.counts[status]?.n ?? 0;
    const total = Object.values(counts.data.counts).reduce((sum, it) => sum + it.n, 0) + Object.values(jobs.data?.counts ?? {}).reduce((sum, it) => sum + it.n, 0);
    if (!total && recent.data && !recent.data.items.length) return <section><h1>Overview</h1><NewStore>{may("POST", "/v1/instances") && <button type="button" onClick={() => void pickAndStart()}>Start an instance</button>}</NewStore></section>;
    const unserved = (types.data?.items ?? []).filter((it) => it.is_served === false && it.ready > 0);
    const needs: [string, number, string, string][] = [
        ["approvals", approvals.data?.n ?? 0, "approvals", plural(approvals.data?.n ?? 0, "approval")],
        ["dead", n("dlq"), "dead", plural(n("dlq"), "dead letter")],
        ["paused", n("paused"), "instances?status=paused", `${grouped(n("paused"))} paused`],
        ["unserved", unserved.length, "workers", `${plural(unserved.length, "type")} nobody serves`],
    ];
    const open = needs.filter(([, count]) => count > 0);
    const waiting = (types.data?.items ?? []).filter((it) => it.ready > 0).sort((a, b) => (a.oldest_ready_at ?? "9").localeCompare(b.oldest_ready_at ?? "9")).slice(0, 10);
    const live = (workers.data?.items ?? []).filter((it) => it.state === "live").length, quiet = (workers.data?.items ?? []).filter((it) => it.state === "quiet").length;
    return (
        <section>
            <h1>Overview</h1>
            <div class={open.length ? "needs" : "needs well"} data-testid="needs-you">
                {open.length ? <><b>Needs you</b>{open.map(([name, , to, text]) => <a key={name} data-testid={`need-${name}`} href={to}>{text}</a>)}</> : <><Icon name="tick" /> All is well.</>}
            </div>
            <div class="tiles">{SHOWN.filter((status) => counts.data!.counts[status]).map((status) => <a key={status} class={`tile${n(status) ? "" : " dim"}`} data-testid={`count-${status}`} href={`instances?status=${status}`}><b class="big num">{countText(counts.data!.counts[status] ?? { n: 0, is_more: false })}</b><Status status={status} /></a>)}</div>
            {jobs.data && may("GET", "/v1/jobs/counts") && <p class="counts">Jobs: {Object.entries(jobs.data.counts).filter(([, it]) => it.n > 0).map(([status, it]) => <a key={status} href={`jobs?status=${status}`}>{words(status)} <b>{countText(it)}</b></a>)}</p>}
            <div class="two">
                {types.data && <section><h2>Waiting for a worker</h2>
                    {!waiting.length ? <p class="muted">Nothing waits.</p> : <table class="rows"><tbody>{waiting.map((it) => <tr key={it.type} data-testid="type-row" data-type={it.type}><td class="c-key mono"><Text text={it.type} /></td><td>{it.is_served === false ? <span class="bad"><Icon name="cross" size={12} /> no worker</span> : ""}</td><td class="right"><Time at={it.oldest_ready_at} /></td><td class="right num">{grouped(it.ready)}</td></tr>)}</tbody></table>}
                    <p><a href="workers">{plural(live, "live worker")}{quiet > 0 && `, ${quiet} quiet`}</a></p></section>}
                {errors.data && <section><h2>Dead letters by error</h2>
                    {!errors.data.items.length ? <p class="muted">No dead letters.</p> : <table class="rows"><tbody>{errors.data.items.slice(0, 8).map((it) => <tr key={it.group} data-testid="error-row" data-group={it.group}><td class="clip"><a class="row-link" href="dead"><Text text={`${it.step ?? it.type ?? ""}: ${it.sample || it.pattern}`} /></a></td><td class="right num">{grouped(it.n)}</td></tr>)}</tbody></table>}</section>}
            </div>
            <h2>Recently ended</h2>
            {!recent.data?.items.length ? <Empty reason="none"><p>Nothing has ended yet.</p></Empty> : <div class="table-wrap"><table class="rows"><tbody>{recent.data.items.map((it) => <tr key={it.id} data-testid="recent-row" data-id={it.id}><td class="c-status"><Status status={it.status} /></td><td class="c-key"><a class="row-link" href={`instances/${it.id}`}><Text text={it.key ?? `…${it.id.slice(-8)}`} /></a></td><td><Text text={it.workflow} /></td><td class="right c-time"><Time at={it.finished_at ?? it.created_at} /></td></tr>)}</tbody></table></div>}
        </section>
    );
}

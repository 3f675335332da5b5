// schedules.tsx - what starts by itself? And one schedule.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { ask, askText } from "../base/api";
import { useAsk, useEvery, useNews } from "../base/ask";
import { now } from "../base/clock";
import { go, lastPart } from "../base/place";
import { member, rawOf, scan } from "../base/scan";
import { oneLine, words } from "../base/text";
import type { Page, Schedule as ScheduleType, ScheduleRun, Schemas } from "../base/types";
import { may } from "../base/who";
import { Command, Empty, Failure, groupOf, iconOf, Id, Loading, Status, Text, Time, Until } from "../parts/bits";
import { Payload } from "../parts/drawer";
import { Icon } from "../parts/icons";
import { CATCH_UPS, mayDo, OVERLAPS, placeOfRun, routeOf, scheduleAction, scheduleForm, titleOf, whenWords } from "../parts/schedule";
import { NotFound } from "./instance";

type Times = Schemas["ScheduleTimes"];
const LIMIT = 200, MANY = 2000;

async function all(target: string, signal: AbortSignal): Promise<ScheduleType[]> {
    let items: ScheduleType[] = [], cursor = "";
    do {
        const page = await ask<Page<ScheduleType>>(`${target}?limit=${LIMIT}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
    } while (cursor && items.length < MANY);
    return items;
}

/** Asks again when a time has come: one that is left out makes no news. */
function useTimes(nexts: (string | null | undefined)[], again: () => void): void {
    const next = Math.min(...nexts.map((it) => it ? Date.parse(it) : Infinity));
    useEffect(() => {
        if (!Number.isFinite(next)) return undefined;
        const timer = setTimeout(again, Math.min(Math.max(1000, next - now.peek() + 1500), 3_600_000));
        return () => clearTimeout(timer);
    }, [next]);
    useEvery(60_000, again);
}

const Target = ({ it }: { it: ScheduleType }) => it.workflow
    ? <a href={`workflows/${encodeURIComponent(it.workflow)}/${it.version || "latest"}`}><Text text={it.workflow} />{it.version > 0 && ` v${it.version}`}</a>
    : <><span class="muted">job</span> <a href={`jobs?type=${encodeURIComponent(it.task ?? "")}`}><Text text={it.task ?? ""} mono /></a></>;

const When = ({ it }: { it: ScheduleType }) => (
    <span title={it.cron ? `${it.cron} (${it.timezone})` : undefined}>{whenWords(it)}{it.cron && <span class="muted"> {it.timezone}</span>}</span>
);

function runWords(run: ScheduleRun): string {
    if (run.error) return oneLine(run.error);
    return run.status === "skipped" ? "left out: an earlier run had not ended" : run.status === "gone" ? "removed meanwhile" : words(run.status);
}

/** The oldest of the latest runs first, as one reads. */
function Dots({ runs }: { runs: ScheduleRun[] }) {
    if (!runs.length) return <span class="muted">–</span>;
    return <span class="dots">{[...runs].reverse().map((run) => {
        const text = `${runWords(run)}, ${run.at}`, to = placeOfRun(run), inside = <Icon name={iconOf(run.status)} size={12} label={text} />, look = `run-dot g-${groupOf(run.status)}`;
        return to ? <a key={run.at} class={look} href={to} title={text} data-testid="schedule-dot" data-status={run.status}>{inside}</a> : <span key={run.at} class={look} title={text} data-testid="schedule-dot" data-status={run.status}>{inside}</span>;
    })}</span>;
}

/** "2026-11-17T06:00:00+01:00" as "Tue 17 Nov 06:00 +01:00". */
function localWords(local: string): string {
    const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?[^+Z-]*(.*)$/.exec(local);
    if (!found) return local;
    const day = new Date(`${found[1]}T00:00:00Z`).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).replace(",", "");
    return `${day} ${found[2]}${found[3] === ":00" ? "" : found[3] ?? ""} ${found[4]}`;
}

const State = ({ it, id }: { it: ScheduleType; id?: string }) => (
    <span class={`pill g-${it.paused ? "hold" : "done"}`} data-testid={id} data-status={it.paused ? "paused" : "on"}><Icon name={it.paused ? "bars" : "disc"} size={12} />{it.paused ? "paused" : "on"}</span>
);

function Buttons({ it, done }: { it: ScheduleType; done: () => void }) {
    const toggle = it.paused ? "schedule-resume" : "schedule-pause";
    return <>
        {mayDo("schedule-run") && <button type="button" data-testid="schedule-run" onClick={() => scheduleAction("schedule-run", it, done)}>{titleOf("schedule-run")}</button>}{" "}
        {mayDo(toggle) && <button type="button" data-testid="schedule-toggle" aria-label={`${titleOf(toggle)} ${it.name}`} onClick={() => scheduleAction(toggle, it, done)}>{titleOf(toggle)}</button>}
    </>;
}

/** A change of a schedule is news that names nothing; its runs are named.  New ones come at times that are known. */
function useScheduleNews(runs: ScheduleRun[], again: () => void): void {
    useNews((digest) => !digest.instances.length && !digest.jobs.length || [...digest.instances, ...digest.jobs].some((id) => runs.some((it) => it.id === id)), again, 2000);
    useNews(() => true, again, 10_000);
}

export function Schedules() {
    const list = useAsk<ScheduleType[]>("/v1/schedules", all);
    useScheduleNews(list.data?.flatMap((it) => it.runs) ?? [], list.again);
    useTimes(list.data?.map((it) => it.next_at) ?? [], list.again);
    if (list.error && !list.data) return <Failure error={list.error} again={list.again} />;
    if (!list.data) return <Loading />;
    const canWrite = may("PUT", "/v1/schedules/{name}"), make = () => void scheduleForm(null, list.again);
    return (
        <section data-testid="schedules">
            <div class="row head"><h1>Schedules</h1>{canWrite && <button type="button" class="primary" data-testid="action-schedule-new" onClick={make}>New schedule</button>}</div>
            {!list.data.length ? (
                <Empty reason="new"><h2>Nothing starts by itself.</h2><p>A schedule records a job, or starts an instance, at given times:</p>
                    <p><Command text={"cairn schedule set nightly --cron '30 2 * * *' --tz Europe/Berlin --job report.v1"} /></p>
                    <p><Command text="cairn schedule set ping --every 5m --workflow order" /></p></Empty>
            ) : (
                <div class="table-wrap"><table class="rows"><thead><tr><th>name</th><th>state</th><th>starts</th><th class="wide">when</th><th class="right">next</th><th>last runs</th><th /></tr></thead><tbody>{list.data.map((it) => (
                    <tr key={it.name} data-testid="schedule-row" data-id={it.name} data-status={it.paused ? "paused" : "on"}>
                        <td class="c-key"><a class="row-link" href={`schedules/${lastPart(it.name)}`}><Text text={it.name} /></a></td>
                        <td><State it={it} /></td><td data-label="starts"><Target it={it} /></td><td class="c-when"><When it={it} /></td>
                        <td class="right" data-label="next" data-testid="schedule-next"><Time at={it.next_at} /></td><td data-label="runs"><Dots runs={it.runs} />{it.last_at && <span class="muted"> <Time at={it.last_at} /></span>}</td>
                        <td class="right nowrap c-buttons"><Buttons it={it} done={list.again} /></td>
                    </tr>))}</tbody></table></div>
            )}
            {list.data.length >= MANY && <p class="muted">Only the first {MANY} are shown; <code>cairn schedule list</code> prints all.</p>}
        </section>
    );
}

function Runs({ runs }: { runs: ScheduleRun[] }) {
    if (!runs.length) return <Empty reason="none"><p>It has not run yet.</p></Empty>;
    return (
        <div class="table-wrap"><table class="rows"><thead><tr><th>time</th><th>outcome</th><th>run</th><th class="wide" /></tr></thead><tbody>{runs.map((run) => {
            const to = placeOfRun(run);
            return <tr key={run.at} data-testid="schedule-run-row" data-id={run.id ?? ""} data-status={run.status}>
                <td class="c-key"><Time at={run.at} /></td><td><Status status={run.status} of={run.kind} /></td>
                <td>{to ? <a href={to}>{run.kind} <Id id={run.id!} /></a> : <span class="muted">–</span>}</td><td class={run.error ? "clip bad" : "clip muted"}>{(run.error || !run.id || run.status === "gone") && <Text text={runWords(run)} />}</td></tr>;
        })}</tbody></table></div>
    );
}

/** With its input as the text that it is. */
async function whole(target: string, signal: AbortSignal): Promise<{ it: ScheduleType; input: string }> {
    const text = await askText("GET", target, undefined, signal), input = member(text, scan(text), "input");
    return { it: JSON.parse(text) as ScheduleType, input: input ? rawOf(text, input) : "null" };
}

export function Schedule({ name }: { name: string }) {
    const one = useAsk(routeOf(name), whole), times = useAsk<Times>(`${routeOf(name)}/next?count=5`);
    const again = () => { one.again(); times.again(); };
    useScheduleNews(one.data?.it.runs ?? [], again);
    const it = one.data?.it;
    useTimes([it?.next_at], again);
    useEffect(() => { if (it) document.title = `${it.name} · Cairn`; }, [it?.name]);
    if (one.error?.code === "not_found") return <NotFound id={name} what="schedule" />;
    if (one.error && !it) return <Failure error={one.error} again={one.again} />;
    if (!it) return <Loading rows={6} />;
    return (
        <section data-testid="schedule" data-id={it.name}>
            <p class="crumbs"><a href="schedules">‹ Schedules</a></p>
            <div class="row head"><h1><Text text={it.name} /></h1><State it={it} id="schedule-state" /><span><span class="muted">starts</span> <Target it={it} /></span></div>
            <section class="why-box"><div class={`why u-${it.paused ? "person" : it.waiting_at ? "waits" : "works"}`} data-testid="why"><p data-testid="why-text">
                {it.paused ? `Paused: it starts nothing until somebody resumes it. Of the times that come meanwhile, ${CATCH_UPS[it.catch_up]} then.`
                    : it.waiting_at ? <>The run of <Until at={it.waiting_at} /> waits until the earlier one has ended.</>
                    : it.next_at ? <>Runs {whenWords(it)}{it.cron && ` (${it.timezone})`}, next <Until at={it.next_at} />.</> : "No time is left at which it would run."}</p></div></section>
            <div class="row actions"><Buttons it={it} done={again} />
                {may("PUT", "/v1/schedules/{name}") && <button type="button" data-testid="action-schedule-edit" onClick={() => void scheduleForm(it, again)}>Change</button>}
                {mayDo("schedule-remove") && <button type="button" data-testid="action-schedule-remove" onClick={() => scheduleAction("schedule-remove", it, () => go("schedules"))}>Remove</button>}</div>
            <div class="two">
                <section><h2>When</h2><dl class="facts"><dt>in words</dt><dd>{whenWords(it)}</dd>{it.cron && <><dt>as written</dt><dd><Text text={it.cron} mono /></dd><dt>time zone</dt><dd>{it.timezone}</dd></>}
                    <dt>overlap</dt><dd>{it.overlap} <span class="muted">If an earlier run has not ended, {OVERLAPS[it.overlap]}.</span></dd>
                    <dt>catch up</dt><dd>{it.catch_up} <span class="muted">Of the times that were missed, {CATCH_UPS[it.catch_up]}.</span></dd><dt>changed</dt><dd><Time at={it.updated_at} /></dd></dl></section>
                <section><h2>Next times</h2>{times.error && !times.data ? <Failure error={times.error} again={times.again} /> : <ol class="plain">{times.data?.items.map((time) => <li key={time.at} class="row" data-testid="schedule-next" data-at={time.at}><Time at={time.at} /><span class="muted">{localWords(time.local)}</span></li>)}</ol>}</section>
            </div>
            <h2>Last runs</h2><Runs runs={it.runs} />
            <Payload id="payload-input" title="Input" text={one.data!.input} name={`${it.name}-input`} />
            <Command text={`cairn schedule show ${it.name}`} />
        </section>
    );
}

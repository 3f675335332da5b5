// instance.tsx - what has it done, what does it wait for, what can I do?
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, askText } from "../base/api";
import { useAsk, useNews } from "../base/ask";
import { here, query, setQuery } from "../base/place";
import { one } from "../base/query";
import { readPlan, type Element } from "../base/layout";
import { member, rawOf, scan } from "../base/scan";
import { plural, visible, words } from "../base/text";
import type { Event, Instance as InstanceType, Log, Page, StepRow, Why, Workflow } from "../base/types";
import { may } from "../base/who";
import { act, ACTION_NAMES, decide, instanceAction, instanceActions, signalAction, startAgain } from "../parts/actions";
import { Command, Copy, Empty, Failure, Id, Loading, Status, Text, Time, Took } from "../parts/bits";
import { Graph } from "../parts/graph";
import { Json } from "../parts/json";
import { Menu } from "../parts/list";
import { Drawer } from "../parts/sheet";
import { Timeline } from "../parts/timeline";
import { WhyBox } from "../parts/why";

const EVENTS = 200;

async function allSteps(id: string, signal: AbortSignal): Promise<StepRow[]> {
    let items: StepRow[] = [], cursor = "";
    do {
        const page = await ask<Page<StepRow>>(`/v1/instances/${id}/steps?view=row&limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
    } while (cursor && items.length < 20_000);
    return items;
}

/** Definitions never change, so each is asked for once. */
const definitions = new Map<string, Workflow>();
async function definition(target: string, signal: AbortSignal): Promise<Workflow> {
    const known = definitions.get(target);
    if (known) return known;
    const answer = await ask<Workflow>(target, signal);
    definitions.set(target, answer);
    return answer;
}

const isFunction = (flow: Workflow | null): boolean => !!flow && typeof flow.definition === "object" && flow.definition !== null && "function" in flow.definition;

// ---- tabs ------------------------------------------------------------------------------------------

interface TreeRow { step: StepRow; depth: number }

/** Steps in the order of the file, indented as the file is. */
function tree(plan: Element[], steps: StepRow[]): TreeRow[] {
    const depths = new Map<string, number>();
    const walk = (elements: Element[], depth: number) => elements.forEach((it) => {
        depths.set(it.name, depth);
        it.lists?.forEach((list) => walk(list.elements, depth + 1));
    });
    walk(plan, 0);
    return [...steps].sort((a, b) => a.seq - b.seq).map((step) => ({ step, depth: depths.get(step.name) ?? 0 }));
}

function note(step: StepRow) {
    if (step.undo_error) return <span class="bad"><Text text={`undo: ${step.undo_error}`} /></span>;
    if (step.error) return <span class="bad"><Text text={step.error} /></span>;
    if (step.status === "waiting" && step.waiting_event) return <span>{step.waiting_event}{step.deadline_at && <> until <Time at={step.deadline_at} /></>}</span>;
    if (step.status === "waiting_decision") return <span>a decision{step.deadline_at && <> until <Time at={step.deadline_at} /></>}</span>;
    if (step.status === "waiting" && step.deadline_at) return <span>until <Time at={step.deadline_at} /></span>;
    if (step.locked_by) return <span>by <Text text={step.locked_by} /></span>;
    if (step.status === "ready" && step.next_run_at) return <span>next call <Time at={step.next_run_at} /></span>;
    return null;
}

const WINDOW = 200;

function Steps({ rows }: { rows: TreeRow[] }) {
    const [count, setCount] = useState(WINDOW);
    if (!rows.length) return <Empty reason="none"><p>Nothing has happened yet.</p></Empty>;
    return (
        <div class="table-wrap"><table class="rows" data-testid="steps">
            <thead><tr><th class="wide">step</th><th>kind</th><th>status</th><th class="right">took</th><th class="right">calls</th><th class="wide">note</th></tr></thead>
            <tbody>{rows.slice(0, count).map(({ step, depth }) => (
                <tr key={step.id} data-testid="step-row" data-step={step.name} data-seq={step.seq} data-status={step.status}>
                    <td class="c-key"><a class={`row-link d-${Math.min(depth, 6)}`} href={here({ step: String(step.seq) })}><Text text={step.name} /></a></td>
                    <td class="muted">{words(step.kind)}</td>
                    <td class="c-status"><Status status={step.status} of="step" /></td>
                    <td class="right"><Took from={step.started_at} to={step.finished_at ?? (step.locked_by ? null : step.started_at)} /></td>
                    <td class="right num">{step.kind === "task" || step.kind === "function" ? `${step.attempts}/${step.max_attempts}` : ""}</td>
                    <td class="clip">{note(step)}</td>
                </tr>
            ))}</tbody>
        </table>
        {rows.length > count && <p class="center"><button type="button" onClick={() => setCount(count + 1000)}>{plural(rows.length - count, "step")} more</button></p>}
        </div>
    );
}

function Data({ value }: { value: unknown }) {
    if (value === null || value === undefined || (typeof value === "object" && !Object.keys(value as object).length)) return null;
    const text = JSON.stringify(value);
    return text.length < 90 ? <code class="muted">{visible(text)}</code> : <details><summary class="mono muted">{visible(text.slice(0, 80))} …</summary><Json text={text} /></details>;
}

export function Events({ of, count }: { of: string; count: number }) {
    const [order, setOrder] = useState<"newest" | "oldest">("newest");
    const [limit, setLimit] = useState(EVENTS);
    const page = useAsk<Page<Event>>(`${of}/events?limit=${Math.min(limit, 1000)}&order=${order}`);
    useEffect(() => { if (count) page.again(); }, [count]);
    const step = one(query.value, "of"), type = one(query.value, "type");
    const items = page.data?.items.filter((it) => (!step || it.step === step) && (!type || it.type === type)) ?? [];
    const types = [...new Set(page.data?.items.map((it) => it.type) ?? [])];
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading />;
    return (
        <div data-testid="events">
            <div class="row filters">
                <button type="button" onClick={() => setOrder(order === "newest" ? "oldest" : "newest")}>{order} first</button>
                <label class="inline">type <select value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}><option value="">all</option>{types.map((it) => <option key={it}>{it}</option>)}</select></label>
                {step && <a class="chip" data-testid="chip" data-name="of" href={here({ of: null })}>step: {step}</a>}
            </div>
            {!items.length ? <Empty reason="none"><p>Nothing has happened yet.</p></Empty>
                : <div class="table-wrap"><table class="rows"><tbody>{items.map((it) => (
                    <tr key={it.id} id={`event-${it.id}`} data-testid="event-row" data-type={it.type} data-step={it.step ?? ""} class={one(query.value, "event") === it.id ? "marked" : undefined}>
                        <td class="c-time"><a href={here({ tab: "events", event: it.id })}><Time at={it.at} /></a></td><td class="c-key mono">{it.type}</td>
                        <td>{it.step && <Text text={it.step} />}</td><td class="wide"><Data value={it.data} /></td>
                    </tr>))}</tbody></table></div>}
            {page.data.next && limit < 1000 && <p class="center"><button type="button" onClick={() => setLimit(1000)}>More</button></p>}
        </div>
    );
}

function Logs({ id, count }: { id: string; count: number }) {
    const page = useAsk<Page<Log>>(`/v1/instances/${id}/logs?limit=1000`);
    useEffect(() => { if (count) page.again(); }, [count]);
    const level = one(query.value, "level");
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading />;
    const items = page.data.items.filter((it) => !level || it.level === level);
    if (!items.length) return <Empty reason="none"><p>It has logged nothing.</p></Empty>;
    return (
        <div data-testid="logs">
            <div class="row filters"><label class="inline">level <select value={level} onChange={(event) => setQuery({ level: event.currentTarget.value })}><option value="">all</option>{["debug", "info", "warn", "error"].map((it) => <option key={it}>{it}</option>)}</select></label></div>
            <div class="table-wrap"><table class="rows"><tbody>{items.map((it) => (
                <tr key={it.id} data-testid="log-row" data-level={it.level}><td class="c-time"><Time at={it.at} /></td><td class={it.level === "error" ? "bad" : "muted"}>{it.level}</td>
                    <td>{it.step && <Text text={it.step} />}{it.attempt > 1 && <span class="muted"> call {it.attempt}</span>}</td><td class="wide"><Text text={it.message} /> <Data value={it.data} /></td></tr>))}</tbody></table></div>
        </div>
    );
}

/** The members of an answer as they stand in it, so that no digit is lost. */
export function useRaw(target: string | null, names: string[]): { texts: Record<string, string> | null; again: () => void } {
    const answer = useAsk<Record<string, string>>(target, async (where, signal) => {
        const text = await askText("GET", where, undefined, signal), root = scan(text);
        return Object.fromEntries(names.map((name) => { const found = member(text, root, name); return [name, found ? rawOf(text, found) : "null"]; }));
    });
    return { texts: answer.data, again: answer.again };
}

export function Payload({ id, title, text, name, none = "–" }: { id: string; title: string; text: string | undefined; name: string; none?: string }) {
    return <section data-testid={id}><h3>{title}</h3>{text === undefined ? <Loading rows={2} /> : text === "null" ? <p class="muted">{none}</p> : <Json text={text} name={name} />}</section>;
}

function InputOutput({ id, count }: { id: string; count: number }) {
    const raw = useRaw(`/v1/instances/${id}`, ["input", "output", "metadata"]);
    useEffect(() => { if (count) raw.again(); }, [count]);
    return (
        <div class="two">
            <Payload id="payload-input" title="Input" text={raw.texts?.["input"]} name={`${id}-input`} />
            <Payload id="payload-output" title="Output" text={raw.texts?.["output"]} name={`${id}-output`} none="Not there yet." />
            {raw.texts && raw.texts["metadata"] !== "null" && <Payload id="payload-metadata" title="Metadata" text={raw.texts["metadata"]} name={`${id}-metadata`} />}
        </div>
    );
}

// ---- the drawer ------------------------------------------------------------------------------------

const ENDS = /^step_(completed|retry|failed|skipped|waiting|paused|pending)|^compensation_|^(succeeded|failed|retried|cancelled)$/;

interface Attempt { n: number; kind: string; worker: string; start: string; end: string | null; outcome: string; error: string }

/** Calls of a step, from its events: started to its end. */
export function attemptsOf(events: Event[], name: string | null): Attempt[] {
    const attempts: Attempt[] = [];
    const text = (data: unknown, key: string) => { const value = (data as Record<string, unknown> | null)?.[key]; return typeof value === "string" || typeof value === "number" ? String(value) : ""; };
    for (const it of events) {
        if (name !== null && it.step !== name) continue;
        const last = attempts.at(-1);
        if (it.type === "step_started" || it.type === "leased" || it.type === "compensation_started")
            attempts.push({ n: attempts.length + 1, kind: it.type === "compensation_started" ? "undo" : "call", worker: text(it.data, "worker"), start: it.at, end: null, outcome: "running", error: "" });
        else if (last && !last.end && ENDS.test(it.type)) {
            last.end = it.at;
            last.outcome = it.type.replace(/^(step|compensation)_/, "");
            last.error = text(it.data, "error");
        }
    }
    return attempts;
}

function StepDrawer({ instance, step, steps, reload }: { instance: InstanceType; step: StepRow; steps: StepRow[]; reload: () => void }) {
    const events = useAsk<Page<Event>>(`/v1/instances/${instance.id}/events?limit=1000`);
    const attempts = attemptsOf(events.data?.items ?? [], step.name);
    const payload = useAsk<Record<string, string>>(`/v1/instances/${instance.id}/steps?limit=1000`, async (where, signal) => {
        const text = await askText("GET", where, undefined, signal), root = scan(text), items = member(text, root, "items");
        const found = items?.items?.find((it) => { const seq = member(text, it, "seq"); return seq && rawOf(text, seq) === String(step.seq); });
        const part = (name: string) => { const it = found && member(text, found, name); return it ? rawOf(text, it) : "null"; };
        return { input: part("input"), output: part("output"), metadata: part("metadata") };
    });
    const close = () => setQuery({ step: null, attempt: null });
    const isMine = step.status === "waiting_decision" && may("POST", "/v1/instances/{id}/steps/{step}/decision");
    const next = steps.find((it) => it.seq > step.seq), previous = [...steps].reverse().find((it) => it.seq < step.seq);
    return (
        <Drawer title={<><Text text={step.name} /> <Status status={step.status} of="step" /></>} onClose={close}>
            <p class="row"><span class="muted">{words(step.kind)}{step.handler && <> · <Text text={step.handler} mono /></>}</span>
                {previous && <a href={here({ step: String(previous.seq) })}>previous</a>}{next && <a href={here({ step: String(next.seq) })}>next</a>}</p>
            {note(step) && <p class="note">{note(step)}</p>}
            {isMine && <div class="row"><button type="button" class="primary" data-testid="action-approve" onClick={() => decide(true, { id: instance.id, key: instance.key ?? null, step: step.name }, reload)}>Approve</button>
                <button type="button" data-testid="action-reject" onClick={() => decide(false, { id: instance.id, key: instance.key ?? null, step: step.name }, reload)}>Reject</button></div>}
            <dl class="facts">
                <dt>started</dt><dd><Time at={step.started_at} /></dd><dt>ended</dt><dd><Time at={step.finished_at} /></dd>
                {step.deadline_at && <><dt>deadline</dt><dd><Time at={step.deadline_at} /></dd></>}
                {step.locked_by && <><dt>worker</dt><dd><Text text={step.locked_by} />{step.locked_until && <>, lease until <Time at={step.locked_until} /></>}</dd></>}
                <dt>priority</dt><dd>{step.priority}</dd>
            </dl>
            <h3>Calls</h3>
            {!attempts.length ? <p class="muted">Not called yet.</p> : <table class="rows"><tbody>{attempts.map((it, index) => (
                <tr key={index} data-testid="attempt-row" data-outcome={it.outcome}><td class="num">{it.n}</td><td>{it.kind === "undo" ? "undo" : ""}<Text text={it.worker} /></td><td><Time at={it.start} /></td><td class="num"><Took from={it.start} to={it.end} /></td>
                    <td>{words(it.outcome)}</td><td class="bad"><Text text={it.error} /></td></tr>))}</tbody></table>}
            <Payload id="payload-input" title="Input" text={payload.data?.["input"]} name={`${step.name}-input`} />
            <Payload id="payload-output" title="Output" text={payload.data?.["output"]} name={`${step.name}-output`} />
            {payload.data && payload.data["metadata"] !== "null" && <Payload id="payload-metadata" title="Metadata" text={payload.data["metadata"]} name={`${step.name}-metadata`} />}
            <p><a href={here({ tab: "events", of: step.name, step: null })}>Events of this step</a></p>
            <Command text={`cairn show ${instance.id}`} />
        </Drawer>
    );
}

// ---- the screen ------------------------------------------------------------------------------------

const isPhone = () => matchMedia("(max-width: 639px)").matches;

function NotFound({ id, what }: { id: string; what: string }) {
    return <section class="empty" data-testid="error" data-code="not_found"><h1>There is no {what} {id}.</h1><p><a href={`instances?q=${encodeURIComponent(id)}`}>Search in instances</a> · <a href={`jobs?q=${encodeURIComponent(id)}`}>Search in jobs</a></p></section>;
}

export default function Instance({ id }: { id: string }) {
    const instance = useAsk<InstanceType>(`/v1/instances/${id}`);
    const steps = useAsk<StepRow[]>(id, (it, signal) => allSteps(it, signal));
    const whys = useAsk<{ items: Why[] }>(may("GET", "/v1/instances/{id}/why") ? `/v1/instances/${id}/why` : null);
    const [count, setCount] = useState(0);
    const reload = () => { instance.again(); steps.again(); whys.again(); setCount((it) => it + 1); };
    useNews((digest) => digest.instances.includes(id), reload, 500);
    const it = instance.data;
    const flow = useAsk<Workflow>(it ? `/v1/workflows/${encodeURIComponent(it.workflow)}/${it.version}` : null, definition);
    const plan = useMemo(() => readPlan((flow.data?.definition as { steps?: unknown } | undefined)?.steps), [flow.data]);
    const rows = useMemo(() => tree(plan, steps.data ?? []), [plan, steps.data]);
    useEffect(() => { if (it) document.title = `${it.status === "failed" || it.status === "dlq" ? "✗ " : it.status === "completed" ? "✓ " : ""}${it.key ?? id.slice(-8)} · Cairn`; }, [it?.status]);
    if (instance.error?.code === "not_found") return <NotFound id={id} what="instance" />;
    if (instance.error && !it) return <Failure error={instance.error} again={instance.again} />;
    if (!it) return <Loading rows={6} />;

    const isCode = it.kind === "function" || isFunction(flow.data);
    const tabs = [...(isCode ? [] : ["graph"]), "timeline", "steps", "events", ...(isCode ? ["logs"] : []), "io", ...(isCode ? [] : ["definition"])];
    const tab = tabs.includes(one(query.value, "tab")) ? one(query.value, "tab") : isCode || isPhone() ? "steps" : "graph";
    const label: Record<string, string> = { graph: "Graph", timeline: "Timeline", steps: `Steps ${steps.data?.length ?? ""}`, events: "Events", logs: "Logs", io: "Input & output", definition: "Definition" };
    const all = whys.data?.items ?? (it.why ? [it.why] : []);
    const buttons = instanceActions(it.status, all.some((why) => why.code === "paused_mismatch"));
    const click = (action: string) => {
        if (action === "signal") signalAction(it as never, [...new Set((steps.data ?? []).filter((step) => step.waiting_event).map((step) => step.waiting_event!))], reload);
        else if (action === "start-again") void startAgain(it as never);
        else instanceAction(action, it as never, steps.data ?? [], reload);
    };
    const chosen = steps.data?.find((step) => String(step.seq) === one(query.value, "step"));
    const mainOnes = buttons.filter((action) => !["abort", "restart", "start-again"].includes(action)), others = buttons.filter((action) => !mainOnes.includes(action));
    const button = (action: string) => <button key={action} type="button" class={action === "retry" || action === "resume" ? "primary" : undefined} data-testid={`action-${action}`} onClick={() => click(action)}>{ACTION_NAMES[action]}</button>;
    const allowed = (action: string) => ["workers", "about", "doctor"].includes(action) || (["approve", "reject"].includes(action) ? may("POST", "/v1/instances/{id}/steps/{step}/decision")
        : ["requeue", "edit"].includes(action) ? may("POST", "/v1/dlq/{id}/requeue") : action === "force" ? buttons.includes("resume-force") : buttons.includes(action));
    return (
        <section data-testid="instance" data-id={id}>
            <p class="crumbs"><a href="instances">‹ Instances</a></p>
            <div class="row head">
                <h1 data-testid="instance-key">{it.key ? <Text text={it.key} /> : <Id id={id} />}</h1><span class="nowrap">{it.key && <Id id={id} />}<Copy text={id} label="Copy the id" /></span>
                <Status status={it.status} id="instance-status" />
                <a href={`${isCode ? "functions" : "workflows"}/${encodeURIComponent(it.workflow)}/${it.version}`}><Text text={it.workflow} /> v{it.version}</a>
                {it.generation > 1 && <span class="muted">generation {it.generation}</span>}
                <span class="muted"><Time at={it.created_at} prefix="created " /></span><span class="muted">took <Took from={it.started_at} to={it.finished_at} /></span>
                {it.parent && <a href={`instances/${it.parent}`}>started by …{it.parent.slice(-8)}</a>}
            </div>
            {all.length > 0 ? <WhyBox whys={all} allowed={allowed} act={(action, why) => void act(action.action, it, why, steps.data ?? [], action.values, reload)} />
                : it.last_error && <section class="why-box"><div class="why u-failing" data-testid="why"><p data-testid="why-text"><Text text={`${it.last_error.step ?? ""}: ${it.last_error.message}`} /></p></div></section>}
            <div class="row actions">{mainOnes.map(button)}
                {others.length > 0 && <Menu label="more" id="more-actions">{others.map(button)}</Menu>}</div>
            <div class="tabs" role="tablist">{tabs.map((name) => <a key={name} role="tab" aria-selected={name === tab} data-testid={`tab-${name}`} href={here({ tab: name, step: null })}>{label[name]}</a>)}</div>
            {tab === "graph" && (steps.data && flow.data ? <Graph plan={plan} steps={steps.data} /> : <Loading />)}
            {tab === "timeline" && (steps.data ? <Timeline id={id} steps={steps.data} count={count} /> : <Loading />)}
            {tab === "steps" && (steps.data ? <Steps rows={rows} /> : steps.error ? <Failure error={steps.error} again={steps.again} /> : <Loading />)}
            {tab === "events" && <Events of={`/v1/instances/${id}`} count={count} />}
            {tab === "logs" && <Logs id={id} count={count} />}
            {tab === "io" && <InputOutput id={id} count={count} />}
            {tab === "definition" && flow.data && <Json text={JSON.stringify(flow.data.definition)} name={it.workflow} id="definition" />}
            {chosen && <StepDrawer key={chosen.seq} instance={it} step={chosen} steps={steps.data ?? []} reload={reload} />}
        </section>
    );
}

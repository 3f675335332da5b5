// instance.tsx - what has it done, what does it wait for, what can I do?
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, askLater, askText } from "../base/api";
import { pageWithRaw, useAsk, useEvery, useNews, withRaw, type Raw } from "../base/ask";
import { eachElement, readPlan, type Element } from "../base/layout";
import { followSubject, type LiveEvent } from "../base/live";
import { here, listOf, query } from "../base/place";
import { one } from "../base/query";
import { member, rawOf, scan } from "../base/scan";
import { grouped, isId, plural } from "../base/text";
import type { ErrorGroup, Found, Instance as InstanceType, InstanceRow, OutboxEntry, Page, Signal, StepRow, Why, Workflow } from "../base/types";
import { may } from "../base/who";
import { act, ACTION_NAMES, instanceAction, instanceActions, rerun, signalAction, startAgain } from "../parts/actions";
import { Copy, Failure, Guard, Id, Loading, Status, Tabs, Text, Time, Took } from "../parts/bits";
import { ParentLink, tallyText, useFamily } from "../parts/children";
import { Payload, RemotePayload, StepDrawer, useRaw } from "../parts/drawer";
import { Graph } from "../parts/graph";
import { Events, Logs, Steps, tree } from "../parts/happened";
import { Json } from "../parts/json";
import { Menu } from "../parts/list";
import { Timeline } from "../parts/timeline";
import { WhyBox, whyEveryMs } from "../parts/why";
import { Outline } from "../parts/outline";
import { Tags } from "./instances";

/** `show` is given what has been read so far: thousands of steps take some seconds. */
async function allSteps(id: string, signal: AbortSignal, show: (some: StepRow[]) => void): Promise<StepRow[]> {
    let items: StepRow[] = [], cursor = "";
    do {
        const page = await ask<Page<StepRow>>(`/v1/instances/${id}/steps?view=row&limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
        if (cursor && !signal.aborted) show(items);
    } while (cursor && items.length < STEPS_MAX);
    return items;
}

/** Definitions never change, so each is asked for once. */
const definitions = new Map<string, Workflow & Raw>();
async function definition(target: string, signal: AbortSignal): Promise<Workflow & Raw> {
    const known = definitions.get(target);
    if (known) return known;
    const answer = await withRaw<Workflow>("definition")(target, signal);
    definitions.set(target, answer);
    return answer;
}

const isFunction = (flow: Workflow | null): boolean => !!flow && typeof flow.definition === "object" && flow.definition !== null && "function" in flow.definition;

// ---- tabs ------------------------------------------------------------------------------------------

const withPayload = pageWithRaw<Signal>("payload");

function Pairs<T>({ title, target, read, draw, none, count }: { title: string; target: string | null; read?: (target: string, signal: AbortSignal) => Promise<Page<T>>; draw: (item: T) => preact.ComponentChildren; none: string; count: number }) {
    const page = useAsk<Page<T>>(target, read);
    useEffect(() => { if (count) page.again(); }, [count]);
    if (!target) return null;
    return <section><h3>{title}</h3>{page.error && !page.data ? <Failure error={page.error} again={page.again} /> : !page.data ? <Loading rows={1} />
        : !page.data.items.length ? <p class="muted">{none}</p> : <div class="table-wrap"><table class="rows"><tbody>{page.data.items.map(draw)}</tbody></table></div>}</section>;
}

async function memberOf(id: string, name: string, signal: AbortSignal): Promise<string> {
    const text = await askText("GET", `/v1/instances/${id}`, undefined, signal), found = member(text, scan(text), name);
    return found ? rawOf(text, found) : "null";
}

/** Up to here a payload is asked for at once; of a longer one it is first asked how long it is, as it was written. */
const SURELY_SMALL = 64 * 1024;
function useSize(value: unknown): number | undefined {
    return useMemo(() => { const size = value == null ? 0 : JSON.stringify(value).length; return size <= SURELY_SMALL ? size : undefined; }, [value]);
}

function InputOutput({ it, id, status, steps, count }: { it: InstanceType; id: string; status: string; steps: StepRow[]; count: number }) {
    const input = useSize(it.input), output = useSize(it.output);
    const sizes = useAsk<Page<InstanceRow>>(input === undefined || output === undefined ? `/v1/instances?ids=${id}&view=row&limit=1` : null);
    const raw = useRaw(`/v1/instances/${id}`, ["metadata"]);
    useEffect(() => { if (count) sizes.again(); }, [count]);
    const row = sizes.data?.items[0], inputSize = input ?? row?.input_bytes, outputSize = output ?? row?.output_bytes;
    const where = (part: string) => may("GET", `/v1/instances/{id}/${part}`) ? `/v1/instances/${id}/${part}?limit=100` : null;
    return (
        <><div class="two">
            {inputSize === undefined || outputSize === undefined ? <Loading rows={2} /> : <>
                <RemotePayload id="payload-input" title="Input" route={`/v1/instances/${id}/input`} size={inputSize} name={`${id}-input`} otherwise={(signal) => memberOf(id, "input", signal)} />
                <RemotePayload key={`${status}${outputSize}`} id="payload-output" title="Output" route={`/v1/instances/${id}/output`} size={outputSize} name={`${id}-output`} none={["completed", "failed", "cancelled", "aborted"].includes(status) ? "None." : "Not there yet."} otherwise={(signal) => memberOf(id, "output", signal)} /></>}
        </div>
        {raw.texts && raw.texts["metadata"] !== "null" && <Payload id="payload-metadata" title="Metadata" text={raw.texts["metadata"]} name={`${id}-metadata`} />}
        <div class="two">
            <Pairs<Signal & Raw> title="Signals" target={where("signals")} read={withPayload} none="None was sent." count={count} draw={(it) => <tr key={it.id} data-testid="signal-row" data-id={it.id}><td class="c-key"><Text text={it.event} /></td><td class="muted">{it.taken_by === null ? "kept" : <>taken by <a href={here({ step: String(it.taken_by) })}><Text text={steps.find((step) => step.seq === it.taken_by)?.name ?? `step ${it.taken_by}`} /></a></>}</td><td class="wide mono muted clip"><Text text={it.raw["payload"]!.slice(0, 200)} /></td><td class="c-time"><Time at={it.received_at} /></td></tr>} />
            <Pairs<OutboxEntry> title="Outbound events" target={where("outbox")} none="None was sent out." count={count} draw={(it) => <tr key={it.id} data-testid="outbox-row" data-id={it.id}><td class="c-key"><Text text={it.event} /></td><td class={it.dead_at ? "bad" : "muted"}>{it.acknowledged_at ? "delivered" : it.dead_at ? `given up after ${plural(it.attempts, "try", "tries")}` : it.attempts ? `${plural(it.attempts, "try", "tries")} failed` : "open"}</td><td class="c-time"><Time at={it.created_at} /></td></tr>} />
        </div></>
    );
}

// ---- the screen ------------------------------------------------------------------------------------

const isPhone = () => matchMedia("(max-width: 639px)").matches;

export function NotFound({ id, what }: { id: string; what: string }) {
    const found = useAsk<{ items: Found[] }>(may("GET", "/v1/find") ? `/v1/find?q=${encodeURIComponent(isId(id) ? id.slice(0, 8) : id)}` : null);
    const placeOf = (it: Found): string => it.kind === "instance" ? `instances/${it.id}` : it.kind === "job" ? `jobs/${it.id}` : `${it.kind}s`;
    return (
        <section class="empty" data-testid="error" data-code="not_found"><h1>There is no {what} <Text text={id} />.</h1>
            <p><a href={`instances?q=${encodeURIComponent(id)}`}>Search in instances</a> · <a href={`jobs?q=${encodeURIComponent(id)}`}>Search in jobs</a> · <a href="dead">Dead letters</a></p>
            {found.data && found.data.items.length > 0 && <><p>These begin alike:</p><ul class="plain">{found.data.items.filter((it) => it.kind === "instance" || it.kind === "job").slice(0, 8).map((it) => <li key={it.id}><a href={placeOf(it)}>{it.kind} <Text text={it.title} /></a></li>)}</ul></>}
        </section>
    );
}

/** What undoes each step. */
function undoers(plan: Element[]): Map<string, string> {
    const found = new Map<string, string>();
    eachElement(plan, (it) => { if (it.undo) found.set(it.name, it.undo); });
    return found;
}

/** Of an instance that a map has started: the map's name.  Its definition is a part of its parent's. */
const mapOf = (it: InstanceType | null, parent: InstanceRow | undefined): string | null => it && parent && it.workflow.startsWith(`${parent.workflow}:`) ? it.workflow.slice(parent.workflow.length + 1) : null;

/** Its parent; of an element that was run again, which has none, the parent of the first one. */
async function ownerOf(it: InstanceType, signal: AbortSignal): Promise<{ row: InstanceRow | undefined }> {
    let at: Pick<InstanceType, "parent" | "source"> = it;
    for (let tries = 0; !at.parent && at.source && tries < 5; tries++) at = await ask<InstanceType>(`/v1/instances/${at.source}`, signal);
    return { row: at.parent ? (await ask<Page<InstanceRow>>(`/v1/instances?ids=${at.parent}&view=row&limit=1`, signal)).items[0] : undefined };
}

function planOf(flow: Workflow | null, map: string | null): Element[] {
    const plan = readPlan((flow?.definition as { steps?: unknown } | undefined)?.steps);
    if (map === null) return plan;
    let found: Element[] = [];
    eachElement(plan, (it) => { if (it.name === map && it.each) found = it.each; });
    return found;
}

// ---- others that failed alike ----------------------------------------------------------------------

/** How many there are is asked for; where the server does not look that far back, the link is there all the same. */
function SameError({ it }: { it: InstanceType }) {
    const of = it.status === "dlq" ? "dlq" : it.status === "failed" ? "instances" : null, name = of ? it.error_group : null;
    const found = useAsk<{ items: ErrorGroup[] }>(name && may("GET", "/v1/errors") ? `/v1/errors?of=${of}&workflow=${encodeURIComponent(it.workflow)}` : null, askLater);
    const n = found.data?.items.find((group) => group.group === name)?.n ?? 0;
    if (!name) return null;
    return <a data-testid="same-error" data-group={name} href={`dead?${of === "dlq" ? "" : "tab=instances&"}group=${name}`}>{n > 1 ? `${grouped(n)} have failed alike` : "Errors like this"}</a>;
}

/** Of actions whose names are much alike: what each begins, in a few words. */
const HINTS: Record<string, string> = { abort: "stops it, and undoes nothing", restart: "this one, from its first input", rerun: "a new one, with this or another input", "start-again": "the form for a new one, filled with this input" };

const STEPS_MS = 10_000, STEPS_MAX = 50_000, ENDED = new Set(["completed", "failed", "cancelled", "aborted"]);
const NO_WHYS: Why[] = [], NO_STEPS: StepRow[] = [];

const MARKS: Record<string, string> = { failed: "✗ ", dlq: "✗ ", completed: "✓ ", running: "● ", waiting_signal: "… ", paused: "‖ ", compensating: "↩ " };

/** Every event as it happens: each changes the step it names; the sentences follow after a short while. */
function useSubject(id: string, instance: { data: InstanceType | null; set: (it: InstanceType) => void }, steps: { data: StepRow[] | null; set: (it: StepRow[]) => void; again: () => void }, settle: () => void): void {
    const latest = useRef({ instance, steps, settle });
    latest.current = { instance, steps, settle };
    const isThere = may("GET", "/v1/stream");
    useEffect(() => {
        if (!isThere) return undefined;
        let frame = 0, timer = 0, readAt = 0, queue: LiveEvent[] = [];
        const apply = () => {
            const { instance, steps } = latest.current, events = queue;
            frame = 0;
            queue = [];
            const statuses = new Map<string, string>();
            let own = "";
            for (const it of events) { const status = it.data?.["status"]; if (typeof status !== "string") continue; if (it.step) statuses.set(it.step, status); else own = status; }
            if (steps.data && statuses.size) steps.set(steps.data.map((it) => statuses.has(it.name) ? { ...it, status: statuses.get(it.name)! as StepRow["status"] } : it));
            if (instance.data && own) instance.set({ ...instance.data, status: own as InstanceType["status"] });
            timer ||= setTimeout(() => {
                timer = 0;
                latest.current.settle();
                if (Date.now() - readAt > 1000) { readAt = Date.now(); latest.current.steps.again(); }
            }, 300) as unknown as number;
        };
        const leave = followSubject(id, (event) => { queue.push(event); frame ||= requestAnimationFrame(apply); });
        return () => { leave(); cancelAnimationFrame(frame); clearTimeout(timer); };
    }, [id, isThere]);
}

export default function Instance({ id }: { id: string }) {
    const instance = useAsk<InstanceType>(`/v1/instances/${id}`);
    const isRead = useRef(false), steps = useAsk<StepRow[]>(id, async (it, signal) => {
        const all = await allSteps(it, signal, (some) => { if (!isRead.current) steps.set(some); });
        isRead.current = true;
        return all;
    });
    const it = instance.data, isEnded = !!it && ENDED.has(it.status);
    // One that has ended says how in one sentence, which came with it.
    const whys = useAsk<{ items: Why[] }>(it && !isEnded && may("GET", "/v1/instances/{id}/why") ? `/v1/instances/${id}/why` : null);
    const [count, setCount] = useState(0);
    const reload = () => { instance.again(); steps.again(); whys.again(); setCount((it) => it + 1); };
    useNews((digest) => digest.instances.includes(id), reload, STEPS_MS);
    useEvery(whyEveryMs(whys.data?.items ?? []), whys.again);
    useSubject(id, instance, steps, () => { instance.again(); whys.again(); setCount((it) => it + 1); });
    const hasOwner = !!it?.parent || (!!it?.source && it.workflow.includes(":"));
    const owner = useAsk<{ row: InstanceRow | undefined }>(hasOwner ? `${it!.parent ?? ""} ${it!.source ?? ""}` : null, (_, signal) => ownerOf(it!, signal));
    const parent = owner.data?.row, map = mapOf(it, parent), flowName = map === null ? it?.workflow ?? "" : parent!.workflow;
    const flow = useAsk<Workflow & Raw>(it && (!hasOwner || owner.data || owner.error) ? `/v1/workflows/${encodeURIComponent(flowName)}/${it.version}` : null, definition);
    const plan = useMemo(() => planOf(flow.data, map), [flow.data, map]);
    const rows = useMemo(() => tree(plan, steps.data ?? []), [plan, steps.data]);
    const undo = useMemo(() => undoers(plan), [plan]);
    const all = whys.data?.items ?? NO_WHYS;
    const family = useFamily(it, steps.data, plan, all, whys.again);
    const notes = useMemo(() => new Map([...family].flatMap(([seq, nested]): [number, string][] => nested.tally ? [[seq, tallyText(nested.tally)]] : [])), [family]);
    useEffect(() => { if (it) document.title = `${MARKS[it.status] ?? ""}${it.key ?? id.slice(-8)} · Cairn`; }, [it?.status]);
    if (instance.error?.code === "not_found" && !it) return <NotFound id={id} what="instance" />;
    if (instance.error && !it) return <Failure error={instance.error} again={instance.again} />;
    if (!it) return <Loading rows={6} />;

    const isCode = it.kind === "function" || isFunction(flow.data);
    const tabs = [...(isCode ? [] : ["graph"]), "timeline", "steps", "events", ...(isCode ? ["logs"] : []), "io", ...(isCode ? [] : ["definition"])];
    const tab = tabs.includes(one(query.value, "tab")) ? one(query.value, "tab") : isCode || isPhone() ? "steps" : "graph";
    const label: Record<string, string> = { graph: "Graph", timeline: "Timeline", steps: `Steps ${steps.data?.length ?? ""}`, events: "Events", logs: "Logs", io: "Input & output", definition: "Definition" };
    // A step that is parked says the same as its instance, which stands there because of it.
    const parked = all.find((why) => why.code === "parked")?.values["step"];
    const reasons = whys.data ? all.filter((why) => why.code !== "parked_step" || why.step !== parked) : it.why ? [it.why] : [];
    const buttons = instanceActions(it.status, { isMismatched: reasons.some((why) => why.code === "paused_mismatch"), isElement: map !== null });
    const click = (action: string) => {
        if (action === "signal") signalAction(it as never, [...new Set((steps.data ?? []).filter((step) => step.waiting_event).map((step) => step.waiting_event!))], reload);
        else if (action === "rerun") void rerun(it as never, null);
        else if (action === "start-again") void startAgain(it as never);
        else instanceAction(action, it as never, (steps.data ?? []).map((step) => ({ ...step, has_compensation: undo.has(step.name) })), reload, reasons);
    };
    const chosen = steps.data?.find((step) => String(step.seq) === one(query.value, "step"));
    const doWhy = (action: { action: string; values: Record<string, unknown> }, why: Why) => void act(action.action, it, why, steps.data ?? [], action.values, reload);
    const mainOnes = buttons.filter((action) => !["abort", "restart", "rerun", "start-again"].includes(action)), others = buttons.filter((action) => !mainOnes.includes(action));
    const button = (action: string) => <button key={action} type="button" class={action === "retry" || action === "resume" ? "primary" : undefined} data-testid={`action-${action}`} onClick={() => click(action)}>{ACTION_NAMES[action]}{others.includes(action) && <small>{HINTS[action]}</small>}</button>;
    const allowed = (action: string) => (action === "type-enable" && may("PUT", "/v1/registry/{name}")) || ["workers", "limit", "about", "doctor"].includes(action) || (["approve", "reject"].includes(action) ? may("POST", "/v1/instances/{id}/steps/{step}/decision")
        : ["requeue", "edit"].includes(action) ? may("POST", "/v1/dlq/{id}/requeue") : action === "force" ? buttons.includes("resume-force") : buttons.includes(action));
    return (
        <section data-testid="instance" data-id={id}>
            <p class="crumbs"><a href={listOf("instances")}>‹ Instances</a></p>
            <div class="row head">
                <h1 data-testid="instance-key">{it.key ? <Text text={it.key} /> : <Id id={id} />}</h1><span class="nowrap">{it.key && <Id id={id} />}<Copy text={id} label="Copy the id" /></span>
                <Status status={it.status} id="instance-status" />
                <a href={`${isCode ? "functions" : "workflows"}/${encodeURIComponent(flowName)}/${it.version}`}><Text text={flowName} /> v{it.version}</a>
                {it.generation > 1 && <span class="muted">generation {it.generation}</span>}
                <span class="muted"><Time at={it.created_at} prefix="created " /></span>{it.started_at && <span class="muted"><Time at={it.started_at} prefix="started " />, {it.finished_at ? "took" : "for"} <Took from={it.started_at} to={it.finished_at} /></span>}
                {it.parent && <ParentLink id={it.parent} parent={parent} map={map} />}
                {it.source && <a data-testid="source" href={`instances/${it.source}`}>rerun of <Id id={it.source} /></a>}
                {it.group && <span class="muted" data-testid="instance-group">group <Text text={it.group} /></span>}
                <Tags tags={it.tags} />
            </div>
            {reasons.length > 0 ? <WhyBox whys={reasons} allowed={allowed} act={doWhy} more={<SameError it={it} />} />
                : it.last_error && <section class="why-box"><div class="why u-failing" data-testid="why"><p data-testid="why-text"><Text text={`${it.last_error.step ?? ""}: ${it.last_error.message}`} /></p></div></section>}
            <div class="row actions">{mainOnes.map(button)}
                {others.length > 0 && <Menu label="more" id="more-actions">{others.map(button)}</Menu>}</div>
            <Tabs chosen={tab} items={tabs.map((name) => ({ name, href: here({ tab: name, step: null }), label: label[name] }))} />
            <Guard key={tab}>
                {tab === "graph" && (steps.data && flow.data ? <Graph plan={plan} steps={steps.data} failed={it.last_error?.step} notes={notes} /> : <Loading />)}
                {tab === "timeline" && (steps.data ? <Timeline id={id} steps={steps.data} count={count} /> : <Loading />)}
                {tab === "steps" && (steps.data ? <Steps rows={rows} family={family} /> : steps.error ? <Failure error={steps.error} again={steps.again} /> : <Loading />)}
                {tab === "events" && <Events of={`/v1/instances/${id}`} steps={steps.data ?? NO_STEPS} count={count} />}
                {tab === "logs" && <Logs id={id} steps={steps.data ?? NO_STEPS} count={count} isRunning={it.status === "running"} />}
                {tab === "io" && <InputOutput it={it} id={id} status={it.status} steps={steps.data ?? []} count={count} />}
                {tab === "definition" && flow.data && <div data-testid="definition"><Outline plan={plan} /><h3>{map === null ? "As it is kept" : "The workflow that it is a part of"}</h3><Json text={flow.data.raw["definition"]!} name={it.workflow} /></div>}
            </Guard>
            {chosen && <Guard key={chosen.seq}><StepDrawer instance={it} step={chosen} steps={steps.data ?? []} plan={plan} canRerun={buttons.includes("rerun") && !isCode} undo={undo.get(chosen.name)} whys={reasons} family={family} count={count} reload={reload} act={doWhy} allowed={allowed} /></Guard>}
        </section>
    );
}

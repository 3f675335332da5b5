// workflows.tsx - what can be started, and what is each version? Functions look the same without a file.
//
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { ApiError, ask, send } from "../base/api";
import { useAsk, useEvery, useNews, withRaw, type Raw } from "../base/ask";
import { changes } from "../base/changes";
import { eachElement, opened, readPlan, type Element } from "../base/layout";
import { go, here, query, setQuery } from "../base/place";
import { one, writeQuery } from "../base/query";
import { grouped, plural, visible, words } from "../base/text";
import { duration } from "../base/time";
import type { Counts, Grid as GridType, InstanceRow, Page, TypeRow, WorkerRow, Workflow as WorkflowType, WorkflowSummary } from "../base/types";
import { may } from "../base/who";
import { instanceAction, startForm } from "../parts/actions";
import { Copy, Empty, Failure, groupOf, iconOf, Loading, Status, Tabs, Text, Time } from "../parts/bits";
import { Graph } from "../parts/graph";
import { Icon } from "../parts/icons";
import { Difference, Json, pretty } from "../parts/json";
import { countText } from "../parts/list";
import { Outline } from "../parts/outline";
import { sheet } from "../parts/sheet";
import { WhyLine } from "../parts/why";

type Kind = "workflow" | "function";
const isFunction = (it: WorkflowType): boolean => typeof it.definition === "object" && it.definition !== null && "function" in it.definition;
const hasSummary = (): boolean => may("GET", "/v1/workflows/{name}");

async function all(target: string, signal: AbortSignal): Promise<WorkflowType[]> {
    let items: WorkflowType[] = [], cursor = "";
    do {
        const page = await ask<Page<WorkflowType>>(`${target}?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
    } while (cursor && items.length < 5000);
    return items;
}

// ---- all of them -----------------------------------------------------------------------------------

/** A server without summaries: the names and versions of all definitions. */
async function gathered(kind: Kind, signal: AbortSignal): Promise<WorkflowSummary[]> {
    const byName = new Map<string, number[]>();
    for (const it of await all("/v1/workflows", signal)) if (isFunction(it) === (kind === "function")) byName.set(it.name, [...(byName.get(it.name) ?? []), it.version]);
    return [...byName].map(([name, versions]) => ({ name, kind, versions: versions.sort((a, b) => b - a), newest: Math.max(...versions) }));
}

async function summaries(target: string, signal: AbortSignal): Promise<WorkflowSummary[]> {
    const kind = target as Kind;
    if (!hasSummary()) return gathered(kind, signal);
    const page = await ask<Page<WorkflowSummary>>(`/v1/workflows?view=summary&kind=${kind}&limit=1000`, signal);
    return page.items;
}

/** "workflow:5:3: ..." leads to its line. */
function Flaw({ error, text }: { error: ApiError; text: string }) {
    const found = /:(\d+):(\d+): (.*)$/s.exec(error.message), line = Number(found?.[1] ?? 0);
    if (!found) return <Failure error={error} />;
    return (
        <div class="failure" role="alert" data-testid="flaw" data-line={line}><Icon name="cross" /><div><p>line {line}, column {found[2]}: <Text text={found[3]!} /></p>
            <pre>{[line - 1, line, line + 1].filter((it) => it > 0 && it <= text.split("\n").length).map((it) => `${it === line ? "›" : " "} ${String(it).padStart(3)} ${text.split("\n")[it - 1]}\n`).join("")}</pre></div></div>
    );
}

function deploy(done: () => void): void {
    let sent = "";
    sheet.value = {
        action: "deploy", title: "Deploy a workflow", sentence: "The file is checked and kept under its name and version. A deployed version never changes.", confirm: "Deploy", done,
        fields: [{ name: "file", label: "File", kind: "own", draw: (_, set) => <label class="button">Choose a file<input type="file" class="file" accept=".yaml,.yml,.json" data-testid="deploy-file" onChange={(event) => void event.currentTarget.files?.[0]?.text().then((text) => set({ text }))} /></label> },
                 { name: "text", label: "Workflow file (YAML or JSON)", kind: "area", rows: 14, isRequired: true, testId: "deploy-text" }],
        cli: () => "cairn deploy FILE", drawError: (error) => <Flaw error={error} text={sent} />,
        send: async (values) => {
            sent = values["text"]!;
            const answer = await send<{ name: string; version: number; existing: boolean }>("POST", "/v1/workflows", sent);
            go(`workflows/${encodeURIComponent(answer.name)}/${answer.version}`);
            return { text: answer.existing ? "The same content was there." : `Deployed ${answer.name}, version ${answer.version}` };
        },
    };
}

const sum = (counts: Counts | undefined, names: string[]): string => counts ? countText({ n: names.reduce((all, it) => all + (counts[it]?.n ?? 0), 0), is_more: names.some((it) => counts[it]?.is_more) }) : "–";
const FLIGHT = ["pending", "running", "waiting_signal", "compensating", "paused", "dlq"];


export default function Workflows({ kind }: { kind: Kind }) {
    const list = useAsk<WorkflowSummary[]>(kind, summaries);
    useNews((digest) => digest.instances.length > 0, list.again, 10_000);
    const word = kind === "function" ? "functions" : "workflows", isCode = kind === "function";
    const workers = useAsk<Page<WorkerRow>>(isCode && may("GET", "/v1/workers") ? "/v1/workers" : null);
    useEvery(isCode ? 60_000 : 0, workers.again);           // a worker that falls silent sends no news
    const liveOf = (name: string): number => workers.data?.items.filter((it) => it.state === "live" && it.types.some((type) => type.endsWith("%") ? name.startsWith(type.slice(0, -1)) : type === name)).length ?? 0;
    if (list.error && !list.data) return <Failure error={list.error} again={list.again} />;
    if (!list.data) return <Loading />;
    const wanted = one(query.value, "q").toLowerCase(), rows = list.data.filter((it) => it.name.toLowerCase().includes(wanted)).sort((a, b) => a.name.localeCompare(b.name));
    const hasFigures = hasSummary();
    return (
        <section data-testid={word}>
            <div class="row head"><h1>{isCode ? "Functions" : "Workflows"}</h1>
                {list.data.length > 5 && <input type="search" aria-label="Name" placeholder="name …" data-testid="filter-name" value={one(query.value, "q")} onInput={(event) => setQuery({ q: event.currentTarget.value }, "replace")} />}
                {!isCode && may("POST", "/v1/workflows") && <button type="button" data-testid="action-deploy" onClick={() => deploy(list.again)}>Deploy</button>}</div>
            {isCode && <Mismatches names={list.data.map((it) => it.name)} />}
            {!list.data.length ? <Empty reason="new"><p>{isCode ? "No worker has registered a function." : "No workflow has been deployed."}</p></Empty>
                : <div class="table-wrap"><table class="rows"><thead><tr><th class="wide">name</th><th>versions</th>{isCode && workers.data && <th class="right">workers</th>}{hasFigures && <>{isCode ? STANDS.map(([key, label]) => <th key={key} class="right">{label}</th>) : <th class="right">in flight</th>}<th class="right">failed 24h</th>{isCode && <th class="right" title="Calls whose worker was not heard of in time">lost 24h</th>}{!isCode && <><th class="right">ended 24h</th><th class="right">p50</th></>}<th class="right">last start</th></>}<th /></tr></thead><tbody>
                    {rows.map((it) => (
                        <tr key={it.name} data-testid={`${kind}-row`} data-name={it.name}>
                            <td class="c-key"><a class="row-link" href={`${word}/${encodeURIComponent(it.name)}/latest`}><Text text={it.name} /></a></td>
                            <td data-label="versions">{it.versions.slice(0, 6).map((version, index) => <span key={version}>{index > 0 && ", "}<a href={`${word}/${encodeURIComponent(it.name)}/${version}`}>{version}</a></span>)}{it.versions.length > 6 && <span class="muted"> and {it.versions.length - 6} more</span>}</td>
                            {isCode && workers.data && <td class="right num" data-label="workers" data-testid="function-workers">{liveOf(it.name) || <span class="bad"><Icon name="cross" size={12} /> none</span>}</td>}
                            {hasFigures && <>{isCode ? <Stands it={it} /> : <td class="right num" data-label="in flight">{sum(it.counts, FLIGHT)}</td>}<td data-label="failed 24h" data-testid="failed-24h" class={`right num${it.figures?.failed ? " bad" : ""}`}>{it.figures ? countText({ n: it.figures.failed }) : "–"}</td>{isCode && <td data-label="lost 24h" data-testid="lost-24h" class={`right num${it.figures?.lost ? " warn" : " muted"}`}>{it.figures?.lost === undefined ? "–" : countText({ n: it.figures.lost })}</td>}{!isCode && <><td class="right num" data-label="ended 24h" data-testid="ended-24h">{it.figures ? countText({ n: it.figures.completed + it.figures.failed }) : "–"}</td><td class="right num" data-label="p50" title={it.figures?.p95_ms != null ? `95 of 100 take at most ${duration(it.figures.p95_ms)}` : undefined}>{it.figures?.p50_ms != null ? duration(it.figures.p50_ms) : "–"}</td></>}<td class="right c-time"><Time at={it.last_start_at} /></td></>}
                            <td class="right nowrap c-buttons">{!isCode && <><a href={`instances?workflow=${encodeURIComponent(it.name)}`}>instances</a> </>}{may("POST", "/v1/instances") && <button type="button" data-testid="action-start" onClick={() => startForm(it.name, it.newest, "", it.versions)}>Start</button>}</td>
                        </tr>))}
                </tbody></table></div>}
        </section>
    );
}

// ---- functions: where they stand -------------------------------------------------------------------

/** Where an instance of a function stands, by what it waits for; those that are paused have a status of their own. */
const STANDS: [key: string, label: string, about: string][] = [
    ["running", "running", "called, or about to be"], ["sleeping", "sleeping", "until a time"], ["waiting", "waiting", "for an event, or for what it started"],
    ["retrying", "retrying", "after a call that failed"], ["lost", "lost", "their worker was not heard of in time"], ["paused", "paused", "by a person, or since the code no longer matches"],
];
const FLIGHTS = ["running", "waiting_signal", "paused"];

const standing = (name: string, key: string): string => `instances${writeQuery({ workflow: [name], ...(key === "paused" ? { status: ["paused"] } : { stand: [key] }) })}`;

/** Counts of where they stand; nothing is asked if none is under way. */
function useStands(name: string, counts: Counts | undefined, everyMs: number): (key: string) => { n: number; is_more: boolean } | null {
    const isBusy = !counts || FLIGHTS.some((status) => counts[status]?.n);
    const answer = useAsk<{ counts: Counts }>(isBusy ? `/v1/instances/counts?by=stand&workflow=${encodeURIComponent(name)}` : null);
    useNews((digest) => digest.instances.length > 0, answer.again, everyMs);
    return (key) => key === "paused" ? counts?.["paused"] ?? { n: 0, is_more: false } : !isBusy ? { n: 0, is_more: false } : answer.data ? answer.data.counts[key] ?? { n: 0, is_more: false } : null;
}

/** The cells of one function. */
function Stands({ it }: { it: WorkflowSummary }) {
    const countOf = useStands(it.name, it.counts, 10_000);
    return <>{STANDS.map(([key, label]) => { const found = countOf(key), n = found?.n ?? 0;
        return <td key={key} data-testid={`stands-${key}`} data-label={label} class={`right num${!n ? " muted" : key === "lost" ? " bad" : key === "retrying" ? " warn" : ""}`}>{!found ? "–" : n ? <a href={standing(it.name, key)}>{countText(found)}</a> : 0}</td>; })}</>;
}

/** Instances whose code no longer asks for what is remembered come first. */
function Mismatches({ names }: { names: string[] }) {
    const page = useAsk<Page<InstanceRow>>("/v1/instances?view=row&status=paused&limit=200");
    useNews((digest) => digest.instances.length > 0, page.again, 5000);
    const rows = (page.data?.items ?? []).filter((it) => names.includes(it.workflow) && it.why?.code === "paused_mismatch");
    if (!rows.length) return null;
    const force = (it: InstanceRow, action: string) => instanceAction(action, it, [], page.again);
    return (
        <><h2>Code that no longer matches</h2><div class="table-wrap"><table class="rows"><tbody>{rows.map((it) => (
            <tr key={it.id} data-testid="mismatch-row" data-id={it.id}><td class="c-key"><a class="row-link" href={`instances/${it.id}`}><Text text={it.key ?? `…${it.id.slice(-8)}`} /></a></td><td class="muted">v{it.version}</td><td class="clip rest">{it.why && <WhyLine why={it.why} />}</td>
                <td class="right nowrap c-buttons">{may("POST", "/v1/instances/{id}/resume") && <><button type="button" data-testid="action-resume" onClick={() => force(it, "resume")}>Resume</button> <button type="button" data-testid="action-resume-force" onClick={() => force(it, "resume-force")}>Accept new code</button></>}</td></tr>))}</tbody></table></div></>
    );
}

function Standing({ name }: { name: string }) {
    const counts = useAsk<{ counts: Counts }>(`/v1/instances/counts?workflow=${encodeURIComponent(name)}`), countOf = useStands(name, counts.data?.counts, 5000);
    const types = useAsk<Page<TypeRow>>(may("GET", "/v1/types") ? `/v1/types?of=${encodeURIComponent(name)}` : null);
    useNews((digest) => digest.instances.length > 0, counts.again, 5000);
    const live = types.data?.items.find((it) => it.type === name)?.workers_live;
    return (
        <><div class="tiles">{live !== undefined && <a class={live ? "tile" : "tile bad-tile"} href="workers"><b class="big num">{live}</b><span>live workers</span></a>}
            {STANDS.map(([key, label, about]) => { const found = countOf(key), n = found?.n ?? 0; return <a key={key} class={n ? key === "lost" ? "tile bad-tile" : "tile" : "tile dim"} data-testid={`stands-${key}`} title={about} href={standing(name, key)}><b class="big num">{found ? countText(found) : "–"}</b><span>{label}</span></a>; })}</div>
        <Mismatches names={[name]} /></>
    );
}

// ---- one version -----------------------------------------------------------------------------------

function Grid({ name, version }: { name: string; version: number }) {
    const grid = useAsk<GridType>(`/v1/workflows/${encodeURIComponent(name)}/${version}/grid?limit=25`);
    useNews((digest) => digest.instances.length > 0, grid.again, 5000);
    // A step whose failure undid everything is rolled back like the others: which one it was, the error of its instance says.
    const failed = (grid.data?.instances ?? []).filter((it) => it.status === "failed" || it.status === "compensating").map((it) => it.id);
    const rows = useAsk<Page<InstanceRow>>(failed.length ? `/v1/instances?view=row&limit=${failed.length}&ids=${failed.join(",")}` : null);
    if (grid.error && !grid.data) return <Failure error={grid.error} again={grid.again} />;
    if (!grid.data) return <Loading />;
    const failedAt = new Map((rows.data?.items ?? []).map((it) => [it.id, it.last_error?.step]));
    const columns = [...grid.data.instances].sort((a, b) => a.created_at.localeCompare(b.created_at)), longest = Math.max(1, ...columns.map((it) => it.took_ms ?? 0));
    if (!columns.length) return <Empty reason="none"><p>No instance has been started.</p></Empty>;
    return (
        <div class="card scroll"><table class="grid" data-testid="grid"><thead><tr><th class="wide">step</th>{columns.map((it) => (
            <th key={it.id}><a href={`instances/${it.id}`} title={`${it.key ?? it.id}: ${words(it.status)}${it.took_ms === null ? "" : `, ${duration(it.took_ms)}`}`}><span class={`head g-${groupOf(it.status)}`} style={{ height: `${6 + 42 * ((it.took_ms ?? 0) / longest)}px` }} /><span class="hidden">{it.key ?? it.id}</span></a></th>))}</tr></thead>
            <tbody>{grid.data.steps.map((step, row) => <tr key={step}><th class="c-key" title={visible(step)}><Text text={step} /></th>{columns.map((it) => {
                const status = it.cells[row] ?? null, isCause = status === "rolled_back" && failedAt.get(it.id) === step, look = isCause ? "failed" : status ?? "";
                return <td key={it.id}>{status && <a class={`cell g-${groupOf(look)}`} data-testid="grid-cell" data-id={it.id} data-step={step} data-status={status} href={`instances/${it.id}?tab=steps&step=${row}`} title={`${step} of ${it.key ?? it.id}: ${isCause ? "failed, " : ""}${words(status)}`}><Icon name={iconOf(look)} size={12} label={words(look)} /></a>}</td>;
            })}</tr>)}</tbody></table></div>
    );
}

interface Handler { handler: string; of: string[]; isUndo: boolean }
function handlersOf(plan: Element[]): Handler[] {
    const found = new Map<string, Handler>();
    eachElement(plan, (it) => {
        for (const [handler, isUndo] of [[it.handler, false], [it.undo, true]] as const) if (handler) { const known = found.get(handler); if (known) known.of.push(it.name); else found.set(handler, { handler, of: [it.name], isUndo }); }
    });
    return [...found.values()];
}

function Handlers({ name, plan }: { name: string; plan: Element[] }) {
    const types = useAsk<Page<TypeRow>>(may("GET", "/v1/types") ? `/v1/types?of=${encodeURIComponent(name)}` : null);
    useNews(() => true, types.again, 5000);
    const byType = new Map(types.data?.items.map((it) => [it.type, it]) ?? []);
    return (
        <div class="table-wrap"><table class="rows"><thead><tr><th class="wide">handler</th><th>of</th><th class="right">ready</th><th class="right">oldest</th><th>workers</th></tr></thead><tbody>{handlersOf(plan).map((it) => {
            const type = byType.get(it.handler);
            return <tr key={it.handler} data-testid="handler-row" data-type={it.handler} data-served={type?.is_served === undefined ? "unknown" : String(type.is_served)}><td class="c-key mono"><Text text={it.handler} /> {it.isUndo && <span class="pill g-undo">undo</span>}</td><td class="muted clip" title={visible(it.of.join(", "))}><Text text={it.of.join(", ")} /></td><td class="right num" data-label="ready">{type ? grouped(type.ready) : "–"}</td><td class="right" data-label="oldest"><Time at={type?.oldest_ready_at} /></td>
                <td>{type?.is_served === false ? <span class="bad nowrap"><Icon name="cross" size={12} /> none</span> : type?.is_served ? plural(type.workers_live, "worker") : <span class="muted">not known yet</span>}</td></tr>;
        })}</tbody></table></div>
    );
}

function Recent({ name }: { name: string }) {
    const recent = useAsk<Page<InstanceRow>>(`/v1/instances?workflow=${encodeURIComponent(name)}&limit=20&view=row`);
    useNews((digest) => digest.instances.length > 0, recent.again, 5000);
    if (recent.error && !recent.data) return <Failure error={recent.error} again={recent.again} />;
    if (!recent.data) return <Loading />;
    if (!recent.data.items.length) return <Empty reason="none"><p>No instance has been started.</p></Empty>;
    return (
        <div class="table-wrap"><table class="rows"><tbody>{recent.data.items.map((row) => (
            <tr key={row.id} data-testid="instance-row" data-id={row.id} data-status={row.status}><td class="c-status"><Status status={row.status} /></td><td class="c-key"><a class="row-link" href={`instances/${row.id}`}><Text text={row.key ?? `…${row.id.slice(-8)}`} /></a></td><td class="c-flow muted">v{row.version}</td><td class="c-why clip rest">{row.why && <WhyLine why={row.why} />}</td><td class="right c-time"><Time at={row.created_at} /></td></tr>))}</tbody></table>
            <p class="below"><a href={`instances?workflow=${encodeURIComponent(name)}`}>All instances of <Text text={name} /></a></p></div>
    );
}

const withDefinition = withRaw<WorkflowType>("definition");

async function versionsOf(target: string, signal: AbortSignal): Promise<{ version: number }[]> {
    if (hasSummary()) return (await ask<{ items?: { version: number }[]; versions?: { version: number }[] }>(`/v1/workflows/${encodeURIComponent(target)}`, signal).then((it) => it.items ?? it.versions ?? []));
    return (await all("/v1/workflows", signal)).filter((it) => it.name === target);
}

export function Workflow({ name, version, kind }: { name: string; version: string; kind: Kind }) {
    const number = version === "latest" ? "0" : version;
    const flow = useAsk<WorkflowType & Raw>(`/v1/workflows/${encodeURIComponent(name)}/${number}`, withDefinition);
    const versions = useAsk<{ version: number }[]>(name, versionsOf);
    const plan = useMemo(() => readPlan((flow.data?.definition as { steps?: unknown } | undefined)?.steps), [flow.data]), drawn = useMemo(() => opened(plan), [plan]);
    if (flow.error && !flow.data) return flow.error.code === "not_found" ? <section class="empty" data-testid="error" data-code="not_found"><h1>There is no {kind} <Text text={name} />{version !== "latest" && ` v${version}`}.</h1><p><a href={`${kind}s`}>All {kind}s</a></p></section> : <Failure error={flow.error} again={flow.again} />;
    if (!flow.data) return <Loading />;
    const it = flow.data, isCode = isFunction(it), word = isCode ? "functions" : "workflows";
    const mine = (versions.data ?? [it]).map((other) => other.version).sort((a, b) => b - a), others = mine.filter((other) => other !== it.version);
    const previous = others.find((other) => other < it.version) ?? others[0];
    const tabs = isCode ? ["instances"] : ["graph", ...(may("GET", "/v1/workflows/{name}/{version}/grid") ? ["grid"] : []), "file", "handlers", "instances"];
    const tab = tabs.includes(one(query.value, "tab")) ? one(query.value, "tab") : tabs[0]!;
    const label: Record<string, string> = { graph: "Graph", grid: "Grid", file: "File", handlers: "Handlers", instances: "Instances" };
    return (
        <section data-testid={isCode ? "function" : "workflow"}>
            <p class="crumbs"><a href={word}>‹ {isCode ? "Functions" : "Workflows"}</a></p>
            <div class="row head"><h1><Text text={name} /></h1>
                <select data-testid="version-select" aria-label="Version" value={String(it.version)} onChange={(event) => go(`${word}/${encodeURIComponent(name)}/${event.currentTarget.value}`)}>{mine.map((other) => <option key={other} value={String(other)}>v{other}</option>)}</select>
                {previous !== undefined && !isCode && <a data-testid="compare" href={`workflows/${encodeURIComponent(name)}/diff?a=${Math.min(previous, it.version)}&b=${Math.max(previous, it.version)}`}>compare with v{previous}</a>}
                <span class="muted mono nowrap" title={it.hash}>{it.hash.slice(0, 8)}…<Copy text={it.hash} id="copy-hash" label="Copy the hash" /></span><span class="muted"><Time at={it.created_at} prefix="deployed " /></span>
                {may("POST", "/v1/instances") && <button type="button" class="primary" data-testid="action-start" onClick={() => startForm(name, it.version, "", mine)}>Start</button>}
            </div>
            {isCode && <Standing name={name} />}
            <Tabs chosen={tab} items={tabs.map((name) => ({ name, href: here({ tab: name }), label: label[name] }))} />
            {tab === "graph" && <Graph plan={drawn} steps={[]} />}
            {tab === "grid" && <Grid name={name} version={it.version} />}
            {tab === "file" && <div data-testid="definition"><Outline plan={plan} /><h3>As it is kept</h3><Json text={it.raw["definition"]!} name={`${name}-${it.version}`} /></div>}
            {tab === "handlers" && <Handlers name={name} plan={plan} />}
            {tab === "instances" && <Recent name={name} />}
        </section>
    );
}

// ---- two versions ----------------------------------------------------------------------------------

const SIGNS = { added: "+", removed: "−", changed: "≠", moved: "↕" };

export function Diff({ name }: { name: string }) {
    const a = one(query.value, "a"), b = one(query.value, "b"), route = `/v1/workflows/${encodeURIComponent(name)}`;
    const before = useAsk<WorkflowType & Raw>(`${route}/${a}`, withDefinition), after = useAsk<WorkflowType & Raw>(`${route}/${b}`, withDefinition);
    const versions = useAsk<{ version: number }[]>(name, versionsOf);
    const steps = (it: WorkflowType | null): unknown => (it?.definition as { steps?: unknown } | undefined)?.steps;
    const list = useMemo(() => before.data && after.data ? changes(steps(before.data), steps(after.data)) : [], [before.data, after.data]);
    const plans = useMemo(() => [opened(readPlan(steps(before.data))), opened(readPlan(steps(after.data)))] as const, [before.data, after.data]);
    const marks = useMemo(() => new Map(list.map((it) => [it.step, it.change])), [list]);
    if (before.error || after.error) return <Failure error={(before.error ?? after.error)!} />;
    if (!before.data || !after.data) return <Loading />;
    const choose = (which: "a" | "b", value: string) => <select data-testid={`diff-${which}`} aria-label={which === "a" ? "From version" : "To version"} value={value} onChange={(event) => setQuery({ [which]: event.currentTarget.value })}>{(versions.data ?? []).map((it) => <option key={it.version} value={String(it.version)}>v{it.version}</option>)}</select>;
    return (
        <section data-testid="diff">
            <p class="crumbs"><a href={`workflows/${encodeURIComponent(name)}/${b}`}>‹ <Text text={name} /></a></p>
            <div class="row head"><h1><Text text={name} /></h1>{choose("a", a)} → {choose("b", b)}</div>
            {!list.length && <p class="muted">No step differs.</p>}
            <ul class="plain card">{list.map((it) => <li key={it.step + it.change} class={`change-line c-${it.change}`} data-testid="diff-item" data-change={it.change} data-step={it.step}><b class="sign">{SIGNS[it.change]}</b> <b><Text text={it.step} /></b> <span class="muted">{it.change}</span>
                {it.change === "changed" && it.keys.map((key) => <div key={key.key} class="mono small-text"><Text text={key.key} />: {key.before && <del><Text text={key.before} /></del>} {key.after && <ins><Text text={key.after} /></ins>}</div>)}</li>)}</ul>
            <div class="two"><section><h3>v{a}</h3><Graph plan={plans[0]} steps={[]} changes={marks} /></section><section><h3>v{b}</h3><Graph plan={plans[1]} steps={[]} changes={marks} /></section></div>
            <h3>As text</h3><Difference before={pretty(before.data.raw["definition"]!)} after={pretty(after.data.raw["definition"]!)} />
        </section>
    );
}

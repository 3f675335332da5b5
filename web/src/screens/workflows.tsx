// workflows.tsx - what can be started, and what is each version? Functions look the same without a file.
//
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { ask, send } from "../base/api";
import { useAsk } from "../base/ask";
import { go, here, query } from "../base/place";
import { readPlan, type Element } from "../base/layout";
import { one } from "../base/query";
import type { InstanceRow, Page, Workflow as WorkflowType } from "../base/types";
import { may } from "../base/who";
import { rawMember, startForm } from "../parts/actions";
import { Copy, Empty, Failure, Loading, Status, Text, Time } from "../parts/bits";
import { Graph } from "../parts/graph";
import { Difference, Json } from "../parts/json";
import { sheet } from "../parts/sheet";

export const isFunction = (it: WorkflowType): boolean => typeof it.definition === "object" && it.definition !== null && "function" in it.definition;

async function all(target: string, signal: AbortSignal): Promise<WorkflowType[]> {
    let items: WorkflowType[] = [], cursor = "";
    do {
        const page = await ask<Page<WorkflowType>>(`${target}?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, signal);
        items = [...items, ...page.items];
        cursor = page.next ?? "";
    } while (cursor && items.length < 5000);
    return items;
}

/** What was last used for this workflow, else {}. */
async function lastInput(name: string): Promise<string> {
    try {
        const page = await ask<Page<InstanceRow>>(`/v1/instances?workflow=${encodeURIComponent(name)}&limit=1&view=row`);
        return page.items[0] ? await rawMember(`/v1/instances/${page.items[0].id}`, "input") : "{}";
    } catch { return "{}"; }
}

const start = (name: string, version: number) => void lastInput(name).then((input) => startForm(name, version, input));

function deploy(done: () => void): void {
    sheet.value = {
        action: "deploy", title: "Deploy a workflow", sentence: "The file is checked and kept under its name and version. A deployed version never changes.", confirm: "Deploy", done,
        fields: [{ name: "text", label: "Workflow file (YAML or JSON)", kind: "area", isRequired: true, testId: "deploy-text" }],
        cli: () => "cairn deploy FILE",
        send: async (values) => {
            const answer = await send<{ name: string; version: number; existing: boolean }>("POST", "/v1/workflows", values["text"]!);
            go(`workflows/${encodeURIComponent(answer.name)}/${answer.version}`);
            return { text: answer.existing ? "The same content was there." : `Deployed ${answer.name}, version ${answer.version}` };
        },
    };
}

export default function Workflows({ kind }: { kind: "workflow" | "function" }) {
    const list = useAsk<WorkflowType[]>("/v1/workflows", all);
    const word = kind === "function" ? "functions" : "workflows";
    const names = useMemo(() => {
        const byName = new Map<string, WorkflowType[]>();
        for (const it of list.data ?? []) if (isFunction(it) === (kind === "function")) byName.set(it.name, [...(byName.get(it.name) ?? []), it]);
        return [...byName].map(([name, versions]) => ({ name, versions: versions.sort((a, b) => b.version - a.version) })).sort((a, b) => a.name.localeCompare(b.name));
    }, [list.data, kind]);
    if (list.error && !list.data) return <Failure error={list.error} again={list.again} />;
    if (!list.data) return <Loading />;
    const wanted = one(query.value, "q").toLowerCase();
    return (
        <section data-testid={word}>
            <div class="row head"><h1>{kind === "function" ? "Functions" : "Workflows"}</h1>
                {kind === "workflow" && may("POST", "/v1/workflows") && <button type="button" data-testid="action-deploy" onClick={() => deploy(list.again)}>Deploy</button>}</div>
            {!names.length ? <Empty reason="new"><p>{kind === "function" ? "No worker has registered a function." : "No workflow has been deployed."}</p></Empty>
                : <div class="table-wrap"><table class="rows"><thead><tr><th>name</th><th>versions</th><th>deployed</th><th class="wide">handlers</th><th /></tr></thead><tbody>
                    {names.filter((it) => it.name.toLowerCase().includes(wanted)).map(({ name, versions }) => (
                        <tr key={name} data-testid={`${kind}-row`} data-name={name}>
                            <td class="c-key"><a class="row-link" href={`${word}/${encodeURIComponent(name)}/latest`}><Text text={name} /></a></td>
                            <td>{versions.map((it) => <a key={it.version} href={`${word}/${encodeURIComponent(name)}/${it.version}`}>{it.version} </a>)}</td>
                            <td><Time at={versions[0]!.created_at} /></td>
                            <td class="clip muted mono"><Text text={handlersOf(readPlan((versions[0]!.definition as { steps?: unknown }).steps)).join(", ")} /></td>
                            <td class="right nowrap"><a href={`instances?workflow=${encodeURIComponent(name)}`}>instances</a> {may("POST", "/v1/instances") && <button type="button" data-testid="action-start" onClick={() => start(name, versions[0]!.version)}>Start</button>}</td>
                        </tr>))}
                </tbody></table></div>}
        </section>
    );
}

function handlersOf(plan: Element[]): string[] {
    return [...new Set(plan.flatMap((it) => [...(it.handler ? [it.handler] : []), ...(it.lists?.flatMap((list) => handlersOf(list.elements)) ?? [])]))];
}

interface Change { step: string; change: "added" | "removed" | "changed" | "moved"; text: string }

/** Elements by name: what came, went, changed or moved. */
export function changes(before: unknown, after: unknown): Change[] {
    const flat = (list: unknown, found = new Map<string, { text: string; at: number }>()): Map<string, { text: string; at: number }> => {
        if (!Array.isArray(list)) return found;
        for (const item of list as Record<string, unknown>[]) {
            const word = ["step", "condition", "fork", "wait", "sleep", "human", "save_point"].find((it) => typeof item[it] === "string");
            if (!word) continue;
            const { then, else: other, branches, ...own } = item;
            found.set(String(item[word]), { text: JSON.stringify(own), at: found.size });
            flat(then, found);
            flat(other, found);
            if (Array.isArray(branches)) branches.forEach((branch) => flat(branch, found));
        }
        return found;
    };
    const a = flat((before as { steps?: unknown }).steps), b = flat((after as { steps?: unknown }).steps);
    const kept = [...a.keys()].filter((it) => b.has(it)), order = [...b.keys()].filter((it) => a.has(it));
    return [
        ...[...b.keys()].filter((it) => !a.has(it)).map((step): Change => ({ step, change: "added", text: b.get(step)!.text })),
        ...[...a.keys()].filter((it) => !b.has(it)).map((step): Change => ({ step, change: "removed", text: a.get(step)!.text })),
        ...kept.filter((it) => a.get(it)!.text !== b.get(it)!.text).map((step): Change => ({ step, change: "changed", text: b.get(step)!.text })),
        ...kept.filter((it, index) => order[index] !== it && a.get(it)!.text === b.get(it)!.text).map((step): Change => ({ step, change: "moved", text: "" })),
    ];
}

export function Diff({ name }: { name: string }) {
    const a = one(query.value, "a"), b = one(query.value, "b"), route = `/v1/workflows/${encodeURIComponent(name)}`;
    const before = useAsk<WorkflowType>(`${route}/${a}`), after = useAsk<WorkflowType>(`${route}/${b}`);
    if (before.error || after.error) return <Failure error={(before.error ?? after.error)!} />;
    if (!before.data || !after.data) return <Loading />;
    const list = changes(before.data.definition, after.data.definition);
    const sign = { added: "+", removed: "−", changed: "≠", moved: "↕" };
    return (
        <section data-testid="diff">
            <p class="crumbs"><a href={`workflows/${encodeURIComponent(name)}/${b}`}>‹ <Text text={name} /></a></p>
            <h1><Text text={name} /> v{a} → v{b}</h1>
            {list.map((it) => <p key={it.step + it.change} data-testid="diff-item" data-change={it.change} data-step={it.step}><b>{sign[it.change]}</b> <Text text={it.step} /> <span class="muted">{it.change}</span></p>)}
            <Difference before={JSON.stringify(before.data.definition, null, 2)} after={JSON.stringify(after.data.definition, null, 2)} />
        </section>
    );
}

export function Workflow({ name, version, kind }: { name: string; version: string; kind: "workflow" | "function" }) {
    const number = version === "latest" ? "0" : version;
    const flow = useAsk<WorkflowType>(`/v1/workflows/${encodeURIComponent(name)}/${number}`);
    const versions = useAsk<WorkflowType[]>("/v1/workflows", all);
    const recent = useAsk<Page<InstanceRow>>(`/v1/instances?workflow=${encodeURIComponent(name)}&limit=20&view=row`);
    const plan = useMemo(() => readPlan((flow.data?.definition as { steps?: unknown } | undefined)?.steps), [flow.data]);
    if (flow.error && !flow.data) return <Failure error={flow.error} again={flow.again} />;
    if (!flow.data) return <Loading />;
    const it = flow.data, word = kind === "function" ? "functions" : "workflows";
    const mine = (versions.data ?? []).filter((other) => other.name === name).sort((a, b) => b.version - a.version);
    const previous = mine.find((other) => other.version < it.version);
    const tabs = kind === "function" ? ["instances"] : ["graph", "file", "handlers", "instances"];
    const tab = tabs.includes(one(query.value, "tab")) ? one(query.value, "tab") : tabs[0]!;
    return (
        <section data-testid={kind}>
            <p class="crumbs"><a href={word}>‹ {kind === "function" ? "Functions" : "Workflows"}</a></p>
            <div class="row head"><h1><Text text={name} /></h1>
                <select data-testid="version-select" aria-label="Version" value={String(it.version)} onChange={(event) => go(`${word}/${encodeURIComponent(name)}/${event.currentTarget.value}`)}>{mine.map((other) => <option key={other.version} value={String(other.version)}>v{other.version}</option>)}</select>
                {previous && kind === "workflow" && <a data-testid="compare" href={`workflows/${encodeURIComponent(name)}/diff?a=${previous.version}&b=${it.version}`}>compare with v{previous.version}</a>}
                <span class="muted mono" title={it.hash}>{it.hash.slice(0, 8)}…<Copy text={it.hash} id="copy-hash" label="Copy the hash" /></span><span class="muted"><Time at={it.created_at} prefix="deployed " /></span>
                {may("POST", "/v1/instances") && <button type="button" class="primary" data-testid="action-start" onClick={() => start(name, it.version)}>Start</button>}
            </div>
            <div class="tabs" role="tablist">{tabs.map((other) => <a key={other} role="tab" aria-selected={other === tab} data-testid={`tab-${other}`} href={here({ tab: other })}>{{ graph: "Graph", file: "File", handlers: "Handlers", instances: "Instances" }[other]}</a>)}</div>
            {tab === "graph" && <Graph plan={plan} steps={[]} />}
            {tab === "file" && <Json text={JSON.stringify(it.definition)} name={`${name}-${it.version}`} id="definition" />}
            {tab === "handlers" && <ul class="plain">{handlersOf(plan).map((handler) => <li key={handler} data-testid="handler-row"><Text text={handler} mono /></li>)}</ul>}
            {tab === "instances" && (recent.data ? <div class="table-wrap"><table class="rows"><tbody>{recent.data.items.map((row) => (
                <tr key={row.id} data-testid="instance-row" data-id={row.id}><td class="c-status"><Status status={row.status} /></td><td class="c-key"><a class="row-link" href={`instances/${row.id}`}><Text text={row.key ?? `…${row.id.slice(-8)}`} /></a></td><td class="muted">v{row.version}</td><td class="right"><Time at={row.created_at} /></td></tr>))}</tbody></table>
                <p><a href={`instances?workflow=${encodeURIComponent(name)}`}>All instances of {name}</a></p></div> : <Loading />)}
        </section>
    );
}

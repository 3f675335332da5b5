// children.tsx - what the steps of an instance have started: one instance, or one for each element of a map.
//
// SPDX-License-Identifier: Apache-2.0
//
// A step that begins again starts other children, so only those count that are not older than it.
import { useMemo } from "preact/hooks";
import { ask } from "../base/api";
import { useAsk, useNews } from "../base/ask";
import { eachElement, type Element } from "../base/layout";
import { here, query } from "../base/place";
import { one, writeQuery } from "../base/query";
import { grouped, words } from "../base/text";
import type { Counts, Instance, InstanceRow, Page, StepRow, Why } from "../base/types";
import { Id, Loading, Status, Text, Took } from "./bits";
import { Icon } from "./icons";
import { countText } from "./list";
import { usePages } from "./pages";
import { WhyLine } from "./why";

/** How many elements there are, and what became of them; `size` is how many there are to be. */
export interface Tally { size: number; done: number; failed: number; cancelled: number; counts: Counts; isMore: boolean }
export interface Nested { filter: string; child?: InstanceRow; tally?: Tally }
export type Family = ReadonlyMap<number, Nested>;

/** So many are read with one request; only where there are more is each step asked for by itself. */
const AT_ONCE = 100, ASKED_MAX = 20;
/** A map of no more elements is shown unfolded. */
const OPEN_MAX = 10, PAGE = 25;

interface Begun { step: StepRow; element: Element; filter: string }

/** A step that has gone on at once, or one of a function, answers with the id of what it has started. */
export const startedId = (step: StepRow): string | undefined => step.kind === "start" ? /^\{"id":\s*"([0-9a-f-]{36})"/.exec(step.output_preview ?? "")?.[1] : undefined;

function begunOf(it: Instance, steps: StepRow[], plan: Element[]): Begun[] {
    const elements = new Map<string, Element>();
    eachElement(plan, (element) => { if (element.each || (element.workflow && !element.isLeft)) elements.set(element.name, element); });
    return steps.flatMap((step) => {
        const element = step.kind === "start" && step.started_at ? elements.get(step.name) : undefined;
        return element ? [{ step, element, filter: writeQuery({ parent: [it.id], workflow: [element.each ? `${it.workflow}:${step.name}` : element.workflow!], created_from: [step.started_at!] }).slice(1) }] : [];
    });
}

const isOf = ({ step }: Begun) => (row: InstanceRow): boolean => row.parent_seq === step.seq && row.created_at >= step.started_at!;

function tallyOf(counts: Counts): Tally {
    const sum = (names: string[]): number => names.reduce((all, name) => all + (counts[name]?.n ?? 0), 0);
    return { size: sum(Object.keys(counts)), done: sum(["completed"]), failed: sum(["failed", "aborted"]), cancelled: sum(["cancelled"]), counts, isMore: Object.values(counts).some((it) => it.is_more) };
}

function counted(rows: InstanceRow[]): Counts {
    const counts: Counts = {};
    for (const it of rows) counts[it.status] = { n: (counts[it.status]?.n ?? 0) + 1, is_more: false };
    return counts;
}

async function readFamily(id: string, begun: Begun[], left: StepRow[], signal: AbortSignal): Promise<Family> {
    const family = new Map<number, Nested>();
    if (left.length) {
        const page = await ask<Page<InstanceRow>>(`/v1/instances?view=row&limit=${AT_ONCE}&ids=${left.map(startedId).join(",")}`, signal);
        for (const step of left) { const child = page.items.find((it) => it.id === startedId(step)); if (child) family.set(step.seq, { filter: "", child }); }
    }
    if (!begun.length) return family;
    const first = await ask<Page<InstanceRow>>(`/v1/instances?parent=${id}&view=row&limit=${AT_ONCE}`, signal);
    for (const it of begun.slice(0, ASKED_MAX)) {
        const known = first.items.filter(isOf(it)), rest = { filter: it.filter };
        if (it.element.each) family.set(it.step.seq, { ...rest, tally: tallyOf(first.next ? (await ask<{ counts: Counts }>(`/v1/instances/counts?${it.filter}`, signal)).counts : counted(known)) });
        else {
            const child = known[0] ?? (first.next ? (await ask<Page<InstanceRow>>(`/v1/instances?${it.filter}&view=row&limit=${AT_ONCE}`, signal)).items.find(isOf(it)) : undefined);
            family.set(it.step.seq, { ...rest, ...(child ? { child } : {}) });
        }
    }
    return family;
}

const NOBODY: Family = new Map();

/** While a map goes on, the engine knows exactly how far it is. */
function withWhy(family: Family, whys: Why[]): Family {
    const exact = whys.filter((it) => it.code === "mapping" && it.seq !== null && family.get(it.seq)?.tally);
    if (!exact.length) return family;
    const next = new Map(family);
    for (const it of exact) {
        const nested = family.get(it.seq!)!, number = (name: string) => Number(it.values[name] ?? 0);
        next.set(it.seq!, { ...nested, tally: { ...nested.tally!, size: number("n"), done: number("done"), failed: Math.max(0, number("failed") - nested.tally!.cancelled), isMore: false } });
    }
    return next;
}

/** What becomes of children tells the parent nothing until they end, so its reasons are asked for with them. */
export function useFamily(it: Instance | null, steps: StepRow[] | null, plan: Element[], whys: Why[], askWhy: () => void): Family {
    const begun = useMemo(() => it && steps ? begunOf(it, steps, plan) : [], [it?.id, it?.workflow, steps, plan]);
    const left = useMemo(() => { const names = new Set<string>(); eachElement(plan, (element) => { if (element.isLeft) names.add(element.name); });
        return (steps ?? []).filter((step) => startedId(step) && !step.handler && (!plan.length || names.has(step.name))).slice(0, AT_ONCE); }, [steps, plan]);
    const target = [...begun.map(({ step, filter }) => `${step.seq} ${step.status} ${filter}`), ...left.map((step) => startedId(step)!)].join("\n") || null;
    const answer = useAsk<Family>(target, (_, signal) => readFamily(it!.id, begun, left, signal));
    const isOpen = left.length > 0 || begun.some(({ step }) => step.status === "waiting" || step.status === "compensation");
    const mine = new Set([...(answer.data?.values() ?? [])].flatMap((nested) => nested.child ? [nested.child.id] : []));
    const hasMap = begun.some(({ element }) => element.each);
    useNews((digest) => isOpen && (hasMap ? digest.instances.length > 0 : digest.instances.some((id) => mine.has(id))), () => { answer.again(); askWhy(); }, 2000);
    return useMemo(() => withWhy(answer.data ?? NOBODY, whys), [answer.data, whys]);
}

// ---- what is shown ---------------------------------------------------------------------------------

const name = (it: InstanceRow) => it.key ? <Text text={it.key} /> : <Id id={it.id} />;

export const tallyText = (it: Tally): string => `${grouped(it.done)}${it.isMore ? "+" : ""} of ${grouped(it.size)}${it.isMore ? "+" : ""} done`;

export const ChildLink = ({ it }: { it: InstanceRow }) => <a href={`instances/${it.id}`}><Text text={it.workflow} /> {name(it)}</a>;

/** How much of a map is done, and how it went. */
function Bar({ it }: { it: Tally }) {
    const share = (count: number): string => `${it.size ? Math.min(100, 100 * count / it.size) : 0}%`;
    return <span class="share" aria-hidden="true"><i class="good-part" style={{ width: share(it.done) }} /><i class="bad-part" style={{ width: share(it.failed) }} /></span>;
}

const Sentence = ({ it }: { it: Tally }) => <span data-testid="map-text">{grouped(it.done)}{it.isMore && "+"} of {grouped(it.size)}{it.isMore && "+"} elements done, {grouped(it.failed)} failed{it.cancelled > 0 && `, ${grouped(it.cancelled)} cancelled`}.</span>;

/** The elements of a map, a page at a time; those of one status, if asked for. */
function Elements({ nested, step }: { nested: Nested; step: StepRow }) {
    const status = one(query.value, "elements"), tally = nested.tally!;
    const page = usePages<InstanceRow>(`/v1/instances?${nested.filter}&view=row${status && `&status=${status}`}`, PAGE);
    useNews((digest) => digest.instances.some((id) => page.items.some((it) => it.id === id)) || (page.items.length < PAGE && digest.instances.length > 0), page.again, 2000);
    const choose = (label: string, value: string, count: { n: number; is_more?: boolean }) => <a key={value} class="view" data-testid={`elements-${value || "all"}`} aria-current={status === value ? "page" : undefined} href={here({ map: String(step.seq), elements: value })}>{label} <b class="num">{countText(count)}</b></a>;
    const begun = Object.values(tally.counts).reduce((sum, it) => ({ n: sum.n + it.n, is_more: sum.is_more || it.is_more }), { n: 0, is_more: false });
    return (
        <div data-testid="elements" data-step={step.name}>
            <div class="views">{choose("begun", "", begun)}{Object.entries(tally.counts).filter(([, it]) => it.n > 0).map(([word, it]) => choose(words(word), word, it))}
                <a class="view" data-testid="elements-list" href={`instances?${nested.filter.replace("&created_from=", "&from=")}${status && `&status=${status}`}`}>as a list</a></div>
            {page.error && !page.items.length ? <p class="bad"><Text text={page.error.message} /></p> : page.isAsking && !page.items.length ? <Loading rows={2} /> : !page.items.length ? <p class="muted">None.</p>
                : <table class="rows inner"><tbody>{page.items.map((it) => (
                    <tr key={it.id} data-testid="element-row" data-id={it.id} data-status={it.status}>
                        <td class="c-key"><a class="row-link" href={`instances/${it.id}`}>{name(it)}</a></td><td class="c-status"><Status status={it.status} /></td>
                        <td class="mono muted clip-short"><Text text={it.input_preview ?? ""} /></td><td class="clip rest">{it.why && <WhyLine why={it.why} />}</td><td class="right" data-label="took"><Took from={it.started_at} to={it.finished_at} /></td>
                    </tr>))}</tbody></table>}
            {page.next && <p class="center"><button type="button" data-testid="elements-more" disabled={page.isAsking} onClick={page.older}>More</button></p>}
        </div>
    );
}

/** Named in the address, else a map that is small. */
function isUnfolded(nested: Nested, seq: number): boolean {
    const asked = one(query.value, "map");
    return asked ? asked === String(seq) : (nested.tally?.size ?? 0) <= OPEN_MAX;
}

function MapHead({ nested, step, isOpen }: { nested: Nested; step: StepRow; isOpen: boolean }) {
    const it = nested.tally!;
    return <span class="row map-head" data-testid="map" data-step={step.name} data-size={it.size} data-done={it.done} data-failed={it.failed}>
        <a class="button fold-link" data-testid="map-fold" role="button" aria-expanded={isOpen} aria-label={isOpen ? "Fold the elements" : "Show the elements"} href={here({ map: isOpen ? "none" : String(step.seq), elements: null })}><Icon name={isOpen ? "down" : "right"} size={14} /></a>
        <Bar it={it} /><Sentence it={it} /></span>;
}

/** Rows below the row of a step. */
export function nestedRows(step: StepRow, depth: number, nested: Nested | undefined, columns: number) {
    if (nested?.child) {
        const it = nested.child;
        return [<tr key={`${step.id}+`} class="nested" data-testid="child-row" data-id={it.id} data-status={it.status} data-of={step.name}>
            <td class="c-key"><span class={`branch d-${Math.min(depth + 1, 6)}`}><Icon name="child" size={14} /> <a href={`instances/${it.id}`}>{name(it)}</a></span></td>
            <td class="muted" colSpan={2}><Text text={it.workflow} /> v{it.version}</td><td class="c-status"><Status status={it.status} /></td>
            <td class="right" data-label="took"><Took from={it.started_at} to={it.finished_at} /></td><td class="clip" colSpan={2}>{it.why && <WhyLine why={it.why} />}</td></tr>];
    }
    if (!nested?.tally) return [];
    const isOpen = isUnfolded(nested, step.seq);
    return [<tr key={`${step.id}+`} class="nested"><td class="whole" colSpan={columns}><div class={`d-${Math.min(depth + 1, 6)}`}><MapHead nested={nested} step={step} isOpen={isOpen} />{isOpen && <Elements nested={nested} step={step} />}</div></td></tr>];
}

/** The same in the drawer of the step. */
export function ChildPart({ step, nested }: { step: StepRow; nested: Nested | undefined }) {
    if (nested?.child) return <section><h3>Child</h3><p class="row" data-testid="child-row" data-id={nested.child.id} data-status={nested.child.status}><ChildLink it={nested.child} /><Status status={nested.child.status} />{nested.child.why && <WhyLine why={nested.child.why} />}</p></section>;
    if (!nested?.tally) return null;
    return <section><h3>Elements</h3><p class="row map-head"><Bar it={nested.tally} /><Sentence it={nested.tally} /></p><Elements nested={nested} step={step} /></section>;
}

/** Of a child: what has started it. */
export const ParentLink = ({ id, parent, map }: { id: string; parent: InstanceRow | undefined; map: string | null }) => (
    <span class="row"><a data-testid="parent" data-id={id} href={`instances/${id}`}><Icon name="child" size={14} /> {map ? <>element of <Text text={map} /> of </> : "child of "}{parent ? <>{parent.key ? <Text text={parent.key} /> : <><Text text={parent.workflow} /> <Id id={id} /></>}</> : <Id id={id} />}</a>{parent && <Status status={parent.status} id="parent-status" />}</span>
);

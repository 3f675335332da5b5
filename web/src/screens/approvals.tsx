// approvals.tsx - who waits for me?
//
// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from "preact/hooks";
import { pageWithRaw, useAsk, useNews, type Raw } from "../base/ask";
import { query, setQuery } from "../base/place";
import { one } from "../base/query";
import type { Approval, Decided, Page } from "../base/types";
import { actor, may } from "../base/who";
import { decide } from "../parts/actions";
import { Empty, Failure, Loading, Text, Time, Until } from "../parts/bits";
import { Icon } from "../parts/icons";
import { Json } from "../parts/json";
import { More } from "../parts/more";

type Card = Approval & Raw;
interface Answer { items: Card[]; n: number; next: string | null }

/** Longer inputs are folded. */
const SMALL = 2048, STAYS_MS = 5000;

/** With each input as it stands in the answer. */
async function cards(target: string, signal: AbortSignal): Promise<Answer> {
    const page = await pageWithRaw<Approval, Page<Approval> & { n?: number }>("input")(target, signal);
    return { items: page.items, n: page.n ?? page.items.length, next: page.next ?? null };
}

const keyOf = (it: { instance_id: string; seq: number }): string => `${it.instance_id}/${it.seq}`;
const nameOf = (it: { key: string | null; instance_id: string }): string => it.key ?? `…${it.instance_id.slice(-8)}`;

export default function Approvals() {
    const workflow = one(query.value, "workflow"), sort = one(query.value, "sort") || "deadline";
    const [most, setMost] = useState(100);
    const page = useAsk<Answer>(`/v1/approvals?limit=${most}${workflow && `&workflow=${encodeURIComponent(workflow)}`}`, cards);
    const decided = useAsk<Page<Decided>>("/v1/approvals?decided=true&limit=10");
    /** Cards that were decided here, with what was said; they stay for a moment. */
    const [lately, setLately] = useState<Record<string, { card: Card; text: string }>>({});
    const known = useRef(new Map<string, Card>());
    const reload = () => { page.again(); decided.again(); };
    /** How many were open when the latest news came; one that is shown may have been decided as another came. */
    const open = useRef<number | null>(null);
    useNews((digest) => {
        const isOther = digest.approvals === undefined ? digest.instances.length > 0 : digest.approvals !== open.current;
        open.current = digest.approvals ?? null;
        return isOther || digest.instances.some((id) => page.data?.items.some((it) => it.instance_id === id));
    }, reload, 1000);
    const canDecide = may("POST", "/v1/instances/{id}/steps/{step}/decision");
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading />;
    const there = new Set(page.data.items.map(keyOf));
    for (const it of page.data.items) known.current.set(keyOf(it), it);
    const gone = Object.values(lately).map((it) => it.card).filter((it) => !there.has(keyOf(it)));
    const all = [...page.data.items, ...gone];
    const items = all.sort((a, b) => (sort === "oldest" ? 0 : (a.deadline_at ?? "9").localeCompare(b.deadline_at ?? "9")) || (a.since ?? "").localeCompare(b.since ?? ""));
    const names = [...new Set(page.data.items.map((it) => it.workflow))];
    const done = (it: Card, what: string) => {
        const key = keyOf(it), who = actor();
        setLately((old) => ({ ...old, [key]: { card: it, text: `${what}${who ? ` by ${who}` : ""}` } }));
        setTimeout(() => setLately((old) => { const { [key]: _, ...rest } = old; return rest; }), STAYS_MS);
        reload();
    };
    const ask = (it: Card, isApproved: boolean) => decide(isApproved, { id: it.instance_id, key: it.key, step: it.step }, () => done(it, isApproved ? "Approved" : "Rejected"), reload);
    return (
        <section data-testid="approvals">
            <div class="row head"><h1>Approvals {page.data.n > 0 && <span class="muted">{page.data.n}</span>}</h1>
                {(names.length > 1 || workflow) && <label class="inline">workflow <select data-testid="filter-workflow" value={workflow} onChange={(event) => setQuery({ workflow: event.currentTarget.value })}><option value="">all</option>{[...new Set([...names, ...(workflow ? [workflow] : [])])].map((it) => <option key={it}>{it}</option>)}</select></label>}
                {items.length > 1 && <label class="inline">sort <select data-testid="sort" value={sort} onChange={(event) => setQuery({ sort: event.currentTarget.value })}><option value="deadline">deadline</option><option value="oldest">oldest</option></select></label>}
            </div>
            {!items.length && <Empty reason="done"><Icon name="tick" size={24} /><p>Nobody is waited for.</p></Empty>}
            {items.map((it) => (
                <article key={keyOf(it)} tabIndex={-1} class="card approval" data-testid="approval-card" data-id={it.instance_id} data-step={it.step}>
                    <header class="row between"><span><b><Text text={it.step} /></b> <span class="muted">·</span> <Text text={it.workflow} /> <span class="muted">·</span> <a href={`instances/${it.instance_id}`}><Text text={nameOf(it)} /></a></span>
                        {it.deadline_at ? <span class="muted">until <Until at={it.deadline_at} />{it.on_timeout && `, then ${/fail/.test(it.on_timeout) ? "fails" : "goes on"}`}</span> : <span class="muted">without limit</span>}</header>
                    {it.raw["input"]!.length > SMALL ? <details><summary>Input</summary><Json text={it.raw["input"]!} name={nameOf(it)} /></details> : <Json text={it.raw["input"]!} name={nameOf(it)} />}
                    <footer class="row between"><span class="muted">asked <Time at={it.since} /></span>
                        {lately[keyOf(it)] ? <b role="status">{lately[keyOf(it)]!.text}</b> : canDecide && <span class="row">
                            <button type="button" data-testid="action-reject" onClick={() => ask(it, false)}>Reject</button>
                            <button type="button" class="primary" data-testid="action-approve" onClick={() => ask(it, true)}>Approve</button></span>}
                    </footer>
                </article>
            ))}
            <More page={page.data} limit={most} set={setMost} />
            {decided.data && decided.data.items.length > 0 && <><h2>Decided lately</h2>
                <ul class="plain card">{decided.data.items.map((it) => <li key={it.instance_id + it.step + it.at} data-testid="decided-row" class="row">
                    <span class={it.decision === "confirmed" ? "good" : "bad"}><Icon name={it.decision === "confirmed" ? "tick" : "cross"} label={it.decision === "confirmed" ? "approved" : "rejected"} /></span><a href={`instances/${it.instance_id}`}><Text text={nameOf(it)} /></a><span class="muted"><Text text={it.step} /></span> by <Text text={it.by} />{it.comment && <span>“<Text text={it.comment} />”</span>}<span class="muted"><Time at={it.at} /></span></li>)}</ul></>}
        </section>
    );
}

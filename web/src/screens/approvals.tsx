// approvals.tsx - who waits for me?
//
// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { useAsk, useNews } from "../base/ask";
import { query, setQuery } from "../base/place";
import { one } from "../base/query";
import { askText } from "../base/api";
import { member, rawOf, scan } from "../base/scan";
import type { Approval, Decided, Page } from "../base/types";
import { may } from "../base/who";
import { decide } from "../parts/actions";
import { Empty, Failure, Loading, Text, Time } from "../parts/bits";
import { Icon } from "../parts/icons";
import { Json } from "../parts/json";

interface Card extends Approval { raw: string }

/** With each input as it stands in the answer. */
async function cards(target: string, signal: AbortSignal): Promise<{ items: Card[]; n: number }> {
    const text = await askText("GET", target, undefined, signal), root = scan(text);
    const nodes = member(text, root, "items")?.items ?? [];
    const page = JSON.parse(text) as Page<Approval> & { n?: number };
    const items = page.items.map((it, index) => { const input = nodes[index] && member(text, nodes[index], "input"); return { ...it, raw: input ? rawOf(text, input) : "null" }; });
    return { items, n: page.n ?? items.length };
}

export default function Approvals() {
    const workflow = one(query.value, "workflow"), sort = one(query.value, "sort") || "deadline";
    const page = useAsk<{ items: Card[]; n: number }>(`/v1/approvals?limit=100${workflow && `&workflow=${encodeURIComponent(workflow)}`}`, cards);
    const decided = useAsk<Page<Decided>>("/v1/approvals?decided=true&limit=10");
    const [lately, setLately] = useState<Record<string, string>>({});
    const reload = () => { page.again(); decided.again(); };
    useNews((digest) => digest.instances.length > 0, reload, 1000);
    const canDecide = may("POST", "/v1/instances/{id}/steps/{step}/decision");
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading />;
    const items = sort === "oldest" ? [...page.data.items].sort((a, b) => a.since.localeCompare(b.since)) : page.data.items;
    const names = [...new Set(page.data.items.map((it) => it.workflow))];
    const done = (it: Approval, what: string) => {
        const key = `${it.instance_id}/${it.seq}`;
        setLately((old) => ({ ...old, [key]: what }));
        setTimeout(() => setLately((old) => { const { [key]: _, ...rest } = old; return rest; }), 5000);
        reload();
    };
    return (
        <section data-testid="approvals">
            <div class="row head"><h1>Approvals {page.data.n > 0 && <span class="muted">{page.data.n}</span>}</h1>
                {(names.length > 1 || workflow) && <label class="inline">workflow <select data-testid="filter-workflow" value={workflow} onChange={(event) => setQuery({ workflow: event.currentTarget.value })}><option value="">all</option>{names.map((it) => <option key={it}>{it}</option>)}</select></label>}
                <label class="inline">sort <select data-testid="sort" value={sort} onChange={(event) => setQuery({ sort: event.currentTarget.value })}><option value="deadline">deadline</option><option value="oldest">oldest</option></select></label>
            </div>
            {!items.length && <Empty reason="done"><Icon name="tick" size={24} /><p>Nobody is waited for.</p></Empty>}
            {items.map((it) => (
                <article key={it.instance_id + it.seq} class="card" data-testid="approval-card" data-id={it.instance_id} data-step={it.step}>
                    <header class="row between"><span><b><Text text={it.step} /></b> · <Text text={it.workflow} /> · <a href={`instances/${it.instance_id}`}><Text text={it.key ?? `…${it.instance_id.slice(-8)}`} /></a></span>
                        {it.deadline_at && <span class="muted"><Time at={it.deadline_at} />{it.on_timeout && `, then ${it.on_timeout === "fail" ? "fails" : "goes on"}`}</span>}</header>
                    <Json text={it.raw} name={it.key ?? it.instance_id} />
                    <footer class="row between"><span class="muted">waits since <Time at={it.since} /></span>
                        {lately[`${it.instance_id}/${it.seq}`] ? <b>{lately[`${it.instance_id}/${it.seq}`]}</b> : canDecide && <span class="row">
                            <button type="button" data-testid="action-reject" onClick={() => decide(false, { id: it.instance_id, key: it.key, step: it.step }, () => done(it, "Rejected"))}>Reject</button>
                            <button type="button" class="primary" data-testid="action-approve" onClick={() => decide(true, { id: it.instance_id, key: it.key, step: it.step }, () => done(it, "Approved"))}>Approve</button></span>}
                    </footer>
                </article>
            ))}
            {decided.data && decided.data.items.length > 0 && <><h2>Decided lately</h2>
                <ul class="plain">{decided.data.items.map((it) => <li key={it.instance_id + it.step + it.at} data-testid="decided-row" class="row">
                    <Icon name={it.decision === "confirmed" ? "tick" : "cross"} label={it.decision} /><a href={`instances/${it.instance_id}`}><Text text={it.key ?? `…${it.instance_id.slice(-8)}`} /></a> by <Text text={it.by} />{it.comment && <span>“<Text text={it.comment} />”</span>}<span class="muted"><Time at={it.at} /></span></li>)}</ul></>}
        </section>
    );
}

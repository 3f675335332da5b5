// dead.tsx - what went wrong, and can it be mended at once?
//
// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { useAsk, useNews } from "../base/ask";
import { here, query } from "../base/place";
import { one } from "../base/query";
import { grouped } from "../base/text";
import type { DlqRecord, ErrorGroup, InstanceRow, JobRow, Page } from "../base/types";
import { may } from "../base/who";
import { requeue } from "../parts/actions";
import { Empty, Failure, Loading, Status, Text, Time } from "../parts/bits";
import { Icon } from "../parts/icons";

type Of = "dlq" | "jobs" | "instances";
const TABS: [string, Of, string][] = [["parked", "dlq", "Parked"], ["jobs", "jobs", "Failed jobs"], ["instances", "instances", "Failed instances"]];

function Members({ group, of, reload }: { group: string; of: Of; reload: () => void }) {
    const target = !group ? "/v1/dlq?limit=100" : of === "dlq" ? `/v1/dlq?view=row&group=${group}&limit=50` : `/v1/${of}?view=row&status=failed&group=${group}&limit=50`;
    const page = useAsk<Page<DlqRecord & InstanceRow & JobRow & { input_preview?: string | null; key?: string | null }>>(target);
    const canRequeue = may("POST", "/v1/dlq/{id}/requeue");
    useNews((digest) => digest.instances.length + digest.jobs.length > 0, page.again, 2000);
    if (page.error && !page.data) return <Failure error={page.error} again={page.again} />;
    if (!page.data) return <Loading rows={2} />;
    if (!page.data.items.length) return <Empty reason="done"><Icon name="tick" size={24} /><p>No dead letters.</p></Empty>;
    const done = () => { page.again(); reload(); };
    return (
        <table class="rows inner"><tbody>{page.data.items.map((it) => of === "dlq" ? (
            <tr key={it.id} data-testid="dead-row" data-id={it.id}>
                <td class="c-key"><a class="row-link" href={`instances/${it.instance_id}`}><Text text={it.key ?? `…${it.instance_id.slice(-8)}`} /></a></td>
                {!group && <td><Text text={it.step_name} /> <span class="bad"><Text text={it.error ?? ""} /></span></td>}<td class="clip mono muted wide"><Text text={it.input_preview ?? JSON.stringify(it.input)} /></td><td class="c-time"><Time at={it.created_at} /></td>
                <td class="right nowrap">{canRequeue && <><button type="button" data-testid="action-requeue" onClick={() => void requeue(it.id, it.step_name, false, done)}>Requeue</button> <button type="button" data-testid="action-requeue-edit" onClick={() => void requeue(it.id, it.step_name, true, done)}>Edit and requeue</button></>}</td>
            </tr>
        ) : (
            <tr key={it.id} data-testid="dead-row" data-id={it.id}><td class="c-key"><a class="row-link" href={`${of}/${it.id}`}><Text text={it.key ?? it.idempotency_key ?? `…${it.id.slice(-8)}`} /></a></td>
                <td><Status status={it.status} /></td><td class="c-time"><Time at={it.created_at} /></td></tr>
        ))}</tbody></table>
    );
}

export default function Dead() {
    const tab = TABS.find(([name]) => name === one(query.value, "tab")) ?? TABS[0]!;
    const of = tab[1], workflow = one(query.value, "workflow");
    const hasGroups = may("GET", "/v1/errors");
    const groups = useAsk<{ items: ErrorGroup[]; scanned: number; is_more: boolean }>(!hasGroups ? null : `/v1/errors?of=${of}${workflow && `&workflow=${encodeURIComponent(workflow)}`}`);
    const [open, setOpen] = useState<ReadonlySet<string> | null>(null);
    useNews((digest) => digest.instances.length + digest.jobs.length > 0, groups.again, 2000);
    const items = groups.data?.items ?? [];
    const total = items.reduce((sum, it) => sum + it.n, 0);
    const isOpen = (group: string) => open ? open.has(group) : items[0]?.group === group;
    const toggle = (group: string) => { const next = new Set(open ?? (items[0] ? [items[0].group] : [])); if (!next.delete(group)) next.add(group); setOpen(next); };
    if (!hasGroups) return <section data-testid="dead"><h1>Dead letters</h1><Members group="" of="dlq" reload={() => undefined} /></section>;
    return (
        <section data-testid="dead">
            <div class="row head"><h1>Dead letters {total > 0 && <span class="muted">{grouped(total)}</span>}</h1></div>
            <div class="tabs" role="tablist">{TABS.map(([name, , label]) => <a key={name} role="tab" aria-selected={name === tab[0]} data-testid={`dead-tab-${name}`} href={here({ tab: name === "parked" ? null : name })}>{label}</a>)}</div>
            {groups.error && !groups.data ? <Failure error={groups.error} again={groups.again} /> : !groups.data ? <Loading />
                : !items.length ? <Empty reason="done"><Icon name="tick" size={24} /><p>No dead letters.</p></Empty>
                : items.map((it) => (
                    <article key={it.group} class="card group" data-testid="group" data-group={it.group} data-count={it.n}>
                        <header class="row"><button type="button" class="fold" aria-expanded={isOpen(it.group)} aria-label={isOpen(it.group) ? "Fold" : "Unfold"} onClick={() => toggle(it.group)}><Icon name={isOpen(it.group) ? "down" : "right"} /></button>
                            <span class="grow"><b><Text text={it.step ?? it.type ?? ""} /></b>{it.is_undo && <span class="pill g-undo">undo</span>}{it.workflow && <> · <Text text={it.workflow} /></>}<br /><span class="bad"><Text text={it.sample || it.pattern} /></span></span>
                            <b class="num">{grouped(it.n)}</b><span class="muted">first <Time at={it.first_at} />, last <Time at={it.last_at} /></span></header>
                        {isOpen(it.group) && <Members group={it.group} of={of} reload={groups.again} />}
                    </article>
                ))}
            {groups.data?.is_more && <p class="muted">Only the newest {grouped(groups.data.scanned)} were read.</p>}
        </section>
    );
}

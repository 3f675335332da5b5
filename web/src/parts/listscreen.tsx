// listscreen.tsx - the frame of the lists of instances and jobs: views, filters, rows, selection.
//
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAsk, useNews } from "../base/ask";
import { BULK_ACTIONS, canBulk } from "../base/bulks";
import { go, here, query } from "../base/place";
import { changed, one, readQuery, writeQuery } from "../base/query";
import { hiddenColumns, views } from "../base/settings";
import type { Counts } from "../base/types";
import { may } from "../base/who";
import { Command, Empty, Failure, Loading, Text, Time } from "./bits";
import { Icon } from "./icons";
import { download } from "./json";
import { later } from "./later";
import { Chips, closeMenus, CountLine, countText, filterOf, Menu, useCalm, useList, type Row } from "./list";
import { sheet } from "./sheet";
import { Rows } from "./window";

export type View = [name: string, label: string, query: Record<string, string>];
export interface Column<T> { name: string; label: string; class?: string; head?: string; isFixed?: boolean; isShown?: (rows: T[]) => boolean; cell: (row: T) => ComponentChildren }

const BulkBar = later(() => import("./bulk"), "BulkBar");

const plain = (): string => writeQuery(changed(query.value, { view: null }));

function Views({ screen, builtIn }: { screen: string; builtIn: View[] }) {
    const now = plain();
    const save = () => {
        sheet.value = { action: "save-view", title: "Save this view", sentence: "The filters get a name. They are kept in this browser.", confirm: "Save", fields: [{ name: "name", label: "Name", kind: "text", isRequired: true, testId: "view-name" }],
                        send: async (values) => { const name = values["name"]!.trim(); views.value = [...views.value.filter((it) => it.name !== name || it.screen !== screen), { name, screen, query: now }]; return { text: `Saved as ${name}` }; } };
    };
    return (
        <div class="views" role="group" aria-label="Views">
            {builtIn.map(([name, label, params]) => {
                const to = writeQuery(Object.fromEntries(Object.entries(params).map(([key, value]) => [key, [value]])));
                return <a key={name} class="view" data-testid={`view-${name}`} aria-current={to === now ? "page" : undefined} href={screen + to}>{label}</a>;
            })}
            {views.value.filter((it) => it.screen === screen).map((it) => <a key={it.name} class="view" data-testid={`view-${it.name}`} aria-current={it.query === now ? "page" : undefined} href={screen + writeQuery(changed(readQuery(it.query), { view: it.name }))}>{it.name}</a>)}
            {now && <button type="button" class="quiet" data-testid="save-view" onClick={save}><Icon name="plus" size={12} /> save view</button>}
        </div>
    );
}

/** An address that only names a view stands for what this browser knows of it. */
function useNamedView(screen: string): void {
    const name = one(query.value, "view");
    useEffect(() => {
        const view = views.value.find((it) => it.name === name && it.screen === screen);
        if (!view) return;
        const missing = Object.fromEntries(Object.entries(readQuery(view.query)).filter(([key]) => !query.value[key]));
        if (Object.keys(missing).length) go(here(missing), "replace");
    }, [name]);
}

export function NewStore({ children }: { children?: ComponentChildren }) {
    return (
        <Empty reason="new">
            <h2>Nothing has been recorded yet.</h2>
            <p>Record a job, or start a workflow:</p>
            <p><Command text={`cairn job add hello.v1 --payload '{"name": "you"}'`} /></p>
            <p><Command text={`cairn deploy order.yaml && cairn start order --input '{"total": 40}'`} /></p>
            {children}
        </Empty>
    );
}

function Nothing({ names, screen, scannedTo, older }: { names: string[]; screen: string; scannedTo: string | null; older: () => void }) {
    const text = one(query.value, "q");
    if (scannedTo) return <Empty reason="searched"><p>Not found in the newest ones (back to <Time at={scannedTo} />).</p><button type="button" onClick={older}>Search further back</button></Empty>;
    return <Empty reason="filter"><p>Nothing matches.</p><Chips names={names} />{text && <p><a href={`${screen}${writeQuery(changed(query.value, { q: null, has: text }))}`}>Search inputs and errors for <b><Text text={text} /></b></a></p>}</Empty>;
}

/** Filters that counts do not have. */
const UNCOUNTED = ["has", "group", "stand"];

export interface ListScreenProps<T extends Row> {
    kind: "instances" | "jobs"; title: string; row: string; views: View[]; filters: string[]; columns: Column<T>[]; bar: (rows: T[]) => ComponentChildren;
    action: ComponentChildren; empty: ComponentChildren; label: (row: T) => string;
}

export function ListScreen<T extends Row>({ kind, title, row: rowId, views: builtIn, filters, columns, bar, action, empty, label }: ListScreenProps<T>) {
    const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
    const [isMatching, setMatching] = useState(false);
    const [lastClick, setLastClick] = useState(-1);
    const { isBusy, touch } = useCalm(selected.size > 0);
    useNamedView(kind);
    const params = filterOf(query.value, filters.filter((it) => it !== "from" && it !== "to"));
    const filter = params.toString();
    const list = useList<T>(`/v1/${kind}`, filter, kind, isBusy);
    const forCounts = new URLSearchParams(params);
    forCounts.delete("status");
    const isCounted = !UNCOUNTED.some((it) => params.has(it));
    const counts = useAsk<{ counts: Counts }>(isCounted && may("GET", `/v1/${kind}/counts`) ? `/v1/${kind}/counts?${forCounts.toString()}` : null);
    useNews((digest) => digest[kind].length > 0, counts.again, 5000);
    useEffect(() => { setSelected(new Set()); setMatching(false); }, [filter]);
    const shown = columns.filter((it) => (it.isFixed || !hiddenColumns.value.includes(it.name)) && (!it.isShown || it.isShown(list.rows)));
    const hasFilter = filters.some((it) => one(query.value, it));
    const clear = () => { setSelected(new Set()); setMatching(false); };
    const toggle = (index: number, isRange: boolean) => {
        const next = new Set(selected), ids = list.rows.map((it) => it.id);
        if (isRange && lastClick >= 0) for (let at = Math.min(index, lastClick); at <= Math.max(index, lastClick); at++) next.add(ids[at]!);
        else if (!next.delete(ids[index]!)) next.add(ids[index]!);
        setLastClick(index);
        setMatching(false);
        setSelected(next);
    };
    const statuses = params.get("status")?.split(",") ?? null;
    const matching = Object.entries(counts.data?.counts ?? {}).filter(([status]) => !statuses || statuses.includes(status)).map(([, it]) => it);
    const about = counts.data ? countText({ n: matching.reduce((sum, it) => sum + it.n, 0), is_more: matching.some((it) => it.is_more) }) : "";
    const isAll = selected.size > 0 && selected.size === list.rows.length;
    const flip = (name: string) => { hiddenColumns.value = hiddenColumns.value.includes(name) ? hiddenColumns.value.filter((it) => it !== name) : [...hiddenColumns.value, name]; };
    const ids = (of: Iterable<string>) => download("ids.txt", [...of].map((it) => `${it}\n`).join(""), "text/plain");
    const draw = (row: T, index: number) => (
        <tr key={row.id} data-testid={rowId} data-id={row.id} data-status={row.status} data-stale={list.stale.has(row.id) ? "true" : undefined} class={list.marked.has(row.id) ? "marked" : undefined} aria-selected={selected.has(row.id) || isMatching || undefined}>
            <td class="narrow"><label class="hit"><input type="checkbox" data-testid="select-row" aria-label={`Select ${label(row)}`} checked={selected.has(row.id) || isMatching} onClick={(event) => toggle(index, event.shiftKey)} /></label></td>
            {shown.map((it) => <td key={it.name} class={it.class}>{it.cell(row)}</td>)}
        </tr>
    );
    return (
        <section data-testid={kind} onPointerMove={touch} onFocusIn={touch}>
            <div class="row head"><h1>{title}</h1><Views screen={kind} builtIn={builtIn} />{action}</div>
            <div class="row filters">{bar(list.rows)}
                <Menu label="columns" id="columns">
                    {columns.filter((it) => !it.isFixed).map((it) => <label key={it.name} class="check"><input type="checkbox" data-name={it.name} checked={!hiddenColumns.value.includes(it.name)} onChange={() => flip(it.name)} /> {it.label}</label>)}
                    <button type="button" class="quiet line" data-testid="export-ids" onClick={() => { ids(list.rows.map((it) => it.id)); closeMenus(); }}>Export ids</button>
                </Menu>
            </div>
            <Chips names={filters} />
            <div class="row between counts-row"><CountLine counts={counts.data?.counts ?? null} screen={kind} />
                {list.news > 0 && <button type="button" class="news" data-testid="news-pill" data-count={list.news} onClick={list.showNews}>{list.news >= 50 ? "50+" : list.news} new</button>}
            </div>
            {list.error && <Failure error={list.error} again={list.again} />}
            {list.isAsking && !list.rows.length ? <Loading rows={8} />
                : !list.rows.length ? (!list.error && (hasFilter ? <Nothing names={filters} screen={kind} scannedTo={list.scannedTo} older={list.older} /> : empty))
                : <div class="table-wrap"><table class="rows list">
                    <thead><tr><th class="narrow"><label class="hit"><input type="checkbox" aria-label="Select all on this page" data-testid="select-page" checked={isAll || isMatching} onChange={(event) => { setMatching(false); setSelected(event.currentTarget.checked ? new Set(list.rows.map((it) => it.id)) : new Set()); }} /></label></th>
                        {shown.map((it) => <th key={it.name} class={it.head}>{it.label}</th>)}</tr></thead>
                    <Rows items={list.rows} draw={draw} columns={shown.length + 1} />
                </table></div>}
            {list.rows.length > 0 && list.next && <p class="center"><button type="button" data-testid="older" disabled={list.isOlder} onClick={list.older}>{list.scannedTo ? "Search further back" : "Older"}</button></p>}
            {(selected.size > 0 || isMatching) && <BulkBar on={kind} ids={[...selected]} filter={isMatching ? Object.fromEntries([...new Set(params.keys())].map((name) => [name, name === "tag" ? params.getAll(name) : params.get(name)!])) : null} actions={BULK_ACTIONS[kind]} about={about}
                clear={clear} exportIds={() => ids(isMatching ? list.rows.map((it) => it.id) : selected)} matching={isAll && !isMatching && (list.next || hasFilter) && canBulk() ? () => setMatching(true) : null} />}
        </section>
    );
}

// keeping.tsx - how long history is kept, and what waits to be delivered to other systems.
//
// SPDX-License-Identifier: Apache-2.0
import { send } from "../base/api";
import { pageWithRaw, useAsk, useNews, type Raw } from "../base/ask";
import { plural, quoted, shortId, words } from "../base/text";
import { durationMs, exactDuration } from "../base/time";
import type { OutboxEntry, Page } from "../base/types";
import { may } from "../base/who";
import { Command, Copy, Failure, Loading, Text, Time } from "./bits";
import { sheet, type Field, type Values } from "./sheet";

// ---- retention -------------------------------------------------------------------------------------

type Kept = Record<string, number | null>;
interface Retention { jobs: Kept; instances: Kept; keys_ms: number | null; set_at: string | null }
type Row = [name: string, of: "jobs" | "instances" | "keys", status: string, ms: number | null];

const rowsOf = (it: Retention): Row[] => [
    ...(["jobs", "instances"] as const).flatMap((of) => Object.entries(it[of]).map(([status, ms]): Row => [`${of}-${status}`, of, status, ms])),
    ["keys", "keys", "", it.keys_ms],
];
const labelOf = ([, of, status]: Row): string => of === "keys" ? "keys, after their owner's end" : `${words(status)} ${of}`;
const keptWords = (ms: number | null): string => ms === null ? "for ever" : exactDuration(ms);
const keptText = (ms: number | null): string => ms === null ? "never" : exactDuration(ms);
const isNever = (text: string): boolean => text.trim() === "never";

function change(it: Retention, done: () => void): void {
    const rows = rowsOf(it), before = new Map(rows.map((row) => [row[0], keptText(row[3])]));
    const changed = (values: Values): Row[] => rows.filter(([name]) => values[name]?.trim() !== before.get(name));
    const read = (text: string): number | null => isNever(text) ? null : durationMs(text);
    sheet.value = {
        action: "retention-set", title: "How long history is kept", confirm: "Change", isDanger: true, done,
        sentence: "What ended longer ago than this is removed in the background, with everything that belongs to it. It cannot be brought back. What has not ended stays.",
        fields: rows.map((row): Field => ({ name: row[0], label: labelOf(row), kind: "text", isRequired: true, value: before.get(row[0])!, testId: `retention-${row[0]}`,
            hint: (values) => isNever(values[row[0]] ?? "") ? "kept for ever" : durationMs(values[row[0]] ?? "") === null ? "Such as 30d or 12h, or never." : "", flaw: (values) => isNever(values[row[0]] ?? "") || durationMs(values[row[0]] ?? "") !== null ? "" : "no duration" })),
        cli: (values) => {
            const part = (of: Row[1]) => changed(values).filter((row) => row[1] === of).map((row) => (row[2] ? `${row[2]}=` : "") + values[row[0]]!.replaceAll(" ", "")).join(",");
            const options = (["jobs", "instances", "keys"] as const).map((of) => [of, part(of)]).filter(([, text]) => text).map(([of, text]) => `--${of} ${quoted(text!)}`);
            return ["cairn retention", ...(options.length ? ["set", ...options] : [])].join(" ");
        },
        send: async (values) => {
            const rows = changed(values), of = (kind: Row[1]) => Object.fromEntries(rows.filter((row) => row[1] === kind).map((row) => [row[2], read(values[row[0]]!)]));
            if (!rows.length) return { text: "Nothing was changed." };
            const has = (kind: Row[1]) => rows.some((row) => row[1] === kind);
            await send("PUT", "/v1/retention", { ...(has("jobs") ? { jobs: of("jobs") } : {}), ...(has("instances") ? { instances: of("instances") } : {}), ...(has("keys") ? { keys_ms: of("keys")[""] } : {}) });
            return { text: `Changed: ${rows.map(labelOf).join(", ")}` };
        },
    };
}

export function RetentionPart() {
    const answer = useAsk<Retention>("/v1/retention"), it = answer.data;
    if (answer.error && !it) return <Failure error={answer.error} again={answer.again} />;
    if (!it) return <Loading rows={4} />;
    return (
        <section data-testid="retention">
            <div class="row between section-head"><h2>Retention</h2>{may("PUT", "/v1/retention") && <button type="button" data-testid="action-retention" onClick={() => change(it, answer.again)}>Change</button>}</div>
            <p class="muted">How long what has ended is kept{it.set_at ? <>, set <Time at={it.set_at} /></> : ", as the store was made"}. What has not ended stays, however old it is.</p>
            <dl class="facts">{rowsOf(it).flatMap((row) => [<dt key={row[0]}>{labelOf(row)}</dt>, <dd key={`${row[0]}+`} data-testid="retention-row" data-name={row[0]} data-ms={row[3] ?? "never"}>{keptWords(row[3])}</dd>])}</dl>
        </section>
    );
}

// ---- delivery --------------------------------------------------------------------------------------

const LIMIT = 20;

function Held({ it }: { it: OutboxEntry }) {
    if (it.dead_at) return <span>given up <Time at={it.dead_at} /></span>;
    return it.claimed_until ? <span>{it.claimed_by ? <>with <Text text={it.claimed_by} />, </> : "again "}<Time at={it.claimed_until} /></span> : <span>ready</span>;
}

type Entry = OutboxEntry & Raw;
const withPayload = pageWithRaw<OutboxEntry>("payload");

function Entries({ items, id }: { items: Entry[]; id: string }) {
    return (
        <div class="table-wrap"><table class="rows"><thead><tr><th>event</th><th>instance</th><th class="right">tries</th><th class="wide">last error</th><th>state</th><th class="right">sent out</th><th /></tr></thead><tbody>{items.map((it) => (
            <tr key={it.id} data-testid={id} data-id={it.id}><td class="c-key"><Text text={it.event} /></td><td data-label="instance"><a href={`instances/${it.instance_id}?tab=io`} class="mono">…{shortId(it.instance_id)}</a> <span class="muted"><Text text={it.step} /></span></td>
                <td class="right num" data-label="tries">{it.attempts}</td><td class="clip bad"><Text text={it.last_error ?? ""} /></td><td><Held it={it} /></td><td class="right c-time"><Time at={it.created_at} /></td>
                <td class="right"><Copy text={it.raw["payload"]!} id="copy-payload" label="Copy the payload" /></td></tr>))}</tbody></table></div>
    );
}

const countOf = (page: Page<OutboxEntry> | null): string => !page ? "" : `${page.items.length}${page.next ? "+" : ""}`;

export function DeliveryPart() {
    const waiting = useAsk<Page<Entry>>(`/v1/outbox?limit=${LIMIT}`, withPayload), dead = useAsk<Page<Entry>>(`/v1/outbox?status=dead&limit=${LIMIT}`, withPayload);
    useNews((digest) => digest.instances.length > 0, () => { waiting.again(); dead.again(); }, 10_000);
    const error = waiting.error ?? dead.error;
    if (error && !(waiting.data && dead.data)) return <Failure error={error} again={() => { waiting.again(); dead.again(); }} />;
    if (!waiting.data || !dead.data) return <Loading rows={3} />;
    const isUntouched = waiting.data.items.length > 0 && waiting.data.items.every((it) => !it.claimed_until && !it.attempts);
    return (
        <section data-testid="delivery">
            <h2>Delivery <span class="count">{countOf(waiting.data)} waiting · {countOf(dead.data)} given up</span></h2>
            {!waiting.data.items.length && !dead.data.items.length && <p class="muted" data-testid="empty" data-reason="done">No event waits to be delivered.</p>}
            {waiting.data.items.length > 0 && <><p class="muted">Events that handlers have emitted and nobody has acknowledged, oldest first. They go out in the order of their instance.{isUntouched && " No program has tried to deliver them. This one sends them to a URL:"}</p>
                {isUntouched && <p><Command text="cairn deliver --to https://shop.example/events" /></p>}<Entries items={waiting.data.items} id="outbox-waiting" /></>}
            {dead.data.items.length > 0 && <><h3>Given up</h3><p class="muted">{plural(dead.data.items.length, "event was", "events were")} refused too often. They are not sent again by themselves and hold nothing back. Mend the receiver, then send what it needs by hand: the payload can be copied, and <code>cairn outbox list --status dead -o json</code> prints them all.</p>
                <Entries items={dead.data.items} id="outbox-dead" /></>}
        </section>
    );
}

// limits.tsx - how many tasks of some types may run at one time, or begin in a time.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { send } from "../base/api";
import { useAsk, useNews } from "../base/ask";
import { query } from "../base/place";
import { one } from "../base/query";
import { grouped, plural, quoted } from "../base/text";
import { durationMs, exactDuration } from "../base/time";
import type { Limit, Page, TypeRow } from "../base/types";
import { may } from "../base/who";
import { Command, Failure, Loading, Text, Time } from "./bits";
import { sheet, type Field, type Values } from "./sheet";

const routeOf = (name: string): string => `/v1/limits/${encodeURIComponent(name)}`;
const matches = (pattern: string, type: string): boolean => pattern.endsWith("%") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** "100/1m": so many in that time; null: it is neither. */
export function readRate(text: string): { n: number; per_ms: number } | null {
    const found = /^\s*(\d+)\s*\/\s*(.+?)\s*$/.exec(text), per = found ? durationMs(/^\d/.test(found[2]!) ? found[2]! : `1${found[2]}`) : null;
    return found && per && Number(found[1]) > 0 ? { n: Number(found[1]), per_ms: per } : null;
}
const rateText = (rate: { n: number; per_ms: number }): string => `${rate.n}/${exactDuration(rate.per_ms).replaceAll(" ", "")}`;

/** "at most 2 at a time and 100 in 1m, for each group" */
function sayLimit(it: Pick<Limit, "concurrency" | "rate" | "per_group">): string {
    const parts = [...(it.concurrency ? [`${grouped(it.concurrency)} at a time`] : []), ...(it.rate ? [`${grouped(it.rate.n)} begin in ${exactDuration(it.rate.per_ms)}`] : [])];
    return `at most ${parts.join(" and ")}${it.per_group ? ", for each group" : ""}`;
}

// ---- make, change, remove --------------------------------------------------------------------------

function specOf(values: Values): { types: string; concurrency: number; rate: { n: number; per_ms: number } | null; per_group: boolean } {
    return { types: values["types"]!.trim(), concurrency: Number(values["concurrency"] || 0), rate: values["rate"]?.trim() ? readRate(values["rate"]) : null, per_group: values["per_group"] === "yes" };
}

function fieldsOf(it: Limit | null, types: string[]): Field[] {
    const isBare = (values: Values): boolean => !Number(values["concurrency"] || 0) && !values["rate"]?.trim();
    return [
        ...(it ? [] : [{ name: "name", label: "Name", kind: "text" as const, isRequired: true, testId: "limit-name" }]),
        { name: "types", label: "Types", kind: "text", isRequired: true, value: it?.types ?? "", options: types, hint: "A type, or all that begin alike: mail.%", testId: "limit-types" },
        { name: "concurrency", label: "At one time", kind: "number", value: it?.concurrency ? String(it.concurrency) : "", hint: "Any number if left empty.", testId: "limit-concurrency", flaw: (values) => isBare(values) ? "no limit" : Number(values["concurrency"] || 0) < 0 ? "too few" : "" },
        { name: "rate", label: "In a time", kind: "text", value: it?.rate ? rateText(it.rate) : "", testId: "limit-rate",
          hint: (values) => { const rate = readRate(values["rate"] ?? ""); return rate ? `${plural(rate.n, "task")} may begin in ${exactDuration(rate.per_ms)}.` : "Such as 100/1m. One of the two must be given."; }, flaw: (values) => !values["rate"]?.trim() || readRate(values["rate"]) ? "" : "no rate" },
        { name: "per_group", label: "For each group by itself, such as a tenant", kind: "check", value: it?.per_group ? "yes" : "", testId: "limit-per-group" },
    ];
}

function commandOf(name: string, values: Values): string {
    const it = specOf({ ...values, types: values["types"] || "PATTERN" });
    return `cairn limit set ${quoted(name || "NAME")} --types ${quoted(it.types)}${it.concurrency ? ` --concurrency ${it.concurrency}` : ""}${it.rate ? ` --rate ${rateText(it.rate)}` : ""}${it.per_group ? " --per-group" : ""}`;
}

function limitForm(it: Limit | null, types: string[], done: () => void): void {
    sheet.value = {
        action: "limit-set", title: it ? `Change ${it.name}` : "New limit", confirm: it ? "Change" : "Make", done, fields: fieldsOf(it, types),
        sentence: "It holds for all workers of the store. What runs already counts and stays; nothing new begins until there is a place.",
        cli: (values) => commandOf(it?.name ?? values["name"] ?? "", values),
        send: async (values) => {
            const name = it?.name ?? values["name"]!.trim(), { rate, ...spec } = specOf(values);
            await send("PUT", routeOf(name), { ...spec, ...(rate ? { rate } : {}) });
            return { text: `${it ? "Changed" : "Made"}: ${name}` };
        },
    };
}

function removeLimit(it: Limit, done: () => void): void {
    sheet.value = {
        action: "limit-remove", title: `Remove ${it.name}`, confirm: "Remove", isDanger: true, done,
        sentence: `Remove ${it.name}? Nothing but the number of workers holds ${it.types} back from then on, and what waits for a place is given out at once.`,
        cli: () => `cairn limit remove ${quoted(it.name)}`,
        send: async () => { await send("DELETE", routeOf(it.name)); return { text: `Removed: ${it.name}` }; },
    };
}

// ---- what is shown ---------------------------------------------------------------------------------

/** As the server counts; else what is leased and ready of the types that match. */
function useOf(it: Limit, types: TypeRow[]): { taken: number; waiting: number } {
    const mine = types.filter((type) => matches(it.types, type.type)), sum = (of: (type: TypeRow) => number): number => mine.reduce((all, type) => all + of(type), 0);
    return { taken: it.taken ?? sum((type) => type.leased), waiting: it.waiting ?? sum((type) => type.ready) };
}

function Row({ it, types, again }: { it: Limit; types: TypeRow[]; again: () => void }) {
    const { taken, waiting } = useOf(it, types), isAsked = one(query.value, "limit") === it.name, isFull = !it.per_group && it.concurrency > 0 && taken >= it.concurrency;
    useEffect(() => { if (isAsked) document.getElementById("limit-asked")?.scrollIntoView({ block: "center" }); }, [isAsked]);
    return (
        <tr id={isAsked ? "limit-asked" : undefined} class={isAsked ? "marked" : undefined} data-testid="limit-row" data-name={it.name} data-taken={taken} data-waiting={waiting}>
            <td class="c-key"><Text text={it.name} /></td><td class="mono" data-label="types"><Text text={it.types} /></td><td class="c-when wide">{sayLimit(it)}</td>
            <td class="right num" data-label="taken">{grouped(taken)}{it.concurrency > 0 && !it.per_group && ` of ${grouped(it.concurrency)}`}{isFull && <span class="warn"> full</span>}</td>
            <td class="right num" data-label="waiting">{grouped(waiting)}</td><td class="right wide-screen" data-label="set"><Time at={it.updated_at} /></td>
            <td class="right nowrap c-buttons">{may("PUT", "/v1/limits/{name}") && <button type="button" data-testid="action-limit-edit" onClick={() => limitForm(it, types.map((type) => type.type), again)}>Change</button>} {may("DELETE", "/v1/limits/{name}") && <button type="button" data-testid="action-limit-remove" onClick={() => removeLimit(it, again)}>Remove</button>}</td>
        </tr>
    );
}

export function LimitsPart({ types }: { types: TypeRow[] }) {
    const page = useAsk<Page<Limit>>("/v1/limits?limit=200"), items = page.data?.items;
    useNews(() => true, page.again, 5000);
    return (
        <section data-testid="limits">
            <div class="row between section-head"><h2>Limits</h2>{may("PUT", "/v1/limits/{name}") && <button type="button" data-testid="action-limit-new" onClick={() => limitForm(null, types.map((type) => type.type), page.again)}>New limit</button>}</div>
            {page.error && !items ? <Failure error={page.error} again={page.again} /> : !items ? <Loading rows={2} />
                : !items.length ? <p class="muted">None: as many tasks run as workers have places. <Command text="cairn limit set mail --types 'mail.%' --rate 100/1m" /></p>
                : <div class="table-wrap"><table class="rows"><thead><tr><th>name</th><th>types</th><th class="wide">allows</th><th class="right">taken</th><th class="right">waiting</th><th class="right wide-screen">set</th><th /></tr></thead><tbody>{items.map((it) => <Row key={it.name} it={it} types={types} again={page.again} />)}</tbody></table></div>}
        </section>
    );
}

// why.tsx - the sentence that says what something waits for, with the click that helps.
//
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { here } from "../base/place";
import { visible } from "../base/text";
import type { Why, WhyAction, WhyRow } from "../base/types";
import { may } from "../base/who";
import { Copy, Id, Text, Time, Until } from "./bits";

/** Here, and not beside the actions themselves: lists show reasons, and the sheets of actions are loaded when they are first needed. */
export const ACTION_NAMES: Record<string, string> = {
    signal: "Signal", retry: "Retry", resume: "Resume", "resume-force": "Accept new code", pause: "Pause", cancel: "Cancel", abort: "Abort", restart: "Restart", rerun: "Rerun", limit: "Limits",
    "start-again": "Start again", approve: "Approve", reject: "Reject", requeue: "Requeue", "job-cancel": "Cancel", "job-retry": "Retry", "job-delete": "Delete",
    "type-enable": "Switch on", workers: "Workers", about: "About", doctor: "Doctor", start: "Start", edit: "Edit and requeue", force: "Accept new code",
};

/** Times within a text of the server, such as the reason of a child. */
const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;
const isTime = (value: unknown): value is string => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);

/** What a sentence is made of. */
type Said = Pick<WhyRow, "code" | "template" | "values">;

/** A name that leads somewhere is a link. */
function Value({ name, value, why }: { name: string; value: string; why: Said }) {
    if (name === "id" && why.code === "child") return <a href={`instances/${value}`} data-testid="why-link"><Id id={value} /></a>;
    if (name === "limit" && may("GET", "/v1/limits")) return <a href={`workers?limit=${encodeURIComponent(value)}`} data-testid="why-link"><Text text={value} /></a>;
    if (name === "why") return <>{value.split(TIMES).map((part, index) => index % 2 ? <Time key={index} at={part} /> : <Text key={index} text={part} />)}</>;
    return <b><Text text={value} /></b>;
}

/** The template with times as this page shows them; text stays text. */
export function Sentence({ why }: { why: Said }) {
    const parts: ComponentChildren[] = [];
    let last = 0;
    for (const found of why.template.matchAll(/\{(\w+)\}/g)) {
        const before = why.template.slice(last, found.index);
        const value = why.values[found[1]!];
        const Moment = /(until|since) $/.test(before) ? Until : Time;
        parts.push(before, isTime(value) ? <Moment key={last} at={value} /> : <Value key={last} name={found[1]!} value={String(value ?? "")} why={why} />);
        last = found.index + found[0].length;
    }
    parts.push(why.template.slice(last));
    return <span>{parts}</span>;
}

/** The whole sentence, where there is room for its beginning only. */
const plain = (why: Said): string => why.template.replace(/\{(\w+)\}/g, (_, name: string) => String(why.values[name] ?? ""));

export const WhyLine = ({ why }: { why: Said }) => <span data-testid="why" data-code={why.code} title={visible(plain(why))}><Sentence why={why} /></span>;

/** These change when workers come and go, of which no event tells; the rest of the time an open page asks nothing. */
const BY_WORKERS = new Set(["unknown", "unserved", "no_runtime", "limited", "about_to", "busy", "unclaimed", "job_ready"]);
export const whyEveryMs = (whys: Why[]): number => whys.some((it) => BY_WORKERS.has(it.code)) ? 30_000 : 0;

const SHOWN = 3;

export function WhyBox({ whys, allowed, act, more }: { whys: Why[]; more?: ComponentChildren; allowed: (action: string) => boolean; act: (action: WhyAction, why: Why) => void }) {
    const [isOpen, setOpen] = useState(false);
    const shown = isOpen ? whys : whys.slice(0, SHOWN);
    return (
        <section class="why-box" aria-label="Why">
            {shown.map((why, index) => (
                <div key={`${why.code}${why.seq ?? ""}${index}`} class={`why u-${why.urgency}`} data-testid="why" data-code={why.code}>
                    {whys.length > 1 && why.step !== null && why.seq !== null && <a data-testid="why-step" href={here({ step: String(why.seq) })}><Text text={why.step} /></a>}
                    <p data-testid="why-text"><Sentence why={why} /></p>
                    <div class="row">
                        {index === 0 && more}
                        {why.code === "mapping" && why.seq !== null && <a href={here({ tab: "steps", map: String(why.seq), step: null })} data-testid="why-link">Show the elements</a>}
                        {why.actions.filter((it) => allowed(it.action)).map((it) => (
                            <button key={it.action} type="button" data-testid="why-action" data-action={it.action} onClick={() => act(it, why)}>{ACTION_NAMES[it.action] ?? it.action}</button>
                        ))}
                        {why.actions[0]?.cli && <Copy text={why.actions[0].cli} id="copy-cli" label={`Copy: ${why.actions[0].cli}`} />}
                    </div>
                </div>
            ))}
            {whys.length > SHOWN && !isOpen && <button type="button" class="quiet" onClick={() => setOpen(true)}>and {whys.length - SHOWN} more</button>}
        </section>
    );
}

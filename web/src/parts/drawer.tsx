// drawer.tsx - one step: why it stands where it does, its calls, what went in and came out.
//
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, askText } from "../base/api";
import { useAsk, withRaw, type Raw } from "../base/ask";
import { eachElement, namesBefore, type Element } from "../base/layout";
import { here, query, setQuery } from "../base/place";
import { one } from "../base/query";
import { format, member, rawOf, scan } from "../base/scan";
import { visible, words } from "../base/text";
import type { Decision, Event, Instance, Page, StepAttempt, StepRow, StepWhole, Why, WhyAction } from "../base/types";
import { may } from "../base/who";
import { decide, rerun, type RerunFrom } from "./actions";
import { Command, Loading, Status, Text, Time, Took } from "./bits";
import { ChildPart, type Family } from "./children";
import { isAwaited, note } from "./happened";
import { Difference, Json, RemoteJson } from "./json";
import { Drawer } from "./sheet";
import { WhyBox } from "./why";

const ENDS = /^step_(completed|retry|failed|skipped|waiting|paused|pending)|^compensation_|^(succeeded|failed|retried|cancelled)$/;

/** Calls of a step, from its events: started to its end. */
export function attemptsOf(events: Event[] | undefined, name: string | null): StepAttempt[] | null {
    if (!events) return null;
    const attempts: StepAttempt[] = [];
    const text = (data: unknown, key: string) => { const value = (data as Record<string, unknown> | null)?.[key]; return typeof value === "string" || typeof value === "number" ? String(value) : ""; };
    for (const it of events) {
        if (name !== null && it.step !== name) continue;
        const last = attempts.at(-1);
        if (it.type === "step_started" || it.type === "leased" || it.type === "compensation_started")
            attempts.push({ n: attempts.length + 1, kind: it.type === "compensation_started" ? "undo" : "call", worker: text(it.data, "worker"), started_at: it.at, ended_at: null, outcome: "running", error: "" });
        else if (last && !last.ended_at && ENDS.test(it.type)) {
            last.ended_at = it.at;
            last.outcome = it.type.replace(/^(step|compensation)_/, "");
            last.error = text(it.data, "error");
        }
    }
    return attempts;
}

/** What the address calls it: calls and those that undo are counted each for themselves. */
const attemptName = (it: StepAttempt): string => `${it.kind === "undo" ? "undo-" : ""}${it.n}`;

/** `null`: it is not known yet whether it was called. */
export function Attempts({ items }: { items: StepAttempt[] | null }) {
    const chosen = one(query.value, "attempt"), row = useRef<HTMLTableRowElement>(null), isThere = !!items?.some((it) => attemptName(it) === chosen);
    useLayoutEffect(() => { if (isThere) row.current?.scrollIntoView({ block: "nearest" }); }, [chosen, isThere]);
    if (!items) return <Loading rows={1} />;
    if (!items.length) return <p class="muted" data-testid="empty" data-reason="none">Not called yet.</p>;
    return (
        <div class="table-wrap"><table class="rows"><tbody>{items.map((it, index) => (
            <tr key={index} data-testid="attempt-row" data-attempt={attemptName(it)} data-outcome={it.outcome ?? "running"} {...(attemptName(it) === chosen ? { ref: row, class: "marked", "aria-current": "true" } : {})}><td class="num"><a href={here({ attempt: attemptName(it) })} aria-label={`Link to ${it.kind} ${it.n}`}>{it.n}</a></td><td class="nowrap">{it.kind === "undo" && <span class="pill g-undo">undo</span>} <Text text={it.worker ?? ""} /></td><td class="nowrap"><Time at={it.started_at} /></td><td class="num nowrap"><Took from={it.started_at} to={it.ended_at} /></td>
                <td class="nowrap">{words(it.outcome ?? "running")}</td><td class="bad wide"><Text text={it.error ?? ""} /></td></tr>))}</tbody></table></div>
    );
}

/** The members of an answer as they stand in it, so that no digit is lost. */
export function useRaw(target: string | null, names: string[]): { texts: Record<string, string> | null; again: () => void } {
    const answer = useAsk<Raw>(target, withRaw<object>(...names));
    return { texts: answer.data?.raw ?? null, again: answer.again };
}

export function Payload({ id, title, text, name, none = "–" }: { id: string; title: string; text: string | undefined; name: string; none?: string }) {
    return <section data-testid={id}><h3>{title}</h3>{text === undefined ? <Loading rows={2} /> : text === "null" ? <p class="muted">{none}</p> : <Json text={text} name={name} />}</section>;
}

/** From a route of its own, if the server has one; `count` says that it may have changed. */
export function RemotePayload({ id, title, route, size, name, none = "–", otherwise }: { id: string; title: string; route: string; size: number | null | undefined; name: string; none?: string; otherwise: (signal: AbortSignal) => Promise<string> }) {
    const hasRoute = may("GET", route.replace(/\/[0-9a-f-]{36}(\.\d+)?\//, "/{id}/").replace(/\/dlq\/\d+\//, "/dlq/{id}/"));
    return <section data-testid={id}><h3>{title}</h3>{size === 0 ? <p class="muted">{none}</p> : <RemoteJson load={hasRoute ? (signal) => askText("GET", route, undefined, signal) : otherwise} size={size} name={name} />}</section>;
}

const pretty = (text: string): string => { try { return format(text); } catch { return text; } };

/** A step's member out of the list of all steps, for servers without a route of its own. */
async function fromList(instance: string, seq: number, name: string, signal: AbortSignal): Promise<string> {
    const text = await askText("GET", `/v1/instances/${instance}/steps?limit=1000`, undefined, signal), items = member(text, scan(text), "items");
    const found = items?.items?.find((it) => { const at = member(text, it, "seq"); return at && rawOf(text, at) === String(seq); });
    const part = found && member(text, found, name);
    return part ? rawOf(text, part) : "null";
}

const payloadOf = (instance: string, step: StepRow, name: "input" | "output", signal: AbortSignal): Promise<string> =>
    may("GET", `/v1/steps/{id}/${name}`) ? askText("GET", `/v1/steps/${step.id}/${name}`, undefined, signal) : fromList(instance, step.seq, name, signal);

/** What the step before gave, and what of it this one got. */
function InputDiff({ instance, step, previous }: { instance: string; step: StepRow; previous: StepRow }) {
    const texts = useAsk<[string, string]>(`${previous.id} ${step.id}`, (_, signal) => Promise.all([payloadOf(instance, previous, "output", signal), payloadOf(instance, step, "input", signal)]));
    if (texts.error) return <p class="bad">{visible(texts.error.message)}</p>;
    if (!texts.data) return <Loading rows={2} />;
    return texts.data[0] === texts.data[1] ? <p class="muted">The input is the output of {visible(previous.name)}, unchanged.</p> : <Difference before={pretty(texts.data[0])} after={pretty(texts.data[1])} />;
}

/** What the step was given. One that was not reached would get what the step before has left, unless its file makes its input. */
function rerunFrom(instance: string, step: StepRow, steps: StepRow[], plan: Element[], previous: StepRow | undefined): RerunFrom {
    let isMade = false;
    eachElement(plan, (it) => { if (it.name === step.name) isMade = !!it.isMade; });
    const before = new Set(namesBefore(plan, step.name) ?? []), signal = new AbortController().signal;
    const copied = steps.filter((it) => before.has(it.name) && ["completed", "confirmed"].includes(it.status) && !["condition", "fork", "join", "save_point"].includes(it.kind)).length;
    const input = async (): Promise<string> => {
        if (step.input_preview !== null) return payloadOf(instance, step, "input", signal);
        if (isMade) return "";
        return previous && previous.output_preview !== null ? payloadOf(instance, previous, "output", signal) : step.seq === 0 ? askText("GET", `/v1/instances/${instance}/input`) : "";
    };
    return { step: step.name, input, copied };
}

export function StepDrawer({ instance, step, steps, plan, canRerun, undo, whys, family, count, reload, act, allowed }: { instance: Instance; step: StepRow; steps: StepRow[]; plan: Element[]; canRerun: boolean; undo: string | undefined; whys: Why[]; family: Family; count: number; reload: () => void; act: (action: WhyAction, why: Why) => void; allowed: (action: string) => boolean }) {
    const hasRoute = may("GET", "/v1/steps/{id}");
    const [hasDiff, setDiff] = useState(false);
    const whole = useAsk<StepWhole & Raw>(hasRoute ? `/v1/steps/${step.id}` : null, withRaw<StepWhole>("metadata"));
    const events = useAsk<Page<Event>>(hasRoute ? null : `/v1/instances/${instance.id}/events?limit=1000`);
    const decisions = useAsk<Page<Decision>>(step.kind === "human" ? `/v1/instances/${instance.id}/decisions?limit=100` : null, (target, signal) => ask<Page<Decision>>(target, signal));
    useEffect(() => { if (count) { whole.again(); events.again(); decisions.again(); } }, [count]);
    const attempts = whole.data?.attempts_list ?? attemptsOf(events.data?.items, step.name);
    const close = () => setQuery({ step: null, attempt: null });
    const at = steps.findIndex((it) => it.seq === step.seq), next = steps[at + 1], before = steps[at - 1];
    // Of a server that says whose output went in, nothing is guessed.
    const previous = hasRoute ? steps.find((it) => it.seq === whole.data?.previous_seq) : before;
    const mine = whole.data?.why ? [whole.data.why] : whys.filter((it) => it.seq === step.seq);
    const allowedHere = (action: string) => action !== "approve" && action !== "reject" && allowed(action);
    const canDecide = step.status === "waiting_decision" && may("POST", "/v1/instances/{id}/steps/{step}/decision");
    const asked = { id: instance.id, key: instance.key ?? null, step: step.name };
    const decision = decisions.data?.items.filter((it) => it.step === step.name).at(-1);
    const metadata = whole.data?.raw["metadata"] ?? "null", isCalled = step.kind === "task" || step.kind === "function";
    return (
        <Drawer title={<><Text text={step.name} /> <Status status={step.status} of="step" /></>} onClose={close}>
            <p class="row"><span class="muted">{family.get(step.seq)?.tally ? "map" : words(step.kind)}{step.handler && <> · <Text text={step.handler} mono /></>}</span>
                <span class="grow" />{before && <a href={here({ step: String(before.seq), attempt: null })}>‹ previous</a>}{next && <a href={here({ step: String(next.seq), attempt: null })}>next ›</a>}</p>
            {mine.length > 0 ? <WhyBox whys={mine} allowed={allowedHere} act={act} /> : note(step) && <p class="note">{note(step)}</p>}
            {canDecide && <div class="row"><button type="button" class="primary" data-testid="action-approve" onClick={() => decide(true, asked, reload)}>Approve</button>
                <button type="button" data-testid="action-reject" onClick={() => decide(false, asked, reload)}>Reject</button></div>}
            {canRerun && step.kind !== "join" && <div class="row"><button type="button" data-testid="action-rerun" disabled={hasRoute && !whole.data && !whole.error} onClick={() => void rerun(instance as never, rerunFrom(instance.id, step, steps, plan, previous))}>Rerun from here</button></div>}
            {decision && <p class="note" data-testid="decision">{decision.decision === "confirmed" ? "Approved" : "Rejected"} by <b><Text text={decision.by} /></b> <Time at={decision.at} />{decision.comment && <>: <Text text={decision.comment} /></>}</p>}
            <dl class="facts">
                <dt>started</dt><dd><Time at={step.started_at} /></dd><dt>ended</dt><dd><Time at={step.finished_at} />{step.started_at && step.finished_at && <span class="muted">, took <Took from={step.started_at} to={step.finished_at} /></span>}</dd>
                {step.deadline_at && <><dt>deadline</dt><dd><Time at={step.deadline_at} /></dd></>}
                {isAwaited(step) && <><dt>next call</dt><dd><Time at={step.next_run_at} /></dd></>}
                {step.locked_by && <><dt>worker</dt><dd><Text text={step.locked_by} />{step.locked_until && <>, lease until <Time at={step.locked_until} /></>}</dd></>}
                {isCalled && <><dt>failed calls</dt><dd>{step.attempts} of {step.max_attempts}</dd></>}
                {undo && <><dt>undone by</dt><dd><Text text={undo} mono />{step.compensation_attempts > 0 && <span class="muted">, {step.compensation_attempts} failed calls</span>}{step.undo_error && <span class="bad"> <Text text={step.undo_error} /></span>}</dd></>}
                {isCalled && <><dt>priority</dt><dd>{step.priority}</dd></>}
            </dl>
            <ChildPart step={step} nested={family.get(step.seq)} />
            {(isCalled || !!attempts?.length) && <><h3>Calls</h3><Attempts items={attempts} /></>}
            <RemotePayload key={`in${step.id}${step.status}`} id="payload-input" title="Input" route={`/v1/steps/${step.id}/input`} size={step.input_preview === null ? 0 : step.input_bytes} name={`${step.name}-input`} otherwise={(signal) => fromList(instance.id, step.seq, "input", signal)} />
            {previous && step.input_preview !== null && <p><button type="button" class="quiet" data-testid="diff-input" aria-expanded={hasDiff} onClick={() => setDiff(!hasDiff)}>Compare with the output of {visible(previous.name)}</button></p>}
            {hasDiff && previous && <InputDiff instance={instance.id} step={step} previous={previous} />}
            <RemotePayload key={`out${step.id}${step.status}`} id="payload-output" title="Output" route={`/v1/steps/${step.id}/output`} size={step.output_preview === null ? 0 : step.output_bytes} name={`${step.name}-output`} none={step.finished_at ? "None." : "Not there yet."} otherwise={(signal) => fromList(instance.id, step.seq, "output", signal)} />
            {metadata !== "null" && <Payload id="payload-metadata" title="Metadata" text={metadata} name={`${step.name}-metadata`} />}
            <p><a href={here({ tab: "events", of: step.name, step: null })}>Events of this step</a></p>
            <Command text={`cairn show ${instance.id}`} />
        </Drawer>
    );
}

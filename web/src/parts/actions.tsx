// actions.tsx - what can be done to instances and jobs: each opens a sheet.
//
// SPDX-License-Identifier: Apache-2.0
import { ask, askText, send } from "../base/api";
import { go } from "../base/place";
import { plural, quoted, shortId, words } from "../base/text";
import { durationMs } from "../base/time";
import type { Instance, InstanceRow, JobRow, Page, RegistryEntry, StepRow, Why } from "../base/types";
import { actor, may } from "../base/who";
import { member, rawOf, scan } from "../base/scan";
import { atCli, existingCli, existingField, existingOf, startForm } from "./start";
import { sheet, type Field, type Meanwhile, type SheetSpec, type Values } from "./sheet";
import { ACTION_NAMES } from "./why";

type Subject = Pick<InstanceRow, "id" | "key" | "status" | "workflow" | "version">;

const nameOf = (it: { id: string; key?: string | null }): string => it.key || `…${shortId(it.id)}`;
/** `by` is left out where the token has a name. */
const withBy = (values: Values, more: object = {}): object => ({ ...(values["by"] ? { by: values["by"] } : {}), ...more });

const REASON: Field = { name: "reason", label: "Reason", kind: "area", isRequired: true };

interface Verb {
    title: string;
    sentence: (it: Subject, steps: StepRow[], whys: Why[]) => string;
    fields?: Field[];
    isDanger?: boolean;
    isTyped?: boolean;
    path?: string;
    done: string;
    statuses: string[];
    body?: (values: Values) => object | undefined;
    cli: (id: string, values: Values) => string;
}

const OPEN = ["pending", "running", "waiting_signal", "paused", "dlq", "compensating"];
const completed = (steps: StepRow[]) => steps.filter((it) => it.kind === "task" && it.status === "completed");
function undoText(steps: StepRow[]): string {
    const done = completed(steps), none = done.filter((it) => (it as { has_compensation?: boolean }).has_compensation === false).length;
    return `${plural(done.length, "completed step")} will be undone, the latest first${none ? `; ${none} of them ${none === 1 ? "has" : "have"} nothing to undo` : ""}.`;
}
const stop = (verb: string) => (id: string, values: Values) => `cairn ${verb} ${id} --by ${quoted(values["by"] || actor() || "you")} --reason ${quoted(values["reason"] || "…")}`;

const VERBS: Record<string, Verb> = {
    pause: {
        title: "Pause", statuses: ["running", "waiting_signal"], done: "Paused", fields: [{ name: "reason", label: "Reason", kind: "area" }],
        cli: (id, values) => `cairn pause ${id}${values["by"] ? ` --by ${quoted(values["by"])}` : ""}${values["reason"] ? ` --reason ${quoted(values["reason"])}` : ""}`,
        body: (values) => withBy(values, values["reason"] ? { reason: values["reason"] } : {}),
        sentence: (it) => `Pause ${nameOf(it)}? What runs may finish and its result is kept. Nothing new starts until you resume.`,
    },
    resume: {
        title: "Resume", statuses: ["paused"], done: "Resumed", cli: (id) => `cairn resume ${id}`,
        sentence: (_, steps, whys) => {
            const failed = steps.find((it) => it.status === "failed");
            // Steps keep their status while they are held: the server counts them.
            const held = whys.find((it) => it.code === "paused_by")?.values["n"];
            return failed ? `${failed.name} is called again with fresh attempts.` : typeof held === "number" ? `Resume? ${held} held ${held === 1 ? "step goes" : "steps go"} on.` : "Resume? What is held goes on.";
        },
    },
    "resume-force": {
        title: "Resume with the new code", statuses: ["paused"], done: "Resumed", path: "resume", isDanger: true, isTyped: true, cli: (id) => `cairn resume ${id} --force`,
        sentence: () => "Accept the new code? What matches answers from memory; everything else is executed anew and may be called twice.",
        body: () => ({ force: true }),
    },
    cancel: {
        title: "Cancel", statuses: ["pending", "running", "waiting_signal", "paused", "dlq"], done: "Cancelled", fields: [REASON], isDanger: true, cli: stop("cancel"),
        sentence: (_, steps) => `Cancel and undo? ${undoText(steps)}`,
        body: (values) => withBy(values, { reason: values["reason"] }),
    },
    abort: {
        title: "Abort", statuses: OPEN, done: "Aborted", fields: [REASON], isDanger: true, cli: stop("abort"),
        sentence: () => "Abort and undo nothing? Completed steps stay as they are.",
        body: (values) => withBy(values, { reason: values["reason"] }),
    },
    retry: {
        title: "Retry", statuses: ["failed"], done: "Goes on with fresh attempts", cli: (id) => `cairn retry ${id}`,
        sentence: () => "Try again? Failed, undone and stopped steps get fresh attempts; completed ones stay.",
    },
    restart: {
        title: "Restart", statuses: ["running", "waiting_signal", "paused", "dlq", "completed", "failed", "cancelled", "aborted"], done: "Began anew", isDanger: true,
        cli: (id) => `cairn restart ${id}`,
        sentence: () => "Begin anew from the original input? Nothing is undone first; every step is called again.",
    },
};

const changedTo = (status: string): string => `It has changed meanwhile: now ${words(status)}.`;

/** For a sheet whose action came too late: how the instance stands, and what can be done to it now. */
async function instanceNow(id: string, known: StepRow[], done: () => void): Promise<Meanwhile> {
    const it = await ask<Instance>(`/v1/instances/${id}`), whys = it.why ? [it.why] : [], byName = new Map(known.map((step) => [step.name, step]));
    const open = async (action: string): Promise<void> => {
        if (action === "signal") return signalAction(it, [], done);
        if (action === "rerun") return rerun(it, null);
        if (action === "start-again") return startAgain(it);
        const steps = (await ask<Page<StepRow>>(`/v1/instances/${id}/steps?view=row&limit=1000`)).items;
        instanceAction(action, it, steps.map((step) => ({ ...byName.get(step.name), ...step })), done, whys);
    };
    const actions = instanceActions(it.status, { isMismatched: it.why?.code === "paused_mismatch", isElement: it.workflow.includes(":") });
    return { text: changedTo(it.status), actions: actions.map((name) => ({ name, label: ACTION_NAMES[name]!, open: () => void open(name) })) };
}

async function jobNow(id: string, done: () => void): Promise<Meanwhile> {
    const it = await ask<Pick<JobRow, "id" | "type" | "status">>(`/v1/jobs/${id}`);
    return { text: changedTo(it.status), actions: jobActions(it.status).map((name) => ({ name, label: ACTION_NAMES[name]!, open: () => jobAction(name, it, done) })) };
}

async function decidedBy(id: string, step: string, done: () => void): Promise<Meanwhile> {
    const page = await ask<{ items: { step: string; decision: string; by: string }[] }>(`/v1/instances/${id}/decisions?limit=100`);
    const found = page.items.filter((it) => it.step === step).at(-1);
    return found ? { text: `Already ${found.decision === "confirmed" ? "approved" : "rejected"} by ${found.by}.`, actions: [] } : instanceNow(id, [], done);
}

export function instanceAction(action: string, it: Subject, steps: StepRow[], done: () => void, whys: Why[] = []): void {
    const verb = VERBS[action];
    if (!verb) return;
    sheet.value = {
        explain: () => instanceNow(it.id, steps, done),
        action, title: `${verb.title} ${nameOf(it)}`, sentence: verb.sentence(it, steps, whys), confirm: verb.title.split(" ")[0]!, isDanger: !!verb.isDanger,
        fields: verb.fields ?? [], hasBy: !!verb.fields, isByOptional: action === "pause", done, cli: (values) => verb.cli(it.id, values),
        ...(verb.isTyped ? { typed: it.key || shortId(it.id) } : {}),
        send: async (values) => {
            await send("POST", `/v1/instances/${it.id}/${verb.path ?? action}`, verb.body?.(values));
            return { text: `${verb.done}: ${nameOf(it)}` };
        },
    };
}

/** Those that status and role allow, in the order of their buttons. */
export function instanceActions(status: string, { isMismatched = false, isElement = false }: { isMismatched?: boolean; isElement?: boolean } = {}): string[] {
    return ["signal", "retry", "resume", "resume-force", "pause", "cancel", "abort", "restart", "rerun", "start-again"].filter((action) => {
        if (action === "signal") return ["running", "waiting_signal", "paused", "pending"].includes(status) && may("POST", "/v1/instances/{id}/signal");
        // The part of a workflow that a map runs cannot be started by itself; but one of its instances can be run again.
        if (action === "start-again") return !isElement && may("POST", "/v1/instances");
        if (action === "rerun") return mayRerun();
        if (action === "resume-force" && !isMismatched) return false;
        const verb = VERBS[action]!;
        return verb.statuses.includes(status) && may("POST", `/v1/instances/{id}/${verb.path ?? action}`);
    });
}

const RERUN = "/v1/instances/{id}/rerun";
export const mayRerun = (): boolean => may("POST", RERUN);

/** What an instance is run again from: a step, its input, and which steps before it have ended; null is its beginning. */
export interface RerunFrom { step: string; input: () => Promise<string>; copied: number }

export async function rerun(it: Subject, from: RerunFrom | null): Promise<void> {
    const original = from ? await from.input() : await rawMember(`/v1/instances/${it.id}`, "input"), mine = nameOf(it);
    sheet.value = {
        action: "rerun", title: `Rerun ${mine}${from ? ` from ${from.step}` : ""}`, confirm: "Rerun",
        sentence: from ? `A new instance begins at ${from.step}. ${from.copied ? `${plural(from.copied, "step")} before it ${from.copied === 1 ? "is" : "are"} copied with what ${from.copied === 1 ? "it" : "they"} gave, and never undone by the new one; ` : ""}${from.step} and all that follows, or stands in another branch, is called again. ${mine} stays as it is.`
            : `A new instance begins with this input, and calls every step again. ${mine} stays as it is, and keeps its key.`,
        fields: [{ name: "input", label: from ? `Input of ${from.step}` : "Input", kind: "json", value: original, original, testId: "json-editor" }],
        cli: (values) => `cairn rerun ${it.id}${from ? ` --from ${quoted(from.step)}` : ""}${values["input"] && values["input"] !== original ? ` --input ${quoted(values["input"])}` : ""}`,
        send: async (values) => {
            const head = JSON.stringify(from ? { from: from.step } : {}).slice(0, -1), isChanged = values["input"] && values["input"] !== original;
            const answer = await send<{ id: string }>("POST", `/v1/instances/${it.id}/rerun`, `${head}${isChanged ? `${from ? "," : ""}"input":${values["input"]}` : ""}}`);
            go(`instances/${answer.id}`);
            return { text: `Runs again${from ? ` from ${from.step}` : ""}: ${nameOf(answer)}` };
        },
    };
}

export function signalAction(it: Subject, events: string[], done: () => void): void {
    sheet.value = {
        explain: () => instanceNow(it.id, [], done),
        action: "signal", title: `Send a signal to ${nameOf(it)}`, sentence: "The step that waits for this event goes on with its payload.", confirm: "Send", done,
        fields: [
            { name: "event", label: "Event", kind: "text", isRequired: true, value: events[0] ?? "", options: events },
            { name: "payload", label: "Payload", kind: "json", value: "null", testId: "payload" },
            { name: "id", label: "Id", kind: "text", value: crypto.randomUUID?.() ?? String(Math.random()).slice(2), hint: "A known id changes nothing." },
            { name: "keep", label: "Keep it if nothing waits for it", kind: "check", value: "yes" },
        ],
        cli: (values) => `cairn signal ${it.id} ${quoted(values["event"] || "EVENT")}${values["payload"] && values["payload"] !== "null" ? ` --payload ${quoted(values["payload"])}` : ""}${values["id"] ? ` --id ${quoted(values["id"])}` : ""}${values["keep"] ? "" : " --no-latch"}`,
        send: async (values) => {
            const start = JSON.stringify({ event: values["event"], ...(values["id"] ? { id: values["id"] } : {}), ...(values["keep"] ? {} : { latch: "off" }) });
            const body = `${start.slice(0, -1)},"payload":${values["payload"] || "null"}}`;
            const answer = await send<{ existing: boolean; taken: boolean; kept: boolean }>("POST", `/v1/instances/${it.id}/signal`, body);
            return { text: answer.existing ? "This id was known; nothing changed." : answer.taken ? "Taken: the step goes on." : answer.kept ? "Kept until a step waits for it." : "Nothing waited for it, and it was not kept." };
        },
    };
}

export function decide(isApproved: boolean, it: { id: string; key: string | null; step: string }, done: () => void, changed?: () => void): void {
    sheet.value = {
        explain: () => decidedBy(it.id, it.step, done),
        action: isApproved ? "approve" : "reject", confirm: isApproved ? "Approve" : "Reject", isDanger: !isApproved, hasBy: true, done, ...(changed ? { changed } : {}),
        title: `${isApproved ? "Approve" : "Reject"} ${it.step} of ${nameOf(it)}`,
        sentence: isApproved ? `Approve ${it.step} of ${nameOf(it)}? The next step starts at once.` : "Reject? The instance is aborted; nothing is undone.",
        fields: [{ name: "comment", label: "Comment", kind: "area", isRequired: !isApproved }],
        cli: (values) => `cairn ${isApproved ? "approve" : "reject"} ${it.id} ${quoted(it.step)} --by ${quoted(values["by"] || "you")}${values["comment"] ? ` --comment ${quoted(values["comment"])}` : ""}`,
        send: async (values) => {
            await send("POST", `/v1/instances/${it.id}/steps/${encodeURIComponent(it.step)}/decision`,
                       withBy(values, { decision: isApproved ? "confirmed" : "rejected", ...(values["comment"] ? { comment: values["comment"] } : {}) }));
            return { text: `${isApproved ? "Approved" : "Rejected"} by ${values["by"] || actor()}: ${nameOf(it)}`, to: `instances/${it.id}` };
        },
    };
}

/** A member of an answer, with the bytes that it has there. */
export async function rawMember(target: string, name: string): Promise<string> {
    const text = await askText("GET", target);
    const found = member(text, scan(text), name);
    return found ? rawOf(text, found) : "null";
}

/** `instance`: whose it is, for the link behind what was done. */
export async function requeue(record: string, step: string, isEdited: boolean, done: () => void, instance?: string): Promise<void> {
    const original = await rawMember(`/v1/dlq/${record}`, "input");
    const spec: SheetSpec = {
        explain: async () => instanceNow((await ask<{ instance_id: string }>(`/v1/dlq/${record}`)).instance_id, [], done),
        action: "requeue", title: `Requeue ${step}`, confirm: "Requeue", done,
        sentence: `Call ${step} again${isEdited ? " with this input" : " with the input as it was"}? It gets fresh attempts.`,
        fields: isEdited ? [{ name: "input", label: "Input", kind: "json", value: original, original, testId: "json-editor" }] : [],
        cli: (values) => `cairn dlq requeue ${record}${isEdited && values["input"] !== original ? ` --input ${quoted(values["input"] ?? "")}` : ""}`,
        send: async (values) => {
            const isChanged = isEdited && values["input"] !== original;
            await send("POST", `/v1/dlq/${record}/requeue`, isChanged ? `{"input":${values["input"]}}` : "{}");
            return { text: `${step} is called again${isChanged ? " with the new input" : ""}.`, ...(instance ? { to: `instances/${instance}` } : {}) };
        },
    };
    sheet.value = spec;
}

export { ACTION_NAMES, startForm };

export async function startAgain(it: Subject): Promise<void> {
    startForm(it.workflow, it.version, await rawMember(`/v1/instances/${it.id}`, "input"));
}

export function jobAdd(type = "", payload = "{}"): void {
    sheet.value = {
        action: "job-add", title: "Add a job", sentence: "It is recorded, and executed as soon as a worker that serves its type has room.", confirm: "Add",
        fields: [
            { name: "type", label: "Type", kind: "text", isRequired: true, value: type },
            { name: "payload", label: "Payload", kind: "json", value: payload },
            { name: "key", label: "Key", kind: "text" }, existingField("job"),
            { name: "debounce", label: "Move back by", kind: "text", hint: "Such as 10s: one of this key that has not begun gets this payload, and runs so much later.", isShown: (values) => !!values["key"], testId: "job-debounce", flaw: (values) => !values["debounce"] || durationMs(values["debounce"]) ? "" : "no duration" },
            { name: "group", label: "Group", kind: "text", hint: "Such as a tenant: groups take turns, and limits can be for each.", testId: "job-group" },
            { name: "priority", label: "Priority (lower goes first)", kind: "number", value: "100" },
            { name: "run_at", label: "Not before", kind: "time" },
            { name: "max_attempts", label: "Attempts", kind: "number", value: "3" },
        ],
        cli: (values) => `cairn job add ${quoted(values["type"] || "TYPE")} --payload ${quoted(values["payload"] ?? "{}")}${values["key"] ? ` --key ${quoted(values["key"])}${existingCli(values)}${values["debounce"] ? ` --debounce ${quoted(values["debounce"].replaceAll(" ", ""))}` : ""}` : ""}${values["group"] ? ` --group ${quoted(values["group"])}` : ""}${values["priority"] && values["priority"] !== "100" ? ` --priority ${values["priority"]}` : ""}${atCli(values["run_at"])}${values["max_attempts"] && values["max_attempts"] !== "3" ? ` --max-attempts ${values["max_attempts"]}` : ""}`,
        send: async (values) => {
            const start = JSON.stringify({ type: values["type"], priority: Number(values["priority"]), max_attempts: Number(values["max_attempts"]),
                                           ...(values["key"] ? { key: values["key"], ...existingOf(values), ...(values["debounce"] ? { debounce_ms: durationMs(values["debounce"]) } : {}) } : {}), ...(values["group"] ? { group: values["group"] } : {}), ...(values["run_at"] ? { run_at: new Date(values["run_at"]).toISOString() } : {}) });
            const answer = await send<{ id: string; existing: boolean }>("POST", "/v1/jobs", `${start.slice(0, -1)},"payload":${values["payload"] || "{}"}}`);
            go(`jobs/${answer.id}`);
            return { text: answer.existing ? "The key was known; this is the first job." : "Added" };
        },
    };
}

const JOB_VERBS: Record<string, { title: string; sentence: string; statuses: string[]; method: string; route: string; done: string; cli: string }> = {
    "job-cancel": { title: "Cancel", sentence: "Cancel? Its worker is told at its next heartbeat.", statuses: ["pending", "leased"], method: "POST", route: "/v1/jobs/{id}/cancel", done: "Cancelled", cli: "cancel" },
    "job-retry": { title: "Retry", sentence: "Make it pending again with fresh attempts?", statuses: ["failed", "cancelled"], method: "POST", route: "/v1/jobs/{id}/retry", done: "Pending again", cli: "retry" },
    "job-delete": { title: "Delete", sentence: "Delete? It is no longer claimed nor listed.", statuses: ["pending", "leased", "succeeded", "failed", "cancelled"], method: "DELETE", route: "/v1/jobs/{id}", done: "Deleted", cli: "delete" },
};

export const jobActions = (status: string): string[] =>
    Object.keys(JOB_VERBS).filter((action) => JOB_VERBS[action]!.statuses.includes(status) && may(JOB_VERBS[action]!.method, JOB_VERBS[action]!.route));

export function jobAction(action: string, it: Pick<JobRow, "id" | "type">, done: () => void): void {
    const verb = JOB_VERBS[action];
    if (!verb) return;
    sheet.value = {
        explain: () => jobNow(it.id, done),
        action, title: `${verb.title} ${it.type}`, sentence: verb.sentence, confirm: verb.title, isDanger: action !== "job-retry", done,
        cli: () => `cairn job ${verb.cli} ${it.id}`,
        send: async () => {
            await send(verb.method, verb.route.replace("{id}", it.id));
            return { text: `${verb.done}: ${it.type}` };
        },
    };
}

/** An entry is written whole, so what it says is asked for first. */
async function registryEntry(type: string): Promise<RegistryEntry | undefined> {
    for (let cursor = ""; ;) {
        const page = await ask<Page<RegistryEntry>>(`/v1/registry?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`), found = page.items.find((it) => it.workflow_name === type);
        if (found || !page.next) return found;
        cursor = page.next;
    }
}

export async function typeAction(type: string, isEnabled: boolean, done: () => void): Promise<void> {
    const { runtime = "", description = null } = await registryEntry(type).catch(() => undefined) ?? {};
    sheet.value = {
        action: isEnabled ? "type-enable" : "type-disable", title: `Switch ${type} ${isEnabled ? "on" : "off"}`, confirm: isEnabled ? "Switch on" : "Switch off", isDanger: !isEnabled, done,
        sentence: isEnabled ? `Workers may claim ${type} again.` : `Nobody can claim ${type} from now on; what runs goes on.`,
        cli: () => `cairn registry set ${quoted(type)} --runtime ${quoted(runtime)} --${isEnabled ? "enable" : "disable"}${description === null ? "" : ` --description ${quoted(description)}`}`,
        send: async () => {
            await send("PUT", `/v1/registry/${encodeURIComponent(type)}`, { runtime, is_enabled: isEnabled, description });
            return { text: `${type} is ${isEnabled ? "on" : "off"}` };
        },
    };
}

/** Where the limit stands that a task waits for. */
export const limitPlace = (why: Why): string => `workers?limit=${encodeURIComponent(String(why.values["limit"] ?? ""))}`;

/** What the first reason of an instance offers, as one click. */
export async function act(action: string, it: Instance, why: Why, steps: StepRow[], values: Record<string, unknown>, done: () => void): Promise<void> {
    if (action === "signal") return signalAction(it, [String(values["event"] ?? "")].filter(Boolean), done);
    if ((action === "approve" || action === "reject") && why.step) return decide(action === "approve", { id: it.id, key: it.key ?? null, step: why.step }, done);
    if (action === "requeue" || action === "edit") {
        if (values["record"]) return requeue(String(values["record"]), why.step ?? "the step", action === "edit", done);
        const page = await ask<{ items: { id: string; instance_id: string; step_name: string; is_open: boolean }[] }>(`/v1/dlq?limit=1000`);
        const record = page.items.find((item) => item.instance_id === it.id && item.is_open && (!why.step || item.step_name === why.step));
        if (record) await requeue(record.id, record.step_name, action === "edit", done);
        return;
    }
    if (action === "start-again") return startAgain(it);
    if (action === "type-enable") return typeAction(String(values["type"] ?? why.values["type"] ?? ""), true, done);
    if (action === "workers") return go("workers");
    if (action === "limit") return go(limitPlace(why));
    if (action === "about" || action === "doctor") return go("settings");
    instanceAction(action === "force" ? "resume-force" : action, it, steps, done, [why]);
}

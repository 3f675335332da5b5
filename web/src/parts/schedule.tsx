// schedule.tsx - what can be done to schedules: each opens a sheet.
//
// SPDX-License-Identifier: Apache-2.0
import { ask, send } from "../base/api";
import { cronWords } from "../base/cron";
import { go, lastPart } from "../base/place";
import { quoted } from "../base/text";
import { durationMs, exactDuration } from "../base/time";
import type { Page, Schedule, ScheduleRun, WorkflowSummary } from "../base/types";
import { may } from "../base/who";
import { rawMember } from "./actions";
import { sheet, type Field, type Values } from "./sheet";

export const OVERLAPS: Record<Schedule["overlap"], string> = {
    skip: "this time is left out", allow: "both run", queue: "one run waits until the earlier one has ended", cancel: "the earlier one is cancelled first",
};
export const CATCH_UPS: Record<Schedule["catch_up"], string> = { none: "none is made up for", last: "the last one runs", all: "all run, in order" };

export const routeOf = (name: string): string => `/v1/schedules/${encodeURIComponent(name)}`;
export const placeOfRun = (run: ScheduleRun): string | null => run.id && run.status !== "gone" ? `${run.kind === "job" ? "jobs" : "instances"}/${run.id}` : null;

/** "every day at 02:30", or the expression itself if that is clearer. */
export const whenWords = (it: { cron?: string | null; every_ms: number }): string => it.cron ? cronWords(it.cron) ?? it.cron : `every ${exactDuration(it.every_ms)}`;

interface Verb { title: string; sentence: (it: Schedule) => string; method: string; path: string; done: string; cli: string; isDanger?: boolean; hasReason?: boolean }
const VERBS: Record<string, Verb> = {
    "schedule-run": { title: "Run now", sentence: (it) => `Start a run of ${it.name} now? It starts whatever else runs, and changes no time of the schedule.`, method: "POST", path: "/trigger", done: "Started", cli: "trigger" },
    "schedule-pause": { title: "Pause", sentence: (it) => `Pause ${it.name}? It starts nothing until you resume; what runs goes on. Of the times that come meanwhile, ${CATCH_UPS[it.catch_up]} then.`, method: "POST", path: "/pause", done: "Paused", cli: "pause", hasReason: true },
    "schedule-resume": { title: "Resume", sentence: (it) => `Resume ${it.name}? Of the times that were missed, ${CATCH_UPS[it.catch_up]}.`, method: "POST", path: "/resume", done: "Resumed", cli: "resume" },
    "schedule-remove": { title: "Remove", sentence: (it) => `Remove ${it.name}? It starts nothing more; what it has started goes on.`, method: "DELETE", path: "", done: "Removed", cli: "remove", isDanger: true },
};

export const SCHEDULE_ACTIONS = Object.keys(VERBS);
export const titleOf = (action: string): string => VERBS[action]!.title;

export function mayDo(action: string): boolean {
    const verb = VERBS[action]!;
    return may(verb.method, `/v1/schedules/{name}${verb.path}`);
}

export function scheduleAction(action: string, it: Schedule, done: () => void): void {
    const verb = VERBS[action]!, fields: Field[] = verb.hasReason ? [{ name: "reason", label: "Reason", kind: "area" }] : [];
    sheet.value = {
        action, title: `${verb.title}: ${it.name}`, sentence: verb.sentence(it), confirm: verb.title, isDanger: !!verb.isDanger, fields, hasBy: verb.method === "POST", isByOptional: true, done,
        cli: (values) => `cairn schedule ${verb.cli} ${quoted(it.name)}${values["by"] && verb.method === "POST" ? ` --by ${quoted(values["by"])}` : ""}${values["reason"] ? ` --reason ${quoted(values["reason"])}` : ""}`,
        send: async (values) => {
            const who = { ...(values["by"] ? { by: values["by"] } : {}), ...(values["reason"] ? { reason: values["reason"] } : {}) };
            const answer = await send<Partial<ScheduleRun>>(verb.method, routeOf(it.name) + verb.path, verb.method === "POST" ? who : undefined);
            if (action === "schedule-run" && !answer.id) return { text: `Nothing was started: ${answer.error ?? answer.status}` };
            const to = action === "schedule-run" ? placeOfRun(answer as ScheduleRun) : null;
            return { text: `${verb.done}: ${it.name}`, ...(to ? { to } : {}) };
        },
    };
}

// ---- make and change -------------------------------------------------------------------------------

const zones = (): string[] => ["UTC", ...(Intl.supportedValuesOf?.("timeZone") ?? []).filter((it) => it !== "UTC")];
const isCron = (values: Values): boolean => values["when"] === "cron expression";
const isFlow = (values: Values): boolean => values["starts"] === "workflow or function";

function fieldsOf(it: Schedule | null, input: string, flows: string[]): Field[] {
    return [
        ...(it ? [] : [{ name: "name", label: "Name", kind: "text" as const, isRequired: true, testId: "schedule-name" }]),
        { name: "when", label: "When", kind: "choice", options: ["cron expression", "equal distances"], value: it && !it.cron ? "equal distances" : "cron expression", testId: "schedule-when" },
        { name: "cron", label: "Cron expression", kind: "text", isRequired: true, value: it?.cron ?? "", testId: "schedule-cron", isShown: isCron,
          hint: (values) => values["cron"]?.trim() ? cronWords(values["cron"]) ?? "" : "Minute, hour, day of month, month, day of week: 30 2 * * MON-FRI" },
        { name: "timezone", label: "Time zone", kind: "text", value: it?.timezone || "UTC", options: zones(), testId: "schedule-zone", isShown: isCron },
        { name: "every", label: "Every", kind: "text", isRequired: true, value: it?.every_ms ? exactDuration(it.every_ms) : "", hint: "Such as 5m, 1h30m or 1d.", testId: "schedule-every", isShown: (values) => !isCron(values), flaw: (values) => isCron(values) || (durationMs(values["every"] ?? "") ?? 0) >= 1000 ? "" : "no duration" },
        { name: "starts", label: "Starts", kind: "choice", options: ["workflow or function", "job"], value: it?.task || (!it && !flows.length) ? "job" : "workflow or function", testId: "schedule-starts" },
        { name: "workflow", label: "Workflow", kind: "text", isRequired: true, value: it?.workflow ?? "", options: flows, testId: "schedule-workflow", isShown: isFlow },
        { name: "version", label: "Version", kind: "number", value: it?.version ? String(it.version) : "", hint: "The highest at the time if left empty.", isShown: isFlow },
        { name: "task", label: "Type", kind: "text", isRequired: true, value: it?.task ?? "", testId: "schedule-task", isShown: (values) => !isFlow(values) },
        { name: "input", label: "Input", kind: "json", value: input },
        { name: "overlap", label: "If an earlier run has not ended", kind: "choice", options: Object.keys(OVERLAPS), value: it?.overlap ?? "skip", hint: (values) => OVERLAPS[values["overlap"] as Schedule["overlap"]] },
        { name: "catch_up", label: "Of the times that were missed", kind: "choice", options: Object.keys(CATCH_UPS), value: it?.catch_up ?? "last", hint: (values) => CATCH_UPS[values["catch_up"] as Schedule["catch_up"]] },
    ];
}

function commandOf(name: string, values: Values): string {
    const when = isCron(values) ? `--cron ${quoted(values["cron"] || "…")}${values["timezone"] && values["timezone"] !== "UTC" ? ` --tz ${quoted(values["timezone"])}` : ""}` : `--every ${quoted((values["every"] || "…").replaceAll(" ", ""))}`;
    const target = isFlow(values) ? `--workflow ${quoted(values["workflow"] || "…")}${values["version"] ? ` --version ${values["version"]}` : ""}` : `--job ${quoted(values["task"] || "…")}`;
    return `cairn schedule set ${quoted(name || "NAME")} ${when} ${target} --input ${quoted(values["input"] || "{}")} --overlap ${values["overlap"]} --catch-up ${values["catch_up"]}`;
}

/** All of a schedule is written at once; its input goes there as the text that it is. */
function bodyOf(values: Values): string {
    const head = JSON.stringify({
        ...(isCron(values) ? { cron: values["cron"]!.trim(), timezone: values["timezone"] || "UTC" } : { every_ms: durationMs(values["every"]!) }),
        ...(isFlow(values) ? { workflow: values["workflow"], ...(values["version"] ? { version: Number(values["version"]) } : {}) } : { task: values["task"] }),
        overlap: values["overlap"], catch_up: values["catch_up"],
    });
    return `${head.slice(0, -1)},"input":${values["input"] || "{}"}}`;
}

/** The form, of a new schedule or of one that is there. */
export async function scheduleForm(it: Schedule | null, done: () => void): Promise<void> {
    const page = may("GET", "/v1/workflows") ? await ask<Page<WorkflowSummary>>("/v1/workflows?view=summary&limit=200").catch(() => null) : null;
    const input = it ? await rawMember(routeOf(it.name), "input") : "{}";
    sheet.value = {
        action: "schedule-set", title: it ? `Change ${it.name}` : "New schedule", confirm: it ? "Change" : "Make", done,
        sentence: it ? "Its times go on as they were unless you change when it runs." : "It records a job, or starts an instance, at the times that you give.",
        fields: fieldsOf(it, input, page?.items.map((flow) => flow.name) ?? []), cli: (values) => commandOf(it?.name ?? values["name"] ?? "", values),
        send: async (values) => {
            const name = it?.name ?? values["name"]!.trim(), answer = await send<Schedule>("PUT", routeOf(name), bodyOf(values));
            if (!it) go(`schedules/${lastPart(name)}`);
            return { text: `${it ? "Changed" : "Made"}: ${answer.name}` };
        },
    };
}

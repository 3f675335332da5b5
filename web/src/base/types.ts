// types.ts - what the server answers, under short names.
//
// SPDX-License-Identifier: Apache-2.0
import type { components } from "./openapi";

export type Schemas = components["schemas"];

export interface WhyAction { action: string; values: Record<string, unknown>; cli: string }
export interface Why {
    code: string; urgency: "person" | "stuck" | "failing" | "works" | "waits" | "ended"; step: string | null; seq: number | null;
    template: string; values: Record<string, unknown>; text: string; since: string | null; actions: WhyAction[];
}

export interface LastError { step?: string; message: string; attempt?: number; at?: string }
export type Instance = Omit<Schemas["Instance"], "last_error"> & { last_error: LastError | null; why?: Why | null; tags?: Record<string, string> | null; kind?: string; group?: string | null };
export type InstanceRow = Omit<Schemas["InstanceRow"], "last_error" | "why" | "tags"> & { last_error: LastError | null; tags?: Record<string, string> | null; why?: Why | null };
export type JobRow = Omit<Schemas["JobRow"], "why" | "tags"> & { tags?: Record<string, string> | null; why?: Why | null };
export type Job = Schemas["Job"] & { why?: Why | null };
export type Step = Schemas["Step"];
export type StepRow = Schemas["StepRow"];
export type Event = Schemas["Event"];
export type Log = Schemas["Log"];
export type Workflow = Schemas["Workflow"];
export type Decision = Schemas["Decision"];
export type DlqRecord = Schemas["DlqRecord"];
export type Finding = Schemas["Finding"];
export type Schedule = Schemas["Schedule"];
export type ScheduleRun = Schemas["ScheduleRun"];
/** A server may say how many places are taken, and how many tasks wait for one. */
export type Limit = Schemas["Limit"] & { taken?: number | null; waiting?: number | null };
export type OutboxEntry = Schemas["OutboxEntry"];

export interface Page<T> { items: T[]; next?: string | null; scanned_to?: string | null }

export interface Me { name: string | null; role: string; auth: "token" | "none"; may: string[] }
export interface About {
    version: string; store: { kind: string; product: string; schema: number }; clock: "real" | "virtual"; now: string; started_at: string;
    features: string[]; page: string | null; limits?: Record<string, number>;
}
export interface Approval {
    instance_id: string; workflow: string; version: number; key: string | null; step: string; seq: number; since: string;
    deadline_at: string | null; on_timeout: string | null; input: unknown; metadata: unknown;
}
export interface Decided { instance_id: string; key: string | null; step: string; workflow: string; by: string; decision: string; comment: string | null; at: string }
export interface ErrorGroup {
    group: string; workflow: string | null; step: string | null; type: string | null; is_undo: boolean; pattern: string; sample: string;
    n: number; first_at: string; last_at: string; newest: string;
}
export interface WorkerRow {
    name: string; state: "live" | "quiet" | "gone"; types: string[]; runtime: string | null; holds: number; places: number;
    first_seen: string; last_seen: string; via: string; errors_1h?: number | null;
}
export interface TypeRow {
    type: string; ready: number; oldest_ready_at: string | null; later: number; leased: number; workers_live: number;
    is_served: boolean | null; runtime: string | null; is_enabled: boolean | null;
}
export type Counts = Record<string, { n: number; is_more: boolean }>;
export interface BulkMatch { matched: { n: number; is_more: boolean }; sample: unknown[] }
export interface Bulk {
    id: string; on: "instances" | "jobs" | "dlq"; status: "running" | "done" | "stopped" | "failed"; action: string; filter: Record<string, unknown> | null; by: string | null;
    done: number; skipped: Record<string, number>; skipped_sample: { id: string; code: string; message: string }[]; expected: number | null; started_at: string; finished_at: string | null;
}
export interface Series {
    from: string; step_s: number; started: number[]; completed: number[]; failed: number[]; tasks: number[]; retried: number[];
    p50_ms: (number | null)[]; p95_ms: (number | null)[]; wait_p95_ms: (number | null)[];
}
export interface OverviewAnswer {
    counts: Counts; needs: { approvals: number; dead: number; paused_failed: number; mismatch: number; undo_failed: number; unserved_types: number };
    series: Series; types: TypeRow[]; errors: ErrorGroup[]; workers: { live: number; quiet: number }; recent: InstanceRow[];
}
export interface StepAttempt { n: number; kind: "call" | "undo"; worker: string | null; started_at: string | null; ended_at: string | null; outcome: string; error: string | null }
export interface Grid { steps: string[]; instances: { id: string; key: string | null; status: string; created_at: string; took_ms: number | null; cells: (string | null)[] }[] }
export interface Signal { id: string; event: string; payload?: unknown; received_at?: string; is_taken?: boolean; taken_at?: string | null; taken_by?: string | null; step?: string | null }
export interface Found { kind: string; id: string; title: string; status: string | null }
export type DlqRow = Omit<DlqRecord, "input"> & { input?: unknown; input_preview?: string | null; key?: string | null; workflow?: string | null };
export interface WorkflowSummary { name: string; kind: string; versions: number[]; newest: number; counts?: Counts; figures?: { started: number; completed: number; failed: number; lost?: number; p50_ms: number | null; p95_ms: number | null }; last_start_at?: string | null }

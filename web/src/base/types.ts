// types.ts - what the server answers, under short names.
//
// SPDX-License-Identifier: Apache-2.0
import type { components } from "./openapi";

type Schemas = components["schemas"];

export interface WhyAction { action: string; values: Record<string, unknown>; cli: string }
export interface Why {
    code: string; urgency: "person" | "stuck" | "failing" | "works" | "waits" | "ended"; step: string | null; seq: number | null;
    template: string; values: Record<string, unknown>; text: string; since: string | null; actions: WhyAction[];
}

export interface LastError { step?: string; message: string; attempt?: number; at?: string }
export type Instance = Omit<Schemas["Instance"], "last_error"> & { last_error: LastError | null; why?: Why | null; tags?: Record<string, string> | null; kind?: string };
export interface InstanceRow {
    id: string; workflow: string; version: number; kind?: string; status: string; current_steps: string[]; key: string | null;
    generation: number; created_at: string; start_at: string | null; started_at: string | null; finished_at: string | null;
    last_error: LastError | null; input_preview?: string | null; input_bytes?: number; tags?: Record<string, string> | null; why?: Why | null;
}
export interface JobRow {
    id: string; type: string; status: string; priority: number; run_at: string; idempotency_key: string | null; attempt: number;
    max_attempts: number; leased_by: string | null; last_error: string | null; created_at: string; updated_at: string;
    payload_preview?: string | null; why?: Why | null;
}
export type Job = Schemas["Job"] & { why?: Why | null };
export type StepRow = Omit<Schemas["Step"], "input" | "output" | "metadata">;
export type Event = Schemas["Event"];
export type Log = Schemas["Log"];
export type Workflow = Schemas["Workflow"];
export type Decision = Schemas["Decision"];
export type DlqRecord = Schemas["DlqRecord"];
export type Finding = Schemas["Finding"];

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
    first_seen: string; last_seen: string; via: string;
}
export interface TypeRow {
    type: string; ready: number; oldest_ready_at: string | null; later: number; leased: number; workers_live: number;
    is_served: boolean | null; runtime: string | null; is_enabled: boolean | null;
}
export type Counts = Record<string, { n: number; is_more: boolean }>;

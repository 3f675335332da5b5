// types.ts - what the server answers, under short names.
//
// SPDX-License-Identifier: Apache-2.0
import type { components } from "./openapi";

export type Schemas = components["schemas"];

export type WhyAction = Omit<Schemas["WhyAction"], "values"> & { values: Record<string, unknown> };
export type Why = Omit<Schemas["Why"], "values" | "actions"> & { values: Record<string, unknown>; actions: WhyAction[] };

/** Of a row: the sentence is the template with its values. */
export type WhyRow = Omit<Schemas["WhyRow"], "values"> & { values: Record<string, unknown> };

export interface LastError { step?: string; message: string; attempt?: number; at?: string }
export type Instance = Omit<Schemas["Instance"], "last_error"> & { last_error: LastError | null; why?: Why | null; tags?: Record<string, string> | null; kind?: string; group?: string | null };
export type InstanceRow = Omit<Schemas["InstanceRow"], "last_error" | "why" | "tags"> & { last_error: LastError | null; tags?: Record<string, string> | null; why?: WhyRow | null };
export type JobRow = Omit<Schemas["JobRow"], "why" | "tags"> & { tags?: Record<string, string> | null; why?: WhyRow | null };
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

/** Members that the description leaves open, as the server writes them. */
type With<T, M> = Omit<T, keyof M> & M;

export type Me = Schemas["Me"];
export type About = With<Schemas["About"], { store: Schemas["AboutStore"] }>;
export type Approval = Schemas["Approval"];
export type Decided = Schemas["Decided"];
export type ErrorGroup = Schemas["ErrorGroup"];
export type WorkerRow = Schemas["Worker"];
export type TypeRow = Schemas["Type"];
export type Counts = Record<string, { n: number; is_more: boolean }>;
export type BulkMatch = With<Schemas["BulkMatched"], { matched: Schemas["BulkCount"] }>;
export type Bulk = With<Schemas["Bulk"], { filter: Record<string, unknown> | null; skipped: Record<string, number>; skipped_sample: { id: string; code: string; message: string }[] }>;
export type Series = Schemas["OverviewSeries"];
export type OverviewAnswer = With<Schemas["Overview"], { counts: Counts; needs: Schemas["OverviewNeeds"]; series: Series; workers: Schemas["OverviewWorkers"]; recent: With<Schemas["OverviewEnded"], { last_error: LastError | null }>[] }>;
/** One that runs has no outcome. */
export type StepAttempt = With<Schemas["Attempt"], { outcome: string | null }>;
export type StepWhole = With<Schemas["StepWhole"], { why: Why | null }>;
export type Grid = With<Schemas["Grid"], { instances: With<Schemas["GridInstance"], { took_ms: number | null; cells: (string | null)[] }>[] }>;
export type Signal = Schemas["Signal"];
export type RegistryEntry = Schemas["RegistryEntry"];
export type Found = Pick<Schemas["Found"], "kind" | "id" | "title" | "status"> | { kind: "dead letter"; id: string; title: string; status: null };
export type DlqRow = Schemas["DlqRow"] & { input?: unknown; key?: string | null };
/** Without figures: of a server that has none. */
export type WorkflowSummary = With<Pick<Schemas["WorkflowSummary"], "name" | "kind" | "newest">, { versions: number[]; counts?: Counts; last_start_at?: string | null; figures?: { started: number; completed: number; failed: number; lost: number; p50_ms: number | null; p95_ms: number | null } }>;

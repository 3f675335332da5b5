// bulks.ts - what every screen knows of actions on many: which there are, and which are under way.
//
// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";
import { kept } from "./settings";
import { may } from "./who";

export type BulkOn = "instances" | "jobs" | "dlq";

export const BULK_ACTIONS: Record<BulkOn, string[]> = { instances: ["retry", "resume", "pause", "cancel", "abort", "restart"], jobs: ["retry", "cancel", "delete"], dlq: ["requeue", "cancel"] };

export const canBulk = (): boolean => may("POST", "/v1/bulk");

/** Those that this tab has started, or was told about, until they are over. */
export const bulks = kept<string[]>("bulks", []);
/** The one whose progress is shown above the screen. */
export const openBulk = signal<string | null>(null);

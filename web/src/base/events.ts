// events.ts - the types of events that one can ask for, as spec/events.txt names them.
//
// SPDX-License-Identifier: Apache-2.0
export const JOB_EVENTS = "created leased started heartbeat succeeded failed retried cancelled debounced deleted".split(" ");

/** Of an instance, and of its steps. */
export const INSTANCE_EVENTS = ("workflow_started workflow_running workflow_waiting workflow_compensating workflow_completed workflow_failed workflow_paused workflow_resumed workflow_restarted workflow_retried workflow_dlq cancellation_started workflow_cancelled abort_started workflow_aborted "
    + "step_pending step_ready step_copied step_started step_completed step_retry step_failed step_waiting step_skipped step_paused step_skipped_missing_handler compensation_started compensation_retry compensation_success compensation_max_retries_exceeded signal_received signal_taken human_decision dlq_requeued").split(" ");

# SPDX-License-Identifier: Apache-2.0
"""Structs, enums, defaults and prototypes of libcairn.

scripts/gen_python.py makes this file from include/cairn.h: do not edit it.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
    c_void_p, POINTER, Structure,
)
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar

HEADER_VERSION = "0.1.0"
ABI = 1

CAIRN_NOTICE_INFO = 1
CAIRN_NOTICE_WARNING = 2
CAIRN_NOTICE_ERROR = 3

CAIRN_COMPLETE = 1
CAIRN_FAIL = 2
CAIRN_RETRY = 3
CAIRN_DEAD = 4
CAIRN_RELEASE = 5
CAIRN_WAIT = 6

CAIRN_COMMIT_STEP = 1
CAIRN_COMMIT_PASSAGE = 2

CAIRN_RETENTION_NEVER = -1
CAIRN_RETENTION_SAME = -2


class cairn_error(Structure):
    code: int
    message: bytes
    detail: bytes
    hint: bytes


class cairn_open_options(Structure):
    size: int
    url: Optional[bytes]
    token: Optional[bytes]
    retry_ms: int
    no_create: bool
    no_migrate: bool
    no_timers: bool
    max_payload: int
    max_name: int
    max_error: int
    max_batch: int
    aging_rate: float
    missing_cooldown_ms: int
    missing_throttle_ms: int
    missing_jitter: float
    seed: int
    virtual_clock: bool
    start_us: int
    notice: Optional[int]
    notice_arg: Optional[int]
    serves: bool
    solo: bool
    map_elements: int


class cairn_schema(Structure):
    size: int
    to: int
    applied: Any
    applied_count: int


class cairn_why_action(Structure):
    action: Optional[bytes]
    values: Optional[bytes]
    cli: Optional[bytes]


class cairn_why(Structure):
    code: Optional[bytes]
    urgency: Optional[bytes]
    urgency_code: int
    step: Optional[bytes]
    seq: int
    sentence: Optional[bytes]
    values: Optional[bytes]
    text: Optional[bytes]
    since_us: int
    actions: Any
    action_count: int


class cairn_trial_options(Structure):
    size: int
    seed: int
    fail: float
    crash: float
    timeout: float
    late: float
    twice: float
    restart: float
    fail_of: Optional[bytes]


class cairn_job_spec(Structure):
    size: int
    type: Optional[bytes]
    payload: Optional[bytes]
    key: Optional[bytes]
    priority: int
    max_attempts: int
    run_at_us: int
    metadata: Optional[bytes]
    tags: Optional[bytes]
    timeout_ms: int
    retry: Optional[bytes]
    on_existing: Optional[bytes]
    debounce_ms: int
    group: Optional[bytes]


class cairn_enqueued(Structure):
    id: bytes
    existing: bool


class cairn_job(Structure):
    id: Optional[bytes]
    type: Optional[bytes]
    payload: Optional[bytes]
    status: Optional[bytes]
    status_code: int
    idempotency_key: Optional[bytes]
    leased_by: Optional[bytes]
    last_error: Optional[bytes]
    result: Optional[bytes]
    priority: int
    attempt: int
    max_attempts: int
    run_at_us: int
    lease_until_us: int
    created_at_us: int
    updated_at_us: int
    deleted_at_us: int
    metadata: Optional[bytes]
    why: Any
    schedule: Optional[bytes]
    tags: Optional[bytes]
    timeout_ms: int
    retry: Optional[bytes]
    group: Optional[bytes]
    error_group: Optional[bytes]


class cairn_job_filter(Structure):
    size: int
    status: Optional[bytes]
    type: Optional[bytes]
    key: Optional[bytes]
    cursor: Optional[bytes]
    limit: int
    q: Optional[bytes]
    ids: Optional[bytes]
    has: Optional[bytes]
    due: Optional[bytes]
    created_from_us: int
    created_to_us: int
    tags: Any
    tag_count: int


class cairn_event(Structure):
    id: int
    type: Optional[bytes]
    step: Optional[bytes]
    data: Optional[bytes]
    at_us: int


class cairn_registry_entry(Structure):
    workflow_name: Optional[bytes]
    intent_type: Optional[bytes]
    runtime: Optional[bytes]
    description: Optional[bytes]
    is_enabled: bool
    created_at_us: int
    updated_at_us: int


class cairn_registry_spec(Structure):
    size: int
    workflow_name: Optional[bytes]
    runtime: Optional[bytes]
    description: Optional[bytes]
    is_enabled: bool


class cairn_schedule_spec(Structure):
    size: int
    name: Optional[bytes]
    cron: Optional[bytes]
    every_ms: int
    timezone: Optional[bytes]
    workflow: Optional[bytes]
    task: Optional[bytes]
    version: int
    input: Optional[bytes]
    overlap: Optional[bytes]
    catch_up: Optional[bytes]
    paused: int


class cairn_schedule_run(Structure):
    id: Optional[bytes]
    kind: Optional[bytes]
    status: Optional[bytes]
    error: Optional[bytes]
    at_us: int


class cairn_schedule(Structure):
    name: Optional[bytes]
    cron: Optional[bytes]
    every_ms: int
    timezone: Optional[bytes]
    workflow: Optional[bytes]
    task: Optional[bytes]
    version: int
    input: Optional[bytes]
    overlap: Optional[bytes]
    catch_up: Optional[bytes]
    paused: bool
    next_at_us: int
    waiting_at_us: int
    last_at_us: int
    created_at_us: int
    updated_at_us: int
    runs: Any
    run_count: int


class cairn_schedule_time(Structure):
    at_us: int
    local: Optional[bytes]


class cairn_limit_spec(Structure):
    size: int
    name: Optional[bytes]
    types: Optional[bytes]
    concurrency: int
    rate_n: int
    rate_per_ms: int
    per_group: bool


class cairn_limit_rate(Structure):
    n: int
    per_ms: int


class cairn_limit(Structure):
    name: Optional[bytes]
    types: Optional[bytes]
    concurrency: int
    rate: Any
    per_group: bool
    created_at_us: int
    updated_at_us: int
    taken: int
    waiting: int


class cairn_task(Structure):
    id: Optional[bytes]
    token: Optional[bytes]
    kind: Optional[bytes]
    kind_code: int
    type: Optional[bytes]
    input: Optional[bytes]
    key: Optional[bytes]
    attempt: int
    max_attempts: int
    lease_until_us: int
    instance_id: Optional[bytes]
    step: Optional[bytes]
    metadata: Optional[bytes]
    reason: Optional[bytes]
    signal: Optional[bytes]
    memory: Any
    deadline_us: int


class cairn_function_code(Structure):
    size: int
    name: Optional[bytes]
    version: int
    from_version: int


class cairn_known(Structure):
    size: int
    instance_id: Optional[bytes]
    revision: int
    before: int


class cairn_claim_options(Structure):
    size: int
    worker: Optional[bytes]
    types: Any
    type_count: int
    runtime: Optional[bytes]
    max: int
    lease_ms: int
    wait_ms: int
    functions: Any
    function_count: int
    known: Any
    known_count: int


class cairn_outbound(Structure):
    size: int
    event: Optional[bytes]
    payload: Optional[bytes]


class cairn_report(Structure):
    size: int
    task_id: Optional[bytes]
    token: Optional[bytes]
    outcome: int
    output: Optional[bytes]
    error: Optional[bytes]
    delay_ms: int
    event: Optional[bytes]
    timeout_ms: int
    outbound: Any
    outbound_count: int
    is_missing_handler: bool


class cairn_reported(Structure):
    code: int
    status: bytes
    error: cairn_error


class cairn_beat(Structure):
    size: int
    task_id: Optional[bytes]
    token: Optional[bytes]
    extend_ms: int
    ret_code: int
    ret_lease_until_us: int
    ret_stop: Optional[bytes]


class cairn_kept_stop(Structure):
    task: int
    stop: Optional[bytes]
    code: int


class cairn_worker_options(Structure):
    size: int
    name: Optional[bytes]
    runtime: Optional[bytes]
    concurrency: int
    lease_ms: int
    wait_ms: int
    until_idle: bool


class cairn_workflow(Structure):
    name: Optional[bytes]
    version: int
    hash: Optional[bytes]
    content: Optional[bytes]
    created_at_us: int


class cairn_flaw(Structure):
    line: int
    column: int
    message: bytes


class cairn_start_options(Structure):
    size: int
    workflow: Optional[bytes]
    version: int
    input: Optional[bytes]
    key: Optional[bytes]
    start_at_us: int
    metadata: Optional[bytes]
    tell_instance: Optional[bytes]
    tell_event: Optional[bytes]
    tags: Optional[bytes]
    on_existing: Optional[bytes]
    group: Optional[bytes]


class cairn_instance(Structure):
    id: Optional[bytes]
    workflow: Optional[bytes]
    key: Optional[bytes]
    input: Optional[bytes]
    output: Optional[bytes]
    version: int
    status: Optional[bytes]
    status_code: int
    current_steps: Any
    current_step_count: int
    last_error: Optional[bytes]
    generation: int
    created_at_us: int
    started_at_us: int
    finished_at_us: int
    start_at_us: int
    undo_error: Optional[bytes]
    metadata: Optional[bytes]
    parent: Optional[bytes]
    paused_by: Optional[bytes]
    paused_reason: Optional[bytes]
    paused_at_us: int
    why: Any
    schedule: Optional[bytes]
    tags: Optional[bytes]
    source: Optional[bytes]
    group: Optional[bytes]
    error_group: Optional[bytes]


class cairn_instance_filter(Structure):
    size: int
    status: Optional[bytes]
    workflow: Optional[bytes]
    key: Optional[bytes]
    cursor: Optional[bytes]
    limit: int
    q: Optional[bytes]
    ids: Optional[bytes]
    has: Optional[bytes]
    created_from_us: int
    created_to_us: int
    version: int
    tags: Any
    tag_count: int
    parent: Optional[bytes]
    stand: Optional[bytes]


class cairn_step(Structure):
    id: Optional[bytes]
    name: Optional[bytes]
    kind: Optional[bytes]
    kind_code: int
    handler: Optional[bytes]
    status: Optional[bytes]
    status_code: int
    input: Optional[bytes]
    output: Optional[bytes]
    error: Optional[bytes]
    metadata: Optional[bytes]
    waiting_event: Optional[bytes]
    locked_by: Optional[bytes]
    seq: int
    attempts: int
    max_attempts: int
    compensation_attempts: int
    priority: int
    commit_no: int
    next_run_at_us: int
    started_at_us: int
    finished_at_us: int
    deadline_at_us: int
    locked_until_us: int
    undo_error: Optional[bytes]
    wait_for: Any
    wait_for_count: int


class cairn_log(Structure):
    id: int
    level: Optional[bytes]
    message: Optional[bytes]
    data: Optional[bytes]
    step: Optional[bytes]
    attempt: int
    at_us: int


class cairn_signal_options(Structure):
    size: int
    instance_id: Optional[bytes]
    event: Optional[bytes]
    payload: Optional[bytes]
    id: Optional[bytes]
    no_latch: bool


class cairn_signalled(Structure):
    existing: bool
    taken: bool
    kept: bool


class cairn_decision(Structure):
    id: int
    step: Optional[bytes]
    decision: Optional[bytes]
    by: Optional[bytes]
    comment: Optional[bytes]
    at_us: int


class cairn_dlq_record(Structure):
    id: Optional[bytes]
    instance_id: Optional[bytes]
    workflow_id: Optional[bytes]
    step_id: Optional[bytes]
    step_name: Optional[bytes]
    step_type: Optional[bytes]
    input: Optional[bytes]
    error: Optional[bytes]
    reason: Optional[bytes]
    is_open: bool
    created_at_us: int


class cairn_outbox_event(Structure):
    id: Optional[bytes]
    instance_id: Optional[bytes]
    step: Optional[bytes]
    event: Optional[bytes]
    payload: Optional[bytes]
    created_at_us: int


class cairn_function_options(Structure):
    size: int
    name: Optional[bytes]
    version: int
    run: Optional[int]
    arg: Optional[int]
    commit: int
    max_attempts: int
    dlq: bool
    from_version: int


class cairn_step_options(Structure):
    size: int
    key: Optional[bytes]
    run: Optional[int]
    arg: Optional[int]
    input: Optional[bytes]
    retries: int
    backoff: Optional[bytes]
    base_ms: int
    max_ms: int
    jitter: float
    timeout_ms: int
    compensation: Optional[bytes]
    compensation_max_attempts: int
    compensation_timeout_ms: int
    compensation_backoff: Optional[bytes]
    compensation_base_ms: int
    compensation_max_ms: int
    compensation_jitter: float
    compensation_once: bool
    compensation_metadata: Optional[bytes]


class cairn_passage_costs(Structure):
    size: int
    commits: int
    heartbeats: int


class cairn_received(Structure):
    id: Optional[bytes]
    event: Optional[bytes]
    payload: Optional[bytes]
    received_at_us: int


class cairn_effect(Structure):
    step: Optional[bytes]
    effect: int


class cairn_memory(Structure):
    version: int
    revision: int
    places: int
    is_forced: bool
    steps: Any
    step_count: int
    events: Any
    event_count: int
    effect: int
    effects: Any
    effect_count: int
    steps_from: int


class cairn_request(Structure):
    size: int
    method: Optional[bytes]
    target: Optional[bytes]
    body: Optional[bytes]
    body_len: int
    wanted: Optional[int]
    arg: Optional[int]
    caller: Optional[bytes]
    role: Optional[bytes]
    page: Optional[bytes]


class cairn_stats(Structure):
    size: int
    enqueued: int
    claimed: int
    completed: int
    failed: int
    retried: int
    cancelled: int
    released: int
    heartbeats: int
    lease_expiries: int
    late_reports: int
    commits: int
    commit_requests: int
    commit_us: int
    commit_us_max: int
    pending: int
    ready: int
    leased: int
    oldest_waiting_us: int
    steps_ready: int
    steps_leased: int
    instances_pending: int
    instances_running: int
    instances_waiting_signal: int
    instances_paused: int
    instances_compensating: int
    instances_dlq: int
    started: int
    passages: int
    passage_commits: int
    passage_conflicts: int


class cairn_retention(Structure):
    size: int
    jobs_succeeded_ms: int
    jobs_failed_ms: int
    jobs_cancelled_ms: int
    instances_completed_ms: int
    instances_failed_ms: int
    instances_cancelled_ms: int
    instances_aborted_ms: int
    keys_ms: int


class cairn_purge_options(Structure):
    size: int
    older_than_ms: int
    status: Optional[bytes]
    workflow: Optional[bytes]
    type: Optional[bytes]
    is_dry_run: bool
    cursor: Optional[bytes]


class cairn_purged(Structure):
    jobs: int
    instances: int
    next: bytes


class cairn_finding(Structure):
    check: Optional[bytes]
    result: Optional[bytes]
    result_code: int
    text: bytes


cairn_error._fields_ = [
    ("code", c_int),
    ("message", c_char * 256),
    ("detail", c_char * 512),
    ("hint", c_char * 256),
]

cairn_open_options._fields_ = [
    ("size", c_size_t),
    ("url", c_char_p),
    ("token", c_char_p),
    ("retry_ms", c_uint32),
    ("no_create", c_bool),
    ("no_migrate", c_bool),
    ("no_timers", c_bool),
    ("max_payload", c_size_t),
    ("max_name", c_size_t),
    ("max_error", c_size_t),
    ("max_batch", c_size_t),
    ("aging_rate", c_double),
    ("missing_cooldown_ms", c_uint32),
    ("missing_throttle_ms", c_uint32),
    ("missing_jitter", c_double),
    ("seed", c_uint64),
    ("virtual_clock", c_bool),
    ("start_us", c_int64),
    ("notice", c_void_p),
    ("notice_arg", c_void_p),
    ("serves", c_bool),
    ("solo", c_bool),
    ("map_elements", c_size_t),
]

cairn_schema._fields_ = [
    ("size", c_size_t),
    ("from", c_int),
    ("to", c_int),
    ("applied", POINTER(c_char_p)),
    ("applied_count", c_size_t),
]

cairn_why_action._fields_ = [
    ("action", c_char_p),
    ("values", c_char_p),
    ("cli", c_char_p),
]

cairn_why._fields_ = [
    ("code", c_char_p),
    ("urgency", c_char_p),
    ("urgency_code", c_int),
    ("step", c_char_p),
    ("seq", c_int32),
    ("sentence", c_char_p),
    ("values", c_char_p),
    ("text", c_char_p),
    ("since_us", c_int64),
    ("actions", POINTER(cairn_why_action)),
    ("action_count", c_size_t),
]

cairn_trial_options._fields_ = [
    ("size", c_size_t),
    ("seed", c_uint64),
    ("fail", c_double),
    ("crash", c_double),
    ("timeout", c_double),
    ("late", c_double),
    ("twice", c_double),
    ("restart", c_double),
    ("fail_of", c_char_p),
]

cairn_job_spec._fields_ = [
    ("size", c_size_t),
    ("type", c_char_p),
    ("payload", c_char_p),
    ("key", c_char_p),
    ("priority", c_int32),
    ("max_attempts", c_int32),
    ("run_at_us", c_int64),
    ("metadata", c_char_p),
    ("tags", c_char_p),
    ("timeout_ms", c_int64),
    ("retry", c_char_p),
    ("on_existing", c_char_p),
    ("debounce_ms", c_int64),
    ("group", c_char_p),
]

cairn_enqueued._fields_ = [
    ("id", c_char * 40),
    ("existing", c_bool),
]

cairn_job._fields_ = [
    ("id", c_char_p),
    ("type", c_char_p),
    ("payload", c_char_p),
    ("status", c_char_p),
    ("status_code", c_int),
    ("idempotency_key", c_char_p),
    ("leased_by", c_char_p),
    ("last_error", c_char_p),
    ("result", c_char_p),
    ("priority", c_int32),
    ("attempt", c_int32),
    ("max_attempts", c_int32),
    ("run_at_us", c_int64),
    ("lease_until_us", c_int64),
    ("created_at_us", c_int64),
    ("updated_at_us", c_int64),
    ("deleted_at_us", c_int64),
    ("metadata", c_char_p),
    ("why", POINTER(cairn_why)),
    ("schedule", c_char_p),
    ("tags", c_char_p),
    ("timeout_ms", c_int64),
    ("retry", c_char_p),
    ("group", c_char_p),
    ("error_group", c_char_p),
]

cairn_job_filter._fields_ = [
    ("size", c_size_t),
    ("status", c_char_p),
    ("type", c_char_p),
    ("key", c_char_p),
    ("cursor", c_char_p),
    ("limit", c_uint32),
    ("q", c_char_p),
    ("ids", c_char_p),
    ("has", c_char_p),
    ("due", c_char_p),
    ("created_from_us", c_int64),
    ("created_to_us", c_int64),
    ("tags", POINTER(c_char_p)),
    ("tag_count", c_size_t),
]

cairn_event._fields_ = [
    ("id", c_int64),
    ("type", c_char_p),
    ("step", c_char_p),
    ("data", c_char_p),
    ("at_us", c_int64),
]

cairn_registry_entry._fields_ = [
    ("workflow_name", c_char_p),
    ("intent_type", c_char_p),
    ("runtime", c_char_p),
    ("description", c_char_p),
    ("is_enabled", c_bool),
    ("created_at_us", c_int64),
    ("updated_at_us", c_int64),
]

cairn_registry_spec._fields_ = [
    ("size", c_size_t),
    ("workflow_name", c_char_p),
    ("runtime", c_char_p),
    ("description", c_char_p),
    ("is_enabled", c_bool),
]

cairn_schedule_spec._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("cron", c_char_p),
    ("every_ms", c_int64),
    ("timezone", c_char_p),
    ("workflow", c_char_p),
    ("task", c_char_p),
    ("version", c_int32),
    ("input", c_char_p),
    ("overlap", c_char_p),
    ("catch_up", c_char_p),
    ("paused", c_int32),
]

cairn_schedule_run._fields_ = [
    ("id", c_char_p),
    ("kind", c_char_p),
    ("status", c_char_p),
    ("error", c_char_p),
    ("at_us", c_int64),
]

cairn_schedule._fields_ = [
    ("name", c_char_p),
    ("cron", c_char_p),
    ("every_ms", c_int64),
    ("timezone", c_char_p),
    ("workflow", c_char_p),
    ("task", c_char_p),
    ("version", c_int32),
    ("input", c_char_p),
    ("overlap", c_char_p),
    ("catch_up", c_char_p),
    ("paused", c_bool),
    ("next_at_us", c_int64),
    ("waiting_at_us", c_int64),
    ("last_at_us", c_int64),
    ("created_at_us", c_int64),
    ("updated_at_us", c_int64),
    ("runs", POINTER(cairn_schedule_run)),
    ("run_count", c_size_t),
]

cairn_schedule_time._fields_ = [
    ("at_us", c_int64),
    ("local", c_char_p),
]

cairn_limit_spec._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("types", c_char_p),
    ("concurrency", c_int32),
    ("rate_n", c_int32),
    ("rate_per_ms", c_int64),
    ("per_group", c_bool),
]

cairn_limit_rate._fields_ = [
    ("n", c_int32),
    ("per_ms", c_int64),
]

cairn_limit._fields_ = [
    ("name", c_char_p),
    ("types", c_char_p),
    ("concurrency", c_int32),
    ("rate", POINTER(cairn_limit_rate)),
    ("per_group", c_bool),
    ("created_at_us", c_int64),
    ("updated_at_us", c_int64),
    ("taken", c_int32),
    ("waiting", c_int32),
]

cairn_task._fields_ = [
    ("id", c_char_p),
    ("token", c_char_p),
    ("kind", c_char_p),
    ("kind_code", c_int),
    ("type", c_char_p),
    ("input", c_char_p),
    ("key", c_char_p),
    ("attempt", c_int32),
    ("max_attempts", c_int32),
    ("lease_until_us", c_int64),
    ("instance_id", c_char_p),
    ("step", c_char_p),
    ("metadata", c_char_p),
    ("reason", c_char_p),
    ("signal", c_char_p),
    ("memory", POINTER(cairn_memory)),
    ("deadline_us", c_int64),
]

cairn_function_code._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("version", c_int32),
    ("from_version", c_int32),
]

cairn_known._fields_ = [
    ("size", c_size_t),
    ("instance_id", c_char_p),
    ("revision", c_int64),
    ("before", c_int32),
]

cairn_claim_options._fields_ = [
    ("size", c_size_t),
    ("worker", c_char_p),
    ("types", POINTER(c_char_p)),
    ("type_count", c_size_t),
    ("runtime", c_char_p),
    ("max", c_uint32),
    ("lease_ms", c_uint32),
    ("wait_ms", c_uint32),
    ("functions", POINTER(cairn_function_code)),
    ("function_count", c_size_t),
    ("known", POINTER(cairn_known)),
    ("known_count", c_size_t),
]

cairn_outbound._fields_ = [
    ("size", c_size_t),
    ("event", c_char_p),
    ("payload", c_char_p),
]

cairn_report._fields_ = [
    ("size", c_size_t),
    ("task_id", c_char_p),
    ("token", c_char_p),
    ("outcome", c_int),
    ("output", c_char_p),
    ("error", c_char_p),
    ("delay_ms", c_int64),
    ("event", c_char_p),
    ("timeout_ms", c_int64),
    ("outbound", POINTER(cairn_outbound)),
    ("outbound_count", c_size_t),
    ("is_missing_handler", c_bool),
]

cairn_reported._fields_ = [
    ("code", c_int),
    ("status", c_char * 24),
    ("error", cairn_error),
]

cairn_beat._fields_ = [
    ("size", c_size_t),
    ("task_id", c_char_p),
    ("token", c_char_p),
    ("extend_ms", c_uint32),
    ("ret_code", c_int),
    ("ret_lease_until_us", c_int64),
    ("ret_stop", c_char_p),
]

cairn_kept_stop._fields_ = [
    ("task", c_uint64),
    ("stop", c_char_p),
    ("code", c_int),
]

cairn_worker_options._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("runtime", c_char_p),
    ("concurrency", c_uint32),
    ("lease_ms", c_uint32),
    ("wait_ms", c_uint32),
    ("until_idle", c_bool),
]

cairn_workflow._fields_ = [
    ("name", c_char_p),
    ("version", c_int32),
    ("hash", c_char_p),
    ("content", c_char_p),
    ("created_at_us", c_int64),
]

cairn_flaw._fields_ = [
    ("line", c_int),
    ("column", c_int),
    ("message", c_char * 256),
]

cairn_start_options._fields_ = [
    ("size", c_size_t),
    ("workflow", c_char_p),
    ("version", c_int32),
    ("input", c_char_p),
    ("key", c_char_p),
    ("start_at_us", c_int64),
    ("metadata", c_char_p),
    ("tell_instance", c_char_p),
    ("tell_event", c_char_p),
    ("tags", c_char_p),
    ("on_existing", c_char_p),
    ("group", c_char_p),
]

cairn_instance._fields_ = [
    ("id", c_char_p),
    ("workflow", c_char_p),
    ("key", c_char_p),
    ("input", c_char_p),
    ("output", c_char_p),
    ("version", c_int32),
    ("status", c_char_p),
    ("status_code", c_int),
    ("current_steps", POINTER(c_char_p)),
    ("current_step_count", c_size_t),
    ("last_error", c_char_p),
    ("generation", c_int32),
    ("created_at_us", c_int64),
    ("started_at_us", c_int64),
    ("finished_at_us", c_int64),
    ("start_at_us", c_int64),
    ("undo_error", c_char_p),
    ("metadata", c_char_p),
    ("parent", c_char_p),
    ("paused_by", c_char_p),
    ("paused_reason", c_char_p),
    ("paused_at_us", c_int64),
    ("why", POINTER(cairn_why)),
    ("schedule", c_char_p),
    ("tags", c_char_p),
    ("source", c_char_p),
    ("group", c_char_p),
    ("error_group", c_char_p),
]

cairn_instance_filter._fields_ = [
    ("size", c_size_t),
    ("status", c_char_p),
    ("workflow", c_char_p),
    ("key", c_char_p),
    ("cursor", c_char_p),
    ("limit", c_uint32),
    ("q", c_char_p),
    ("ids", c_char_p),
    ("has", c_char_p),
    ("created_from_us", c_int64),
    ("created_to_us", c_int64),
    ("version", c_int32),
    ("tags", POINTER(c_char_p)),
    ("tag_count", c_size_t),
    ("parent", c_char_p),
    ("stand", c_char_p),
]

cairn_step._fields_ = [
    ("id", c_char_p),
    ("name", c_char_p),
    ("kind", c_char_p),
    ("kind_code", c_int),
    ("handler", c_char_p),
    ("status", c_char_p),
    ("status_code", c_int),
    ("input", c_char_p),
    ("output", c_char_p),
    ("error", c_char_p),
    ("metadata", c_char_p),
    ("waiting_event", c_char_p),
    ("locked_by", c_char_p),
    ("seq", c_int32),
    ("attempts", c_int32),
    ("max_attempts", c_int32),
    ("compensation_attempts", c_int32),
    ("priority", c_int32),
    ("commit_no", c_int64),
    ("next_run_at_us", c_int64),
    ("started_at_us", c_int64),
    ("finished_at_us", c_int64),
    ("deadline_at_us", c_int64),
    ("locked_until_us", c_int64),
    ("undo_error", c_char_p),
    ("wait_for", POINTER(c_char_p)),
    ("wait_for_count", c_size_t),
]

cairn_log._fields_ = [
    ("id", c_int64),
    ("level", c_char_p),
    ("message", c_char_p),
    ("data", c_char_p),
    ("step", c_char_p),
    ("attempt", c_int32),
    ("at_us", c_int64),
]

cairn_signal_options._fields_ = [
    ("size", c_size_t),
    ("instance_id", c_char_p),
    ("event", c_char_p),
    ("payload", c_char_p),
    ("id", c_char_p),
    ("no_latch", c_bool),
]

cairn_signalled._fields_ = [
    ("existing", c_bool),
    ("taken", c_bool),
    ("kept", c_bool),
]

cairn_decision._fields_ = [
    ("id", c_int64),
    ("step", c_char_p),
    ("decision", c_char_p),
    ("by", c_char_p),
    ("comment", c_char_p),
    ("at_us", c_int64),
]

cairn_dlq_record._fields_ = [
    ("id", c_char_p),
    ("instance_id", c_char_p),
    ("workflow_id", c_char_p),
    ("step_id", c_char_p),
    ("step_name", c_char_p),
    ("step_type", c_char_p),
    ("input", c_char_p),
    ("error", c_char_p),
    ("reason", c_char_p),
    ("is_open", c_bool),
    ("created_at_us", c_int64),
]

cairn_outbox_event._fields_ = [
    ("id", c_char_p),
    ("instance_id", c_char_p),
    ("step", c_char_p),
    ("event", c_char_p),
    ("payload", c_char_p),
    ("created_at_us", c_int64),
]

cairn_function_options._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("version", c_int32),
    ("run", c_void_p),
    ("arg", c_void_p),
    ("commit", c_int),
    ("max_attempts", c_int32),
    ("dlq", c_bool),
    ("from_version", c_int32),
]

cairn_step_options._fields_ = [
    ("size", c_size_t),
    ("key", c_char_p),
    ("run", c_void_p),
    ("arg", c_void_p),
    ("input", c_char_p),
    ("retries", c_int32),
    ("backoff", c_char_p),
    ("base_ms", c_int64),
    ("max_ms", c_int64),
    ("jitter", c_double),
    ("timeout_ms", c_int64),
    ("compensation", c_char_p),
    ("compensation_max_attempts", c_int32),
    ("compensation_timeout_ms", c_int64),
    ("compensation_backoff", c_char_p),
    ("compensation_base_ms", c_int64),
    ("compensation_max_ms", c_int64),
    ("compensation_jitter", c_double),
    ("compensation_once", c_bool),
    ("compensation_metadata", c_char_p),
]

cairn_passage_costs._fields_ = [
    ("size", c_size_t),
    ("commits", c_uint32),
    ("heartbeats", c_uint32),
]

cairn_received._fields_ = [
    ("id", c_char_p),
    ("event", c_char_p),
    ("payload", c_char_p),
    ("received_at_us", c_int64),
]

cairn_effect._fields_ = [
    ("step", c_char_p),
    ("effect", c_int32),
]

cairn_memory._fields_ = [
    ("version", c_int32),
    ("revision", c_int64),
    ("places", c_int32),
    ("is_forced", c_bool),
    ("steps", POINTER(POINTER(cairn_step))),
    ("step_count", c_size_t),
    ("events", POINTER(POINTER(cairn_received))),
    ("event_count", c_size_t),
    ("effect", c_int32),
    ("effects", POINTER(POINTER(cairn_effect))),
    ("effect_count", c_size_t),
    ("steps_from", c_int32),
]

cairn_request._fields_ = [
    ("size", c_size_t),
    ("method", c_char_p),
    ("target", c_char_p),
    ("body", c_char_p),
    ("body_len", c_size_t),
    ("wanted", c_void_p),
    ("arg", c_void_p),
    ("caller", c_char_p),
    ("role", c_char_p),
    ("page", c_char_p),
]

cairn_stats._fields_ = [
    ("size", c_size_t),
    ("enqueued", c_uint64),
    ("claimed", c_uint64),
    ("completed", c_uint64),
    ("failed", c_uint64),
    ("retried", c_uint64),
    ("cancelled", c_uint64),
    ("released", c_uint64),
    ("heartbeats", c_uint64),
    ("lease_expiries", c_uint64),
    ("late_reports", c_uint64),
    ("commits", c_uint64),
    ("commit_requests", c_uint64),
    ("commit_us", c_uint64),
    ("commit_us_max", c_uint64),
    ("pending", c_uint64),
    ("ready", c_uint64),
    ("leased", c_uint64),
    ("oldest_waiting_us", c_uint64),
    ("steps_ready", c_uint64),
    ("steps_leased", c_uint64),
    ("instances_pending", c_uint64),
    ("instances_running", c_uint64),
    ("instances_waiting_signal", c_uint64),
    ("instances_paused", c_uint64),
    ("instances_compensating", c_uint64),
    ("instances_dlq", c_uint64),
    ("started", c_uint64),
    ("passages", c_uint64),
    ("passage_commits", c_uint64),
    ("passage_conflicts", c_uint64),
]

cairn_retention._fields_ = [
    ("size", c_size_t),
    ("jobs_succeeded_ms", c_int64),
    ("jobs_failed_ms", c_int64),
    ("jobs_cancelled_ms", c_int64),
    ("instances_completed_ms", c_int64),
    ("instances_failed_ms", c_int64),
    ("instances_cancelled_ms", c_int64),
    ("instances_aborted_ms", c_int64),
    ("keys_ms", c_int64),
]

cairn_purge_options._fields_ = [
    ("size", c_size_t),
    ("older_than_ms", c_int64),
    ("status", c_char_p),
    ("workflow", c_char_p),
    ("type", c_char_p),
    ("is_dry_run", c_bool),
    ("cursor", c_char_p),
]

cairn_purged._fields_ = [
    ("jobs", c_int64),
    ("instances", c_int64),
    ("next", c_char * 32),
]

cairn_finding._fields_ = [
    ("check", c_char_p),
    ("result", c_char_p),
    ("result_code", c_int),
    ("text", c_char * 384),
]

# What the _DEFAULTS of the header set; everything else is zero.
DEFAULTS: Dict[str, Dict[str, Any]] = {
    "cairn_open_options": {
        "retry_ms": 10000,
        "max_payload": 1 << 20,
        "max_name": 256,
        "max_error": 4096,
        "max_batch": 1000,
        "aging_rate": 0.5,
        "missing_cooldown_ms": 5000,
        "missing_throttle_ms": 60000,
        "missing_jitter": 0.2,
    },
    "cairn_schema": {},
    "cairn_trial_options": {
        "seed": 1,
        "fail": 0.1,
        "crash": 0.02,
        "timeout": 0.02,
        "late": 0.02,
        "twice": 0.02,
    },
    "cairn_job_spec": {"priority": 100, "max_attempts": 3},
    "cairn_job_filter": {"limit": 100},
    "cairn_registry_spec": {"is_enabled": True},
    "cairn_schedule_spec": {"paused": -1},
    "cairn_limit_spec": {},
    "cairn_function_code": {},
    "cairn_known": {"before": 1},
    "cairn_claim_options": {"max": 1, "lease_ms": 30000},
    "cairn_outbound": {},
    "cairn_report": {"outcome": CAIRN_COMPLETE, "delay_ms": -1, "timeout_ms": -1},
    "cairn_beat": {"extend_ms": 30000},
    "cairn_worker_options": {"concurrency": 4, "lease_ms": 30000, "wait_ms": 20000},
    "cairn_start_options": {},
    "cairn_instance_filter": {"limit": 100},
    "cairn_signal_options": {},
    "cairn_function_options": {"version": 1, "commit": CAIRN_COMMIT_STEP, "max_attempts": 3},
    "cairn_step_options": {
        "retries": 2,
        "backoff": b"exponential",
        "base_ms": 1000,
        "max_ms": 300000,
        "compensation_max_attempts": 3,
        "compensation_backoff": b"exponential",
        "compensation_base_ms": 1000,
        "compensation_max_ms": 300000,
    },
    "cairn_passage_costs": {},
    "cairn_request": {"method": b"GET"},
    "cairn_stats": {},
    "cairn_retention": {
        "jobs_succeeded_ms": CAIRN_RETENTION_SAME,
        "jobs_failed_ms": CAIRN_RETENTION_SAME,
        "jobs_cancelled_ms": CAIRN_RETENTION_SAME,
        "instances_completed_ms": CAIRN_RETENTION_SAME,
        "instances_failed_ms": CAIRN_RETENTION_SAME,
        "instances_cancelled_ms": CAIRN_RETENTION_SAME,
        "instances_aborted_ms": CAIRN_RETENTION_SAME,
        "keys_ms": CAIRN_RETENTION_SAME,
    },
    "cairn_purge_options": {"older_than_ms": -1},
}

# name -> (result, arguments)
PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "cairn_version": (c_char_p, []),
    "cairn_abi": (c_int, []),
    "cairn_sizeof": (c_size_t, [c_char_p]),
    "cairn_code_name": (c_char_p, [c_int]),
    "cairn_code_http_status": (c_int, [c_int]),
    "cairn_code_meaning": (c_char_p, [c_int]),
    "cairn_open": (c_int, [POINTER(cairn_open_options), POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_migrate_plan": (c_int, [
        POINTER(cairn_open_options), POINTER(c_char_p), POINTER(cairn_error),
    ]),
    "cairn_close": (None, [c_void_p]),
    "cairn_abandon": (None, [c_void_p]),
    "cairn_url": (c_char_p, [c_void_p]),
    "cairn_schema_get": (c_int, [c_void_p, POINTER(cairn_schema), POINTER(cairn_error)]),
    "cairn_page_count": (c_size_t, [c_void_p]),
    "cairn_page_next": (c_char_p, [c_void_p]),
    "cairn_page_free": (None, [c_void_p]),
    "cairn_page_scanned_to": (c_int64, [c_void_p]),
    "cairn_page_job": (POINTER(cairn_job), [c_void_p, c_size_t]),
    "cairn_page_event": (POINTER(cairn_event), [c_void_p, c_size_t]),
    "cairn_page_registry_entry": (POINTER(cairn_registry_entry), [c_void_p, c_size_t]),
    "cairn_page_task": (POINTER(cairn_task), [c_void_p, c_size_t]),
    "cairn_page_workflow": (POINTER(cairn_workflow), [c_void_p, c_size_t]),
    "cairn_page_flaw": (POINTER(cairn_flaw), [c_void_p, c_size_t]),
    "cairn_page_instance": (POINTER(cairn_instance), [c_void_p, c_size_t]),
    "cairn_page_step": (POINTER(cairn_step), [c_void_p, c_size_t]),
    "cairn_page_log": (POINTER(cairn_log), [c_void_p, c_size_t]),
    "cairn_page_decision": (POINTER(cairn_decision), [c_void_p, c_size_t]),
    "cairn_page_dlq_record": (POINTER(cairn_dlq_record), [c_void_p, c_size_t]),
    "cairn_page_outbox_event": (POINTER(cairn_outbox_event), [c_void_p, c_size_t]),
    "cairn_page_finding": (POINTER(cairn_finding), [c_void_p, c_size_t]),
    "cairn_page_why": (POINTER(cairn_why), [c_void_p, c_size_t]),
    "cairn_page_schedule": (POINTER(cairn_schedule), [c_void_p, c_size_t]),
    "cairn_page_schedule_run": (POINTER(cairn_schedule_run), [c_void_p, c_size_t]),
    "cairn_page_schedule_time": (POINTER(cairn_schedule_time), [c_void_p, c_size_t]),
    "cairn_page_limit": (POINTER(cairn_limit), [c_void_p, c_size_t]),
    "cairn_clock_now": (c_int, [c_void_p, POINTER(c_int64), POINTER(cairn_error)]),
    "cairn_clock_advance": (c_int, [c_void_p, c_int64, POINTER(c_int64), POINTER(cairn_error)]),
    "cairn_clock_reseed": (c_int, [c_void_p, c_uint64, POINTER(cairn_error)]),
    "cairn_clock_next": (c_int, [c_void_p, POINTER(c_int64), POINTER(cairn_error)]),
    "cairn_trial_open": (c_int, [
        POINTER(cairn_open_options), POINTER(cairn_trial_options), POINTER(c_void_p),
        POINTER(cairn_error),
    ]),
    "cairn_trial_check": (c_int, [
        c_void_p, c_char_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_enqueue": (c_int, [
        c_void_p, POINTER(cairn_job_spec), c_size_t, POINTER(cairn_enqueued), POINTER(cairn_error),
    ]),
    "cairn_job_get": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_job_list": (c_int, [
        c_void_p, POINTER(cairn_job_filter), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_job_wait": (c_int, [
        c_void_p, c_char_p, c_int64, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_job_events": (c_int, [
        c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_job_cancel": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_job_delete": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_job_retry": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_registry_put": (c_int, [c_void_p, POINTER(cairn_registry_spec), POINTER(cairn_error)]),
    "cairn_registry_list": (c_int, [
        c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_schedule_put": (c_int, [c_void_p, POINTER(cairn_schedule_spec), POINTER(cairn_error)]),
    "cairn_schedule_get": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_schedule_list": (c_int, [
        c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_schedule_pause": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_schedule_resume": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_schedule_delete": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_schedule_trigger": (c_int, [
        c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_schedule_next": (c_int, [
        c_void_p, c_char_p, c_int32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_limit_put": (c_int, [c_void_p, POINTER(cairn_limit_spec), POINTER(cairn_error)]),
    "cairn_limit_get": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_limit_list": (c_int, [
        c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_limit_delete": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_claim": (c_int, [
        c_void_p, POINTER(cairn_claim_options), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_idle": (c_int, [
        c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_int), POINTER(cairn_error),
    ]),
    "cairn_idle_for": (c_int, [
        c_void_p, POINTER(cairn_claim_options), POINTER(c_int), POINTER(cairn_error),
    ]),
    "cairn_wake": (None, [c_void_p, c_char_p]),
    "cairn_report_many": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_report), c_size_t, POINTER(cairn_reported),
        POINTER(cairn_claim_options), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_task_complete": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_task), c_char_p, POINTER(cairn_error),
    ]),
    "cairn_task_fail": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_task), c_char_p, POINTER(cairn_error),
    ]),
    "cairn_heartbeat": (c_int, [
        c_void_p, c_char_p, c_char_p, c_char_p, c_uint32, POINTER(c_int64), POINTER(c_char_p),
        POINTER(cairn_error),
    ]),
    "cairn_heartbeat_many": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_beat), c_size_t, POINTER(cairn_error),
    ]),
    "cairn_keeper_start": (c_int, [
        c_void_p, c_char_p, c_uint32, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_keeper_add": (c_int, [
        c_void_p, c_char_p, c_char_p, POINTER(c_uint64), POINTER(cairn_error),
    ]),
    "cairn_keeper_remove": (c_int64, [c_void_p, c_uint64]),
    "cairn_keeper_take": (c_size_t, [c_void_p, c_uint32, POINTER(cairn_kept_stop), c_size_t]),
    "cairn_keeper_stop": (None, [c_void_p]),
    "cairn_keeper_free": (None, [c_void_p]),
    "cairn_worker_new": (c_int, [
        c_void_p, POINTER(cairn_worker_options), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_worker_handle": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, POINTER(cairn_error)]),
    "cairn_worker_run": (c_int, [c_void_p, POINTER(cairn_error)]),
    "cairn_worker_stop": (None, [c_void_p]),
    "cairn_worker_free": (None, [c_void_p]),
    "cairn_work_task": (POINTER(cairn_task), [c_void_p]),
    "cairn_work_stop": (c_char_p, [c_void_p]),
    "cairn_work_instance_input": (c_int, [c_void_p, POINTER(c_char_p), POINTER(cairn_error)]),
    "cairn_work_output_of": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), POINTER(cairn_error)]),
    "cairn_work_context": (c_int, [c_void_p, POINTER(c_char_p), POINTER(cairn_error)]),
    "cairn_work_set_output": (c_int, [c_void_p, c_char_p]),
    "cairn_work_set_error": (c_int, [c_void_p, c_char_p]),
    "cairn_work_set_delay": (None, [c_void_p, c_int64]),
    "cairn_work_wait": (c_int, [c_void_p, c_char_p, c_int64]),
    "cairn_work_emit": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cairn_workflow_validate": (c_int, [
        c_char_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_workflow_draw": (c_int, [
        c_char_p, c_char_p, c_char_p, POINTER(c_char_p), POINTER(cairn_error),
    ]),
    "cairn_text_free": (None, [c_char_p]),
    "cairn_workflow_deploy": (c_int, [
        c_void_p, c_char_p, c_char_p, POINTER(c_bool), POINTER(cairn_error),
    ]),
    "cairn_workflow_get": (c_int, [
        c_void_p, c_char_p, c_int32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_workflow_list": (c_int, [
        c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_builder_new": (c_void_p, [c_char_p, c_int32]),
    "cairn_builder_dlq": (None, [c_void_p, c_bool]),
    "cairn_builder_input": (None, [c_void_p, c_char_p, c_char_p]),
    "cairn_builder_step": (None, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "cairn_builder_compensation": (None, [c_void_p, c_char_p, c_char_p]),
    "cairn_builder_start": (None, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "cairn_builder_sleep": (None, [c_void_p, c_char_p, c_int64]),
    "cairn_builder_wait": (None, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "cairn_builder_save_point": (None, [c_void_p, c_char_p]),
    "cairn_builder_human": (None, [c_void_p, c_char_p, c_char_p]),
    "cairn_builder_condition": (None, [c_void_p, c_char_p, c_char_p]),
    "cairn_builder_else": (None, [c_void_p]),
    "cairn_builder_fork": (None, [c_void_p, c_char_p, c_char_p]),
    "cairn_builder_branch": (None, [c_void_p]),
    "cairn_builder_parallel": (None, [c_void_p, c_char_p]),
    "cairn_builder_map": (None, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "cairn_builder_end": (None, [c_void_p]),
    "cairn_builder_text": (c_int, [c_void_p, POINTER(c_char_p), POINTER(cairn_error)]),
    "cairn_builder_free": (None, [c_void_p]),
    "cairn_instance_start": (c_int, [
        c_void_p, POINTER(cairn_start_options), POINTER(cairn_enqueued), POINTER(cairn_error),
    ]),
    "cairn_instance_get": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_instance_why": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_instance_list": (c_int, [
        c_void_p, POINTER(cairn_instance_filter), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_instance_wait": (c_int, [
        c_void_p, c_char_p, c_int64, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_instance_steps": (c_int, [
        c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_instance_events": (c_int, [
        c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_instance_logs": (c_int, [
        c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_instance_signal": (c_int, [
        c_void_p, POINTER(cairn_signal_options), POINTER(cairn_signalled), POINTER(cairn_error),
    ]),
    "cairn_instance_pause": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_instance_resume": (c_int, [c_void_p, c_char_p, c_bool, POINTER(cairn_error)]),
    "cairn_instance_restart": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_instance_retry": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_instance_rerun": (c_int, [
        c_void_p, c_char_p, c_char_p, c_char_p, POINTER(cairn_enqueued), POINTER(cairn_error),
    ]),
    "cairn_instance_cancel": (c_int, [
        c_void_p, c_char_p, c_char_p, c_char_p, POINTER(cairn_error),
    ]),
    "cairn_instance_abort": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, POINTER(cairn_error)]),
    "cairn_instance_decide": (c_int, [
        c_void_p, c_char_p, c_char_p, c_bool, c_char_p, c_char_p, POINTER(cairn_error),
    ]),
    "cairn_instance_decisions": (c_int, [
        c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_dlq_list": (c_int, [
        c_void_p, c_char_p, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_dlq_get": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(cairn_error)]),
    "cairn_dlq_requeue": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(cairn_error)]),
    "cairn_outbox_claim": (c_int, [
        c_void_p, c_char_p, c_uint32, c_uint32, POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_outbox_ack": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_worker_function": (c_int, [
        c_void_p, POINTER(cairn_function_options), POINTER(cairn_error),
    ]),
    "cairn_passage_step": (c_int, [
        c_void_p, POINTER(cairn_step_options), POINTER(c_char_p), POINTER(cairn_error),
    ]),
    "cairn_passage_begin_step": (c_int, [
        c_void_p, POINTER(cairn_step_options), POINTER(c_void_p), POINTER(c_char_p),
        POINTER(cairn_error),
    ]),
    "cairn_passage_end_step": (c_int, [
        c_void_p, c_void_p, c_int, POINTER(c_char_p), POINTER(cairn_error),
    ]),
    "cairn_passage_drop_step": (c_int, [c_void_p, c_void_p, POINTER(cairn_error)]),
    "cairn_passage_sleep": (c_int, [c_void_p, c_char_p, c_int64, POINTER(cairn_error)]),
    "cairn_passage_sleep_until": (c_int, [c_void_p, c_char_p, c_int64, POINTER(cairn_error)]),
    "cairn_passage_wait_event": (c_int, [
        c_void_p, c_char_p, c_char_p, c_int64, POINTER(c_char_p), POINTER(cairn_error),
    ]),
    "cairn_passage_now": (c_int, [c_void_p, POINTER(c_int64), POINTER(cairn_error)]),
    "cairn_passage_random": (c_int, [c_void_p, POINTER(c_double), POINTER(cairn_error)]),
    "cairn_passage_uuid": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_passage_start_job": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_job_spec), c_char_p, POINTER(cairn_error),
    ]),
    "cairn_passage_start_workflow": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_start_options), c_char_p, POINTER(cairn_error),
    ]),
    "cairn_passage_call": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_start_options), c_int64, POINTER(c_char_p),
        POINTER(cairn_error),
    ]),
    "cairn_passage_is_replaying": (c_int, [c_void_p]),
    "cairn_passage_log": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, POINTER(cairn_error)]),
    "cairn_passage_task": (POINTER(cairn_task), [c_void_p]),
    "cairn_passage_stop": (c_char_p, [c_void_p]),
    "cairn_passage_set_output": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_passage_set_error": (c_int, [c_void_p, c_char_p]),
    "cairn_passage_open": (c_int, [
        c_void_p, c_char_p, POINTER(cairn_task), c_int, c_uint32, POINTER(c_void_p),
        POINTER(cairn_error),
    ]),
    "cairn_passage_end": (c_int, [c_void_p, c_int, c_char_p, POINTER(cairn_error)]),
    "cairn_passage_free": (None, [c_void_p]),
    "cairn_passage_end_claim": (c_int, [
        c_void_p, c_int, POINTER(cairn_claim_options), c_char_p, POINTER(c_void_p),
        POINTER(cairn_error),
    ]),
    "cairn_passage_costs_get": (c_int, [
        c_void_p, POINTER(cairn_passage_costs), POINTER(cairn_error),
    ]),
    "cairn_call": (c_int, [
        c_void_p, POINTER(cairn_request), POINTER(c_void_p), POINTER(cairn_error),
    ]),
    "cairn_call_async": (None, [c_void_p, POINTER(cairn_request), c_void_p]),
    "cairn_end_unwanted": (None, [c_void_p]),
    "cairn_response_status": (c_int, [c_void_p]),
    "cairn_response_content_type": (c_char_p, [c_void_p]),
    "cairn_response_body": (c_char_p, [c_void_p, POINTER(c_size_t)]),
    "cairn_response_free": (None, [c_void_p]),
    "cairn_notices": (c_int, [c_void_p, POINTER(c_void_p)]),
    "cairn_stats_get": (c_int, [c_void_p, POINTER(cairn_stats), POINTER(cairn_error)]),
    "cairn_retention_get": (c_int, [c_void_p, POINTER(cairn_retention), POINTER(cairn_error)]),
    "cairn_retention_set": (c_int, [c_void_p, POINTER(cairn_retention), POINTER(cairn_error)]),
    "cairn_purge": (c_int, [
        c_void_p, POINTER(cairn_purge_options), POINTER(cairn_purged), POINTER(cairn_error),
    ]),
    "cairn_instance_delete": (c_int, [c_void_p, c_char_p, POINTER(cairn_error)]),
    "cairn_doctor": (c_int, [c_void_p, POINTER(c_void_p), POINTER(cairn_error)]),
}

STRUCTS: Dict[str, Type[Structure]] = {
    "cairn_error": cairn_error, "cairn_open_options": cairn_open_options,
    "cairn_schema": cairn_schema, "cairn_why_action": cairn_why_action, "cairn_why": cairn_why,
    "cairn_trial_options": cairn_trial_options, "cairn_job_spec": cairn_job_spec,
    "cairn_enqueued": cairn_enqueued, "cairn_job": cairn_job, "cairn_job_filter": cairn_job_filter,
    "cairn_event": cairn_event, "cairn_registry_entry": cairn_registry_entry,
    "cairn_registry_spec": cairn_registry_spec, "cairn_schedule_spec": cairn_schedule_spec,
    "cairn_schedule_run": cairn_schedule_run, "cairn_schedule": cairn_schedule,
    "cairn_schedule_time": cairn_schedule_time, "cairn_limit_spec": cairn_limit_spec,
    "cairn_limit_rate": cairn_limit_rate, "cairn_limit": cairn_limit, "cairn_task": cairn_task,
    "cairn_function_code": cairn_function_code, "cairn_known": cairn_known,
    "cairn_claim_options": cairn_claim_options, "cairn_outbound": cairn_outbound,
    "cairn_report": cairn_report, "cairn_reported": cairn_reported, "cairn_beat": cairn_beat,
    "cairn_kept_stop": cairn_kept_stop, "cairn_worker_options": cairn_worker_options,
    "cairn_workflow": cairn_workflow, "cairn_flaw": cairn_flaw,
    "cairn_start_options": cairn_start_options, "cairn_instance": cairn_instance,
    "cairn_instance_filter": cairn_instance_filter, "cairn_step": cairn_step,
    "cairn_log": cairn_log, "cairn_signal_options": cairn_signal_options,
    "cairn_signalled": cairn_signalled, "cairn_decision": cairn_decision,
    "cairn_dlq_record": cairn_dlq_record, "cairn_outbox_event": cairn_outbox_event,
    "cairn_function_options": cairn_function_options, "cairn_step_options": cairn_step_options,
    "cairn_passage_costs": cairn_passage_costs, "cairn_received": cairn_received,
    "cairn_effect": cairn_effect, "cairn_memory": cairn_memory, "cairn_request": cairn_request,
    "cairn_stats": cairn_stats, "cairn_retention": cairn_retention,
    "cairn_purge_options": cairn_purge_options, "cairn_purged": cairn_purged,
    "cairn_finding": cairn_finding,
}

S = TypeVar("S", bound=Structure)


def new(struct: Type[S], **members: Any) -> S:
    """A struct with its defaults and its size, then with these members."""
    values = DEFAULTS.get(struct.__name__)
    if values is None:
        return struct(**members)
    return struct(**{"size": ctypes.sizeof(struct), **values, **members})


def bind(library: ctypes.CDLL) -> List[str]:
    """Tells ctypes the prototypes; answers the names that this library does not have."""
    missing: List[str] = []
    for name, (result, arguments) in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            missing.append(name)
            continue
        function.restype = result
        function.argtypes = arguments
    return missing

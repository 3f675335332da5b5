/* engine/operation.c - each kind of request: its name, its check, what it does, what it answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A request with `apply` needs a commit, as do claims and moving the clock; one that has only `answer`
 * is a question for the reader.
 */
#include "engine/batch.h"
#include "engine/check.h"
#include "engine/read.h"

static const struct engine_operation operations[OP_COUNT] = {
    [OP_ENQUEUE] = {"enqueue", check_enqueue, batch_enqueue},
    [OP_CLAIM] = {"claim", check_claim},                   /* batch_claim() */
    [OP_REPORT] = {"report", check_reports, batch_report}, /* and batch_claim() */
    [OP_HEARTBEAT] = {"heartbeat", check_heartbeat, batch_heartbeat},
    [OP_HEARTBEATS] = {"heartbeats", check_heartbeats, batch_heartbeats},
    [OP_JOB_CANCEL] = {"cancel", check_id, batch_control_job, answer_job},
    [OP_JOB_DELETE] = {"delete", check_id, batch_control_job, answer_job},
    [OP_JOB_RETRY] = {"retry", check_id, batch_control_job, answer_job},
    [OP_REGISTRY_PUT] = {"registry put", check_registry, batch_put_registry},
    [OP_CLOCK_ADVANCE] = {"clock advance", check_advance}, /* clock_advance() */
    [OP_DEPLOY] = {"deploy", check_deploy, batch_deploy},
    [OP_START] = {"start", check_start, batch_start},
    [OP_SIGNAL] = {"signal", check_signal, batch_signal},
    [OP_PAUSE] = {"pause", check_control, batch_control_instance, answer_instance},
    [OP_RESUME] = {"resume", check_control, batch_control_instance, answer_instance},
    [OP_RESTART] = {"restart", check_control, batch_control_instance, answer_instance},
    [OP_RERUN] = {"rerun", check_rerun, batch_rerun},
    [OP_RETRY] = {"retry", check_control, batch_control_instance, answer_instance},
    [OP_CANCEL] = {"cancel", check_stop, batch_control_instance, answer_instance},
    [OP_ABORT] = {"abort", check_stop, batch_control_instance, answer_instance},
    [OP_OUTBOX_CLAIM] = {"outbox claim", check_outbox_claim}, /* batch_claim_outbox() */
    [OP_OUTBOX_ACK] = {"outbox ack", check_id, batch_ack_outbox},
    [OP_OUTBOX_RELEASE] = {"outbox release", check_outbox_release, batch_release_outbox},
    [OP_DECIDE] = {"decide", check_decide, batch_decide, answer_instance},
    [OP_DLQ_REQUEUE] = {"requeue", check_requeue, batch_requeue, answer_instance},
    [OP_BULK_START] = {"bulk", check_bulk_start, batch_start_bulk},
    [OP_BULK_STOP] = {"bulk stop", check_id, batch_stop_bulk},
    [OP_RETENTION_SET] = {"retention set", check_retention, batch_set_retention},
    [OP_PURGE] = {"purge", check_purge, batch_purge},
    [OP_INSTANCE_DELETE] = {"instance delete", check_id, batch_delete_instance},
    [OP_METRICS] = {"metrics", check_nothing, batch_metrics,
                    answer_metrics}, /* by the reader */
    [OP_BULK_STEP] = {"bulk step", check_nothing, batch_walk_bulk},
    [OP_RETENTION_STEP] = {"retention step", check_nothing, batch_sweep},
    [OP_SCHEDULE_PUT] = {"schedule put", check_schedule, batch_put_schedule},
    [OP_SCHEDULE_STOP] = {"schedule stop", check_control, batch_stop_schedule},
    [OP_SCHEDULE_RESUME] = {"schedule resume", check_control, batch_resume_schedule},
    [OP_SCHEDULE_TRIGGER] = {"schedule trigger", check_control, batch_trigger_schedule},
    [OP_SCHEDULE_DELETE] = {"schedule delete", check_id, batch_delete_schedule},
    [OP_LIMIT_PUT] = {"limit put", check_limit, batch_put_limit},
    [OP_LIMIT_DELETE] = {"limit delete", check_id, batch_delete_limit},
    [OP_COMMIT] = {"commit", check_commit, batch_commit_passage}, /* and batch_claim() */

    [OP_JOB_GET] = {"get", check_id, .answer = answer_job},
    [OP_JOB_LIST] = {"list", check_job_list, .answer = answer_rows},
    [OP_JOB_COUNTS] = {"count", check_job_counts, .answer = answer_counts},
    [OP_FIND] = {"find", check_find, .answer = answer_find},
    [OP_JOB_EVENTS] = {"events", check_history, .answer = answer_list},
    [OP_REGISTRY_LIST] = {"registry list", check_text_list, .answer = answer_list},
    [OP_CLOCK_NOW] = {"clock", check_nothing, .answer = answer_clock},
    [OP_IDLE] = {"idle", check_idle, .answer = answer_idle},
    [OP_WORKER_LIST] = {"workers", check_text_list, .answer = answer_workers},
    [OP_WORKER_TASKS] = {"worker tasks", check_id, .answer = answer_held},
    [OP_TYPE_LIST] = {"types", check_text_list, .answer = answer_types},
    [OP_OVERVIEW] = {"overview", check_overview, .answer = answer_overview},
    [OP_BULK_GET] = {"bulk get", check_id, .answer = answer_bulk},
    [OP_BULK_LIST] = {"bulk list", check_nothing, .answer = answer_bulks},
    [OP_RETENTION_GET] = {"retention", check_nothing, .answer = answer_retention},
    [OP_SCHEDULE_GET] = {"schedule get", check_id, .answer = answer_schedule},
    [OP_LIMIT_GET] = {"limit get", check_id, .answer = answer_limit},
    [OP_LIMIT_LIST] = {"limit list", check_text_list, .answer = answer_limits},
    [OP_SCHEDULE_LIST] = {"schedule list", check_text_list, .answer = answer_schedules},
    [OP_SCHEDULE_NEXT] = {"schedule next", check_schedule_next, .answer = answer_schedule_next},
    [OP_NEEDS] = {"needs", check_nothing, .answer = answer_needs},
    [OP_ABOUT] = {"about", check_nothing, .answer = answer_about},
    [OP_STATS] = {"stats", check_nothing, .answer = answer_stats},
    [OP_DOCTOR] = {"doctor", check_nothing, .answer = answer_doctor},
    [OP_DEFINITION_GET] = {"definition get", check_definition, .answer = answer_definition},
    [OP_DEFINITION_LIST] = {"definition list", check_definitions, .answer = answer_definitions},
    [OP_VERSION_LIST] = {"version list", check_definition, .answer = answer_versions},
    [OP_GRID] = {"grid", check_grid, .answer = answer_grid},
    [OP_INSTANCE_GET] = {"instance get", check_id, .answer = answer_instance},
    [OP_INSTANCE_WHY] = {"why", check_id, .answer = answer_why},
    [OP_INSTANCE_LIST] = {"instance list", check_instance_list, .answer = answer_rows},
    [OP_INSTANCE_COUNTS] = {"instance count", check_instance_counts, .answer = answer_counts},
    [OP_STEP_LIST] = {"step list", check_part_list, .answer = answer_list},
    [OP_INSTANCE_EVENTS] = {"instance events", check_history, .answer = answer_list},
    [OP_ALL_EVENTS] = {"all events", check_number_list, .answer = answer_stream},
    [OP_APPROVAL_LIST] = {"approvals", check_approvals, .answer = answer_approvals},
    [OP_DLQ_LIST] = {"dlq list", check_dlq_list, .answer = answer_records},
    [OP_ERROR_LIST] = {"errors", check_errors, .answer = answer_errors},
    [OP_DLQ_GET] = {"dlq show", check_id, .answer = answer_dlq_record},
    [OP_LOG_LIST] = {"log list", check_history, .answer = answer_list},
    [OP_STEP_GET] = {"step get", check_id, .answer = answer_step},
    [OP_SIGNAL_LIST] = {"signal list", check_part_list, .answer = answer_list},
    [OP_OUTBOX_LIST] = {"outbox list", check_part_list, .answer = answer_list},
    [OP_OUTBOX_OPEN] = {"outbox", check_number_list, .answer = answer_list},
    [OP_DECISION_LIST] = {"decision list", check_part_list, .answer = answer_list},
    [OP_TASK_CONTEXT] = {"task context", check_context, .answer = answer_context},
};

const struct engine_operation *engine_operation_of(enum request_op op)
{
    return &operations[op];
}

const char *request_op_name(enum request_op op)
{
    return operations[op].name;
}

bool request_is_read(enum request_op op)
{
    return operations[op].answer && !operations[op].apply;
}

bool request_is_about_instance(enum request_op op)
{
    return operations[op].apply == batch_control_instance || op == OP_SIGNAL ||
           op == OP_DECIDE || op == OP_RERUN;
}

cairn_code request_check(const cairn_open_options *limits, struct request *request)
{
    struct check check = {.limits = limits, .request = request, .error = &request->error};
    error_clear(&request->error);
    request->code = operations[request->op].check(&check);
    return request->code;
}

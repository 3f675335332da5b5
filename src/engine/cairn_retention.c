/* engine/cairn_retention.c - the calls of cairn.h about the retention policy and purges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/scan.h"
#include "engine/calling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A member of the struct, and its name in JSON. */
struct age {
    const char *word;
    size_t offset;
};
#define AGE(word, member)                       \
    {                                           \
        word, offsetof(cairn_retention, member) \
    }
static const struct age job_ages[] = {AGE("succeeded", jobs_succeeded_ms),
                                      AGE("failed", jobs_failed_ms),
                                      AGE("cancelled", jobs_cancelled_ms)};
static const struct age instance_ages[] = {
    AGE("completed", instances_completed_ms), AGE("failed", instances_failed_ms),
    AGE("cancelled", instances_cancelled_ms), AGE("aborted", instances_aborted_ms)};

static int64_t *age_at(cairn_retention *policy, const struct age *age)
{
    return (int64_t *)((char *)policy + age->offset);
}

static bool is_age(int64_t ms)
{
    return ms >= CAIRN_RETENTION_SAME;
}

static void write_age(struct json_out *out, int64_t ms)
{
    if (ms == CAIRN_RETENTION_NEVER)
        json_raw(out, NULL);
    else
        json_int(out, ms);
}

/* The ages that are to change; NULL: none of them. */
static cairn_code write_ages(struct arena *arena, cairn_retention *policy,
                             const struct age *ages, size_t count, const char **ret_json,
                             cairn_error *reterr)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    size_t written = 0;
    json_open(&out, '{');
    for (size_t i = 0; i < count; i++) {
        int64_t ms = *age_at(policy, &ages[i]);
        if (!is_age(ms)) {
            buf_done(&buf);
            return fail(reterr, CAIRN_E_BAD_INPUT, "the age of %s is %" PRId64 " ms",
                        ages[i].word, ms);
        }
        if (ms == CAIRN_RETENTION_SAME)
            continue;
        write_age(json_key(&out, ages[i].word), ms);
        written++;
    }
    json_close(&out, '}');
    const char *json = buf_keep(&buf, arena);
    NEED(json, reterr);
    *ret_json = written ? json : NULL;
    return CAIRN_OK;
}

cairn_code cairn_retention_set(cairn_engine *engine, const cairn_retention *policy,
                               cairn_error *reterr)
{
    cairn_retention given;
    SCOPED_REQUEST(request, OP_RETENTION_SET);
    struct retention_input *in = &request->in.retention;
    TRY(options_take(OPTIONS_RETENTION, &given, policy, reterr));
    TRY(write_ages(&request->arena, &given, job_ages, sizeof job_ages / sizeof *job_ages,
                   &in->jobs, reterr));
    TRY(write_ages(&request->arena, &given, instance_ages,
                   sizeof instance_ages / sizeof *instance_ages, &in->instances, reterr));
    if (!is_age(given.keys_ms))
        return fail(reterr, CAIRN_E_BAD_INPUT, "the age of keys is %" PRId64 " ms",
                    given.keys_ms);
    if (given.keys_ms == CAIRN_RETENTION_NEVER)
        in->keys_ms = "null";
    else if (given.keys_ms >= 0) {
        in->keys_ms = arena_printf(&request->arena, "%" PRId64, given.keys_ms);
        NEED(in->keys_ms, reterr);
    }
    return run_request(engine, request, reterr);
}

static int64_t read_age(struct slice value)
{
    int64_t ms;
    return slice_int(value, &ms) ? ms : CAIRN_RETENTION_NEVER;
}

static void read_ages(cairn_retention *policy, const char *json, const struct age *ages,
                      size_t count)
{
    struct slice object;
    if (!json || !scan_text(json, strlen(json), &object))
        return;
    for (size_t i = 0; i < count; i++)
        *age_at(policy, &ages[i]) = read_age(scan_find(object, ages[i].word));
}

cairn_code cairn_retention_get(cairn_engine *engine, cairn_retention *ret_policy,
                               cairn_error *reterr)
{
    cairn_retention policy = CAIRN_RETENTION_DEFAULTS;
    SCOPED_REQUEST(request, OP_RETENTION_GET);
    const struct retention_output *out = &request->out.retention;
    struct slice keys;
    TRY(options_check(OPTIONS_RETENTION, ret_policy->size, reterr));
    TRY(run_request(engine, request, reterr));
    read_ages(&policy, out->jobs, job_ages, sizeof job_ages / sizeof *job_ages);
    read_ages(&policy, out->instances, instance_ages,
              sizeof instance_ages / sizeof *instance_ages);
    if (out->keys_ms && scan_text(out->keys_ms, strlen(out->keys_ms), &keys))
        policy.keys_ms = read_age(keys);
    return options_give(OPTIONS_RETENTION, ret_policy, &policy, reterr);
}

cairn_code cairn_purge(cairn_engine *engine, const cairn_purge_options *options,
                       cairn_purged *ret_purged, cairn_error *reterr)
{
    cairn_purge_options given;
    SCOPED_REQUEST(request, OP_PURGE);
    TRY(options_take(OPTIONS_PURGE, &given, options, reterr));
    request->in.purge = (struct purge_input){.older_than_ms = given.older_than_ms,
                                             .status = given.status,
                                             .workflow = given.workflow,
                                             .type = given.type,
                                             .is_dry_run = given.is_dry_run,
                                             .cursor = given.cursor};
    TRY(run_request(engine, request, reterr));
    const struct purge_output *out = &request->out.purged;
    *ret_purged = (cairn_purged){.jobs = out->jobs, .instances = out->instances};
    snprintf(ret_purged->next, sizeof ret_purged->next, "%s", out->next ? out->next : "");
    return CAIRN_OK;
}

CALL_BY_ID(cairn_instance_delete, OP_INSTANCE_DELETE)

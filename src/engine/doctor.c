/* engine/doctor.c - looks a store over and says what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/retention.h"
#include "engine/limit.h"
#include "engine/read.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINDINGS_MAX = 32,
    TYPES_MAX = 1000,
    SKEW_WARNING_MS = 1000,
    LATE_S = 3600,
    ASIDES_NAMED = 5
};

/* Less than this on the disk of a file is worth a warning. */
#define LITTLE_ROOM ((int64_t)64 << 20)

const char *is_or_are(size_t count)
{
    return count == 1 ? " is" : "s are";
}

cairn_code find(struct question *q, const char *check, const char *result, const char *format,
                ...)
{
    struct page_output *out = &q->request->out.page;
    if (out->count == FINDINGS_MAX)
        return CAIRN_OK;
    cairn_finding *finding = &out->findings[out->count++];
    finding->check = check;
    finding->result = result;
    finding->result_code = (cairn_finding_result)finding_result_from(result);
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
    return CAIRN_OK;
}

static void look_at_store(struct question *q, const struct store_facts *facts)
{
    bool is_lossy = strstr(facts->settings, "fsync=off") ||
                    strstr(facts->settings, "synchronous_commit=off");
    find(q, "store", is_lossy ? "warning" : "ok", "%s answers%s%s%s", facts->product,
         facts->settings[0] ? ", " : "", facts->settings,
         is_lossy ? ": what was acknowledged can be lost when its machine stops" : "");
    if (facts->is_intact)
        find(q, "integrity", "ok", "the database's own check passed");
    else
        find(q, "integrity", "error", "the database is damaged: %s; restore it from a backup",
             facts->damage);
    if (facts->is_file && facts->free_bytes < LITTLE_ROOM)
        find(q, "disk", "warning",
             "there is room for %" PRId64
             " KiB more; make room, or nothing can be recorded soon",
             facts->free_bytes / 1024);
    if (facts->schema_version == facts->newest_schema_version)
        find(q, "schema", "ok", "version %d, as this program expects", facts->schema_version);
    else if (facts->schema_version > facts->newest_schema_version)
        find(q, "schema", "ok",
             "version %d, newer than this program's %d, which may still work on it",
             facts->schema_version, facts->newest_schema_version);
    else
        find(q, "schema", "error", "version %d, this program expects %d: run cairn migrate",
             facts->schema_version, facts->newest_schema_version);
}

static void look_at_clock(struct question *q, const struct store_facts *facts)
{
    struct clock *clock = &q->engine->clock;
    if (clock->is_virtual) {
        find(q, "clock", "warning",
             "the clock is virtual: time stands still until it is moved");
        return;
    }
    if (facts->clock_us == 0) {
        find(q, "clock", "ok", "this machine's own clock decides");
        return;
    }
    int64_t skew_ms = (clock_now_us(clock) - facts->clock_us) / US_PER_MS;
    bool is_off = llabs(skew_ms) > SKEW_WARNING_MS;
    find(q, "clock", is_off ? "warning" : "ok",
         "the database's clock decides; this machine's differs by %" PRId64 " ms%s", skew_ms,
         is_off ? ": set the clocks by NTP" : "");
}

static void look_at_work(struct question *q, const struct store_facts *facts,
                         const struct job_counts *counts, const struct step_counts *steps)
{
    if (facts->unwatched_leases)
        find(q, "leases", "error",
             "%" PRIu64 " jobs are leased and no timer knows of it: they were written while "
             "the triggers of "
             "workflow_run were disabled; set their status to pending",
             facts->unwatched_leases);
    else if (facts->expired_leases)
        find(q, "leases", "warning",
             "%" PRIu64
             " leases have expired and have not been recovered yet: is any worker or "
             "server running?",
             facts->expired_leases);
    else
        find(q, "leases", "ok",
             "%" PRIu64 " jobs and %" PRIu64 " steps are leased, none past its time",
             counts->leased, steps->leased);

    int64_t waited_s =
        counts->oldest_ready_us ? (q->tx->now_us - counts->oldest_ready_us) / US_PER_SEC : 0;
    bool is_late = waited_s > LATE_S;
    find(q, "queue", is_late ? "warning" : "ok",
         "%" PRIu64 " jobs wait, %" PRIu64 " of them due, the oldest for %" PRId64 " s%s",
         counts->pending, counts->ready, waited_s,
         is_late ? ": does any worker take its type?" : "");
}

static void look_at_asides(struct question *q)
{
    struct local_engine *engine = q->engine;
    size_t count = aside_count(engine);
    pthread_mutex_lock(&engine->lock);
    for (size_t i = 0; i < count && i < engine->asides.count && i < ASIDES_NAMED; i++)
        find(q, "rows", "error", "the store refuses to write %s, whose time has come: %s",
             engine->asides.rows[i].id, engine->asides.rows[i].why);
    pthread_mutex_unlock(&engine->lock);
    if (!count)
        find(q, "rows", "ok", "the store has refused no row whose time has come");
}

static void look_at_outbox(struct question *q, const struct store_facts *facts)
{
    int64_t waited_s =
        facts->oldest_outbox_us ? (q->tx->now_us - facts->oldest_outbox_us) / US_PER_SEC : 0;
    if (waited_s > LATE_S)
        find(q, "outbox", "warning",
             "an event waits for %" PRId64
             " s and is not acknowledged: does any dispatcher claim "
             "the outbox, and acknowledge what it has delivered?",
             waited_s);
    else
        find(q, "outbox", "ok", "no event waits for long");
}

static cairn_code look_at_retention(struct question *q)
{
    struct retention_row row;
    TRY(STORE(q, get_retention, &row));
    bool is_kept = retention_least_job(&row) == RETENTION_NEVER &&
                   retention_least_instance(&row) == RETENTION_NEVER;
    if (is_kept && !row.set_at_us)
        return find(
            q, "retention", "warning",
            "nothing that has ended is ever removed: this store is older than the retention "
            "policy; set one, such as: cairn retention set --jobs "
            "succeeded=30d,failed=90d,cancelled=30d --instances "
            "completed=30d,failed=90d,cancelled=30d,aborted=90d");
    return find(q, "retention", "ok", "%s",
                is_kept ? "everything is kept, as the policy says"
                        : "what has ended is removed as the policy says");
}

/* A file that was made by an earlier version keeps its size. */
static void look_at_space(struct question *q, const struct store_facts *facts)
{
    if (facts->is_unshrinkable)
        find(
            q, "space", "warning",
            "the file keeps its size when history is removed, and only uses the room again: to "
            "let it shrink, stop everything that has it open and run: sqlite3 FILE \"PRAGMA "
            "auto_vacuum = 2; VACUUM\"");
}

/* "...v1": advice only, any name works. */
static bool is_versioned(const char *type)
{
    const char *dot = strrchr(type, '.');
    if (!dot || dot[1] != 'v' || !dot[2])
        return false;
    for (const char *at = dot + 2; *at; at++)
        if (!isdigit((unsigned char)*at))
            return false;
    return true;
}

static cairn_code look_at_types(struct question *q)
{
    size_t count = 0, plain = 0, disabled = 0;
    const char *example = NULL, *off = NULL;
    const char **types = arena_array(q->arena, TYPES_MAX, sizeof *types);
    NEED(types, q->error);
    cairn_code code = STORE(q, list_types, false, types, TYPES_MAX, &count);
    for (size_t i = 0; i < count && !code; i++) {
        struct registry_row entry;
        if (!is_versioned(types[i]) && plain++ == 0)
            example = types[i];
        code = STORE(q, get_registry, types[i], &entry);
        if (!code && !entry.is_enabled && disabled++ == 0)
            off = types[i];
        if (code == CAIRN_E_NOT_FOUND)
            code = CAIRN_OK;
    }
    if (code)
        return code;
    if (plain)
        find(q, "types", "warning",
             "%zu of %zu types carry no version, such as \"%.100s\": name them like "
             "domain.action.v1, so that old runs stay executable",
             plain, count, example);
    else
        find(q, "types", "ok", "%zu type%s in use, all versioned", count,
             count == 1 ? "" : "s");
    if (disabled)
        return find(
            q, "registry", "warning",
            "%zu type%s disabled, such as \"%.100s\": jobs wait until their type is enabled",
            disabled, is_or_are(disabled), off);
    return find(q, "registry", "ok", "no type is disabled");
}

cairn_code answer_doctor(struct question *q)
{
    struct page_output *out = &q->request->out.page;
    struct store_facts facts = {0};
    struct job_counts counts = {0};
    struct step_counts steps = {0};
    *out = (struct page_output){.items =
                                    arena_array(q->arena, FINDINGS_MAX, sizeof(cairn_finding))};
    NEED(out->items, q->error);
    TRY(STORE(q, inspect, &facts));
    TRY(STORE(q, count_jobs, &counts));
    TRY(STORE(q, count_steps, &steps));
    look_at_store(q, &facts);
    look_at_clock(q, &facts);
    look_at_work(q, &facts, &counts, &steps);
    look_at_asides(q);
    look_at_outbox(q, &facts);
    look_at_space(q, &facts);
    TRY(look_at_retention(q));
    TRY(look_at_types(q));
    TRY(doctor_limits(q));
    return doctor_flow(q);
}

/* engine/cairn.c - the calls of cairn.h about an engine as a whole: opening, time, figures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "base/json.h"
#include "engine/calling.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

int cairn_abi(void)
{
    return CAIRN_ABI;
}

size_t cairn_sizeof(const char *struct_name)
{
    static const struct {
        const char *name;
        size_t size;
    } structs[] = {
#include "cairn_sizes.h"
    };
    for (size_t i = 0; struct_name && i < sizeof structs / sizeof *structs; i++)
        if (strcmp(structs[i].name, struct_name) == 0)
            return structs[i].size;
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

static const char *choose_url(const char *url)
{
    if (!url || !url[0])
        url = getenv("CAIRN_URL");
    return url && url[0] ? url : "sqlite:cairn.db";
}

static bool is_http(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

static cairn_code check_missing(const cairn_open_options *options, cairn_error *reterr)
{
    if (options->missing_jitter >= 0 && options->missing_jitter <= 1)
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_BAD_INPUT, "missing_jitter must be from 0 to 1");
}

cairn_code cairn_open(const cairn_open_options *options, cairn_engine **ret_engine,
                      cairn_error *reterr)
{
    cairn_open_options known;
    error_clear(reterr);
    TRY(options_take(OPTIONS_OPEN, &known, options, reterr));
    TRY(check_missing(&known, reterr));
    const char *url = choose_url(known.url);
    if (is_http(url))
        return remote_engine_open(&known, url, ret_engine, reterr);
    return local_engine_open(&known, url, ret_engine, reterr);
}

/* SQLite has one lock for all tables, and each migration is a transaction. */
static const char sqlite_locks[] = "all writers, until it is done";

static void write_plan(struct buf *buf, const char *url, const struct store_plan *plan)
{
    struct json_out out = {.buf = buf};
    json_open(&out, '{');
    json_str(json_key(&out, "url"), url);
    json_int(json_key(&out, "from"), plan->from);
    json_int(json_key(&out, "to"), plan->to);
    json_open(json_key(&out, "would_apply"), '[');
    for (size_t i = 0; i < plan->count; i++) {
        const struct store_migration *migration = &plan->migrations[i];
        const char *locks = migration->locks[0] ? migration->locks : sqlite_locks;
        json_open(&out, '{');
        json_int(json_key(&out, "number"), migration->number);
        json_str(json_key(&out, "name"), migration->name);
        json_str(json_key(&out, "does"), migration->does);
        json_int(json_key(&out, "oldest"),
                 migration->oldest ? migration->oldest : migration->number);
        json_str(json_key(&out, "locks"), plan->from ? locks : "none; the store is new");
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_close(&out, '}');
}

cairn_code cairn_migrate_plan(const cairn_open_options *options, char **ret_plan,
                              cairn_error *reterr)
{
    cairn_open_options known;
    struct store_plan plan = {0};
    error_clear(reterr);
    TRY(options_take(OPTIONS_OPEN, &known, options, reterr));
    const char *url = choose_url(known.url);
    struct store_config config = {.url = url,
                                  .no_create = known.no_create,
                                  .no_migrate = known.no_migrate,
                                  .lock_wait_ms = known.retry_ms};
    if (!is_http(url))
        TRY(store_plan(&config, &plan, reterr));

    cleanup(buf_done) struct buf text = {0};
    char *shown = url_without_password(url);
    NEED(shown, reterr);
    write_plan(&text, shown, &plan);
    mem_free(shown);
    char *taken = buf_take(&text, NULL);
    NEED(taken, reterr);
    *ret_plan = taken;
    return CAIRN_OK;
}

void cairn_close(cairn_engine *engine)
{
    if (engine)
        engine->ops->close(engine);
}

void cairn_abandon(cairn_engine *engine)
{
    if (engine)
        engine->ops->abandon(engine);
}

const char *cairn_url(const cairn_engine *engine)
{
    return engine->url;
}

cairn_code cairn_schema_get(const cairn_engine *engine, cairn_schema *ret_schema,
                            cairn_error *reterr)
{
    const struct store_schema *schema = engine->schema;
    cairn_schema known = CAIRN_SCHEMA_DEFAULTS;
    error_clear(reterr);
    if (schema) {
        known.from = schema->from;
        known.to = schema->to;
        known.applied = schema->applied;
        known.applied_count = schema->applied_count;
    }
    return options_give(OPTIONS_SCHEMA, ret_schema, &known, reterr);
}

/* ---- time ---------------------------------------------------------------------------------- */

cairn_code cairn_clock_now(cairn_engine *engine, int64_t *ret_now_us, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_NOW);
    TRY(run_request(engine, request, reterr));
    *ret_now_us = request->out.now_us;
    return CAIRN_OK;
}

cairn_code cairn_clock_next(cairn_engine *engine, int64_t *ret_due_us, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_NOW);
    request->in.clock.is_next_wanted = true;
    TRY(run_request(engine, request, reterr));
    *ret_due_us = request->out.next_us;
    return CAIRN_OK;
}

cairn_code cairn_clock_advance(cairn_engine *engine, int64_t ms, int64_t *ret_now_us,
                               cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_ADVANCE);
    request->in.advance.ms = ms;
    TRY(run_request(engine, request, reterr));
    if (ret_now_us)
        *ret_now_us = request->out.now_us;
    return CAIRN_OK;
}

cairn_code cairn_clock_reseed(cairn_engine *engine, uint64_t seed, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_ADVANCE);
    request->in.advance.seed = seed;
    return run_request(engine, request, reterr);
}

/* ---- figures ------------------------------------------------------------------------------- */

cairn_code cairn_stats_get(cairn_engine *engine, cairn_stats *ret_stats, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_STATS);
    TRY(options_check(OPTIONS_STATS, ret_stats->size, reterr));
    TRY(run_request(engine, request, reterr));
    return options_give(OPTIONS_STATS, ret_stats, &request->out.stats, reterr);
}

cairn_code cairn_doctor(cairn_engine *engine, cairn_page **ret_findings, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DOCTOR);
    return run_for_page(engine, &request, PAGE_FINDING, ret_findings, reterr);
}

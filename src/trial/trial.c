/* trial/trial.c - opens an engine with faults, passes requests on, and restarts the engine behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trial/trial.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/calling.h"
#include "simulate/judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- passing on ------------------------------------------------------------------------------ */

cairn_code trial_forward(struct trial *trial, struct request *request)
{
    void (*done)(struct request *) = request->done;
    void *arg = request->arg;
    pthread_rwlock_rdlock(&trial->gate);
    if (trial->inner) {
        engine_wait(trial->inner, request);
    } else {
        request->error = trial->why_gone;
        request->code = trial->why_gone.code;
    }
    pthread_rwlock_unlock(&trial->gate);
    request->done = done;
    request->arg = arg;
    return request->code;
}

static void submit(cairn_engine *engine, struct request *request)
{
    struct trial *trial = to_trial(engine);
    switch (request->op) {
    case OP_CLAIM:
        trial_claim(trial, request);
        break;
    case OP_REPORT:
        trial_report(trial, request);
        break;
    case OP_COMMIT:
        trial_commit(trial, request);
        break;
    case OP_IDLE:
        trial_idle(trial, request);
        break;
    case OP_CLOCK_ADVANCE:
        trial_advance(trial, request);
        break;
    case OP_CLOCK_NOW:
        trial_clock(trial, request);
        break;
    default:
        trial_forward(trial, request);
        break;
    }
    request->done(request);
}

static void wake(cairn_engine *engine, const char *worker)
{
    struct trial *trial = to_trial(engine);
    pthread_rwlock_rdlock(&trial->gate);
    if (trial->inner)
        trial->inner->ops->wake(trial->inner, worker);
    pthread_rwlock_unlock(&trial->gate);
}

void trial_blame(struct trial *trial, const char *law)
{
    const char **broken = list_add(&trial->arena, &trial->broken);
    if (broken)
        *broken = law;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void remove_folder(struct trial *trial)
{
    static const char *const files[] = {"trial.db", "trial.db-wal", "trial.db-shm"};
    char path[512];
    for (size_t i = 0; trial->folder && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", trial->folder, files[i]);
        unlink(path);
    }
    if (trial->folder)
        rmdir(trial->folder);
}

static void trial_free(struct trial *trial)
{
    remove_folder(trial);
    mem_free(trial->folder);
    mem_free(trial->url);
    mem_free(trial->base.url);
    notices_done(&trial->base);
    memories_done(&trial->base.memories);
    buf_done(&trial->story);
    arena_done(&trial->arena);
    pthread_rwlock_destroy(&trial->gate);
    pthread_mutex_destroy(&trial->lock);
    mem_free(trial);
}

static void close_trial(cairn_engine *engine)
{
    struct trial *trial = to_trial(engine);
    cairn_close(trial->inner);
    trial_free(trial);
}

/* In a forked process. */
static void abandon(cairn_engine *engine)
{
    struct trial *trial = to_trial(engine);
    if (trial->inner)
        cairn_abandon(trial->inner);
    mem_free(trial);
}

static const struct engine_ops trial_ops = {
    .submit = submit, .call = api_call, .wake = wake, .close = close_trial, .abandon = abandon};

/* The clock goes on where it was, and chance does not repeat what it has already given. */
static cairn_code open_inner(struct trial *trial, cairn_error *reterr)
{
    cairn_open_options options = trial->options;
    options.url = trial->url;
    options.virtual_clock = true;
    options.no_timers = true; /* they are applied when the clock is moved */
    options.seed = trial->rates.seed + (trial->restarts << 32);
    if (trial->restarts)
        options.start_us = trial->now_us;
    TRY(cairn_open(&options, &trial->inner, reterr));
    trial->base.schema = trial->inner->schema;
    return CAIRN_OK;
}

void trial_restart(struct trial *trial)
{
    if (pthread_rwlock_trywrlock(&trial->gate) != 0)
        return;
    trial_tell(trial, "the engine is restarted");
    cairn_close(trial->inner);
    trial->inner = NULL;
    trial->restarts++;
    if (open_inner(trial, &trial->why_gone))
        trial->base.schema = NULL;
    pthread_rwlock_unlock(&trial->gate);
}

/* ---- what is asked for ------------------------------------------------------------------------ */

static cairn_code check_rates(const cairn_trial_options *rates, cairn_error *reterr)
{
    const struct {
        const char *name;
        double rate;
    } all[] = {{"fail", rates->fail}, {"crash", rates->crash}, {"timeout", rates->timeout},
               {"late", rates->late}, {"twice", rates->twice}, {"restart", rates->restart}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].rate >= 0 && all[i].rate <= 1))
            return fail(reterr, CAIRN_E_BAD_INPUT, "the rate %s must be from 0 to 1",
                        all[i].name);
    if (rates->crash + rates->timeout + rates->late + rates->twice > 1)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "the rates crash, timeout, late and twice are more than 1 together");
    if (rates->seed == 0 || rates->seed > UINT32_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the seed of a trial must be from 1 to %u",
                    UINT32_MAX);
    return CAIRN_OK;
}

/* A store in memory goes with its engine, so one that is restarted is in a file. */
static cairn_code make_folder(struct trial *trial, cairn_error *reterr)
{
    const char *parent = getenv("TMPDIR");
    char path[256], url[300];
    snprintf(path, sizeof path, "%.200s/cairn-trial-XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(path))
        return fail(reterr, CAIRN_E_READ_ONLY, "could not make a folder for the trial: %s: %s",
                    path, strerror(errno));
    snprintf(url, sizeof url, "sqlite:%s/trial.db", path);
    mem_free(trial->url);
    trial->folder = mem_strdup(path);
    trial->url = mem_strdup(url);
    NEED(trial->folder && trial->url, reterr);
    return CAIRN_OK;
}

static cairn_code choose_url(struct trial *trial, cairn_error *reterr)
{
    const char *url = trial->options.url;
    if (!url || !*url)
        url = "memory:";
    if (strncmp(url, "http:", 5) == 0 || strncmp(url, "https:", 6) == 0) {
        fail(reterr, CAIRN_E_BAD_INPUT, "a trial needs a store of its own, not a server");
        return fail_hint(reterr, CAIRN_E_BAD_INPUT,
                         "use memory:, sqlite:FILE or postgres://...");
    }
    trial->url = mem_strdup(url);
    trial->base.url = url_without_password(url);
    NEED(trial->url && trial->base.url, reterr);
    if (trial->rates.restart > 0 && strcmp(url, "memory:") == 0)
        return make_folder(trial, reterr);
    return CAIRN_OK;
}

static cairn_code set_up(struct trial *trial, cairn_error *reterr)
{
    TRY(check_rates(&trial->rates, reterr));
    if (trial->rates.fail_of)
        TRY(sim_rates_read(trial->rates.fail_of, &trial->arena, &trial->fail_of,
                           &trial->fail_of_count, reterr));
    TRY(choose_url(trial, reterr));
    TRY(open_inner(trial, reterr));
    trial->options.url = trial->options.token = NULL; /* the caller's */
    TRY(cairn_clock_now(trial->inner, &trial->began_us, reterr));
    trial->now_us = trial->began_us;
    return CAIRN_OK;
}

cairn_code cairn_trial_open(const cairn_open_options *options, const cairn_trial_options *given,
                            cairn_engine **ret_engine, cairn_error *reterr)
{
    cairn_open_options known;
    cairn_trial_options rates;
    error_clear(reterr);
    TRY(options_take(OPTIONS_OPEN, &known, options, reterr));
    TRY(options_take(OPTIONS_TRIAL, &rates, given, reterr));
    struct trial *trial = mem_zalloc(sizeof *trial);
    NEED(trial, reterr);
    trial->base.ops = &trial_ops;
    trial->base.options = trial->options = known;
    trial->rates = rates;
    memories_init(&trial->base.memories);
    pthread_rwlock_init(&trial->gate, NULL);
    pthread_mutex_init(&trial->lock, NULL);
    cairn_code code = set_up(trial, reterr);
    if (code) {
        cairn_close(trial->inner);
        trial_free(trial);
        return code;
    }
    *ret_engine = &trial->base;
    return CAIRN_OK;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void write_story(struct json_out *out, const struct buf *story)
{
    json_open(json_key(out, "story"), '[');
    for (const char *at = buf_text(story); *at;) {
        size_t len = strcspn(at, "\n");
        json_strn(out, at, len);
        at += len + (at[len] == '\n');
    }
    json_close(out, ']');
}

cairn_code cairn_trial_check(cairn_engine *engine, const char *id, const char *const *laws,
                             size_t law_count, cairn_response **ret_verdict,
                             cairn_error *reterr)
{
    struct trial *trial = to_trial(engine);
    cleanup(buf_done) struct buf text = {0};
    struct json_out out = {.buf = &text};
    error_clear(reterr);
    if (engine->ops != &trial_ops)
        return fail(reterr, CAIRN_E_WRONG_STATE, "the engine is no trial");
    if (!trial->inner)
        return fail(reterr, trial->why_gone.code, "%s", trial->why_gone.message);
    pthread_mutex_lock(&trial->lock);
    trial_tell_events(trial);
    json_open(&out, '{');
    json_int(json_key(&out, "seed"), (int64_t)trial->rates.seed);
    const struct sim_blame blame = {trial->broken.items, trial->broken.count};
    cairn_code code = CAIRN_OK;
    if (id)
        code = sim_judge(trial->inner, id, laws, law_count, &blame, &out, reterr);
    else
        sim_write_blame(&blame, &out);
    write_story(&out, &trial->story);
    json_close(&out, '}');
    pthread_mutex_unlock(&trial->lock);
    if (code)
        return code;
    cairn_response *response = response_of_json(&text);
    NEED(response, reterr);
    *ret_verdict = response;
    return CAIRN_OK;
}

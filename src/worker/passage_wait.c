/* worker/passage_wait.c - what suspends a function until its time, or a signal, has come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include "base/clock.h"

#include <string.h>

/* ---- sleeping ------------------------------------------------------------------------------ */

static cairn_code answer_sleep(struct cairn_passage *passage, const cairn_step *row)
{
    if (strcmp(row->status, "waiting") == 0)
        return passage_over(passage, CAIRN_E_SUSPENDED, "\"%.100s\" sleeps", row->name);
    return CAIRN_OK;
}

static cairn_code is_past(struct cairn_passage *passage, int64_t ms, int64_t until_us,
                          bool *ret_is_past)
{
    int64_t now_us;
    *ret_is_past = ms == 0;
    if (!until_us)
        return CAIRN_OK;
    TRY(passage_clock(passage, &now_us));
    *ret_is_past = until_us <= now_us;
    return CAIRN_OK;
}

/* until_us 0: for ms. */
static cairn_code sleep_for(struct cairn_passage *passage, const char *given, int64_t ms,
                            int64_t until_us)
{
    struct asked asked;
    bool is_over;
    TRY(passage_enter(passage));
    TRY(memory_ask(passage, given ? given : "sleep", "sleep", &asked));
    if (asked.row)
        return answer_sleep(passage, asked.row);
    TRY(is_past(passage, ms, until_us, &is_over));
    if (is_over)
        TRY(passage_make_room(passage));
    struct commit_step *step =
        buffer_step(passage, asked.key, "sleep", is_over ? "completed" : "waiting", asked.seq);
    if (!step)
        return passage->over;
    step->delay_ms = ms;
    step->until_us = until_us;
    if (is_over)
        return CAIRN_OK;
    return passage_over(passage, CAIRN_E_SUSPENDED, "\"%.100s\" sleeps", asked.key);
}

cairn_code cairn_passage_sleep(cairn_passage *passage, const char *key, int64_t ms,
                               cairn_error *reterr)
{
    TRY(passage_take(passage, reterr));
    return passage_tell(passage, sleep_for(passage, key, ms < 0 ? 0 : ms, 0), reterr);
}

cairn_code cairn_passage_sleep_until(cairn_passage *passage, const char *key, int64_t at_us,
                                     cairn_error *reterr)
{
    if (at_us < 1)
        at_us = 1; /* 0 is "not given", and long past as well */
    if (at_us > INSTANT_MAX)
        at_us = INSTANT_MAX;
    TRY(passage_take(passage, reterr));
    return passage_tell(passage, sleep_for(passage, key, 0, at_us), reterr);
}

/* ---- waiting for a signal ------------------------------------------------------------------ */

static cairn_code suspend_wait(struct cairn_passage *passage, const char *key,
                               const char *event)
{
    return passage_over(passage, CAIRN_E_SUSPENDED, "\"%.80s\" waits for the signal \"%.80s\"",
                        key, event);
}

static cairn_code answer_wait(struct cairn_passage *passage, const cairn_step *row,
                              const char *event, const char **ret_payload)
{
    if (strcmp(row->status, "waiting") == 0)
        return suspend_wait(passage, row->name, event);
    if (strcmp(row->status, "completed") != 0)
        return fail(&passage->last, CAIRN_E_TIMED_OUT,
                    "no signal \"%.80s\" came in time for \"%.80s\"", event, row->name);
    *ret_payload = row->output ? row->output : "null";
    return CAIRN_OK;
}

/* A signal that is there is taken at once; else the commit looks for one that has come in the
 * meantime. */
static cairn_code wait_anew(struct cairn_passage *passage, const struct asked *asked,
                            const char *event, int64_t timeout_ms, const char **ret_payload)
{
    const cairn_received *received;
    const char *copy;
    TRY(passage_make_room(passage));
    TRY(memory_take_event(passage, event, &received));
    TRY(passage_copy(passage, event, &copy));
    struct commit_step *step = buffer_step(passage, asked->key, "wait",
                                           received ? "completed" : "waiting", asked->seq);
    if (!step)
        return passage->over;
    step->event = copy;
    step->timeout_ms = timeout_ms;
    if (!received)
        return suspend_wait(passage, asked->key, event);
    step->signal_id = received->id;
    step->output = received->payload;
    buffer_weigh(&passage->buffer, received->payload);
    *ret_payload = received->payload ? received->payload : "null";
    return CAIRN_OK;
}

cairn_code passage_wait_event(struct cairn_passage *passage, const char *given,
                              const char *event, int64_t timeout_ms, const char **ret_payload)
{
    struct asked asked;
    TRY(passage_enter(passage));
    if (!event || !event[0])
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "event is empty");
    TRY(memory_ask(passage, given ? given : event, "wait", &asked));
    if (asked.row)
        return answer_wait(passage, asked.row, event, ret_payload);
    return wait_anew(passage, &asked, event, timeout_ms < 0 ? -1 : timeout_ms, ret_payload);
}

cairn_code cairn_passage_wait_event(cairn_passage *passage, const char *key, const char *event,
                                    int64_t timeout_ms, const char **ret_payload,
                                    cairn_error *reterr)
{
    const char *payload = NULL;
    TRY(passage_take(passage, reterr));
    cairn_code code = passage_wait_event(passage, key, event, timeout_ms, &payload);
    if (!code && ret_payload)
        *ret_payload = payload;
    return passage_tell(passage, code, reterr);
}

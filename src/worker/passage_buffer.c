/* worker/passage_buffer.c - what a run has to write, until it is committed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include "base/json.h"
#include "core/counter.h"

#include <string.h>

cairn_code passage_copy(struct cairn_passage *passage, const char *text, const char **ret_copy)
{
    *ret_copy = arena_strdup(&passage->arena, text);
    return text && !*ret_copy ? passage_no_memory(passage) : CAIRN_OK;
}

struct commit_step *buffer_step(struct cairn_passage *passage, const char *key,
                                const char *kind, const char *status, int32_t seq)
{
    struct buffer *buffer = &passage->buffer;
    struct commit_step *step = list_add(&passage->arena, &buffer->steps);
    if (!step) {
        passage_no_memory(passage);
        return NULL;
    }
    *step = (struct commit_step){
        .seq = seq, .key = key, .kind = kind, .status = status, .timeout_ms = -1};
    buffer->log_settled = buffer->logs.count;
    buffer_weigh(buffer, key);
    return step;
}

void buffer_weigh(struct buffer *buffer, const char *text)
{
    if (text)
        buffer->bytes += strlen(text);
}

bool buffer_is_full(const struct buffer *buffer)
{
    return buffer->steps.count >= BUFFER_STEPS || buffer->logs.count >= BUFFER_LOGS ||
           buffer->bytes >= BUFFER_BYTES;
}

static void weigh_log(struct buffer *buffer, const struct commit_log *log)
{
    buffer_weigh(buffer, log->message);
    buffer_weigh(buffer, log->data);
}

/* Logs that were not sent stay, in their order. */
void buffer_clear(struct buffer *buffer, size_t logs_sent)
{
    struct commit_log *logs = buffer->logs.items;
    size_t kept = buffer->logs.count - logs_sent;
    if (kept && logs_sent)
        memmove(logs, logs + logs_sent, kept * sizeof *logs);
    buffer->logs.count = kept;
    buffer->log_settled = 0;
    buffer->steps.count = buffer->jobs.count = buffer->starts.count = 0;
    buffer->bytes = 0;
    for (size_t i = 0; i < kept; i++)
        weigh_log(buffer, &logs[i]);
}

/* Nothing is started: the steps that would have started something fail with this error. */
void buffer_drop_starts(struct cairn_passage *passage, const char *why)
{
    struct buffer *buffer = &passage->buffer;
    buffer->jobs.count = buffer->starts.count = 0;
    for (size_t i = 0; i < buffer->steps.count; i++) {
        struct commit_step *step = &buffer->steps.items[i];
        if (strcmp(step->kind, "start") != 0 || strcmp(step->status, "completed") != 0)
            continue;
        step->status = "failed";
        step->output = NULL;
        step->error = why;
    }
}

/* ---- logs ---------------------------------------------------------------------------------- */

static const char *known_level(const char *level)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i], level) == 0)
            return levels[i];
    return NULL;
}

static cairn_code add_log(struct cairn_passage *passage, const char *level, const char *message,
                          const char *data)
{
    struct commit_log log = {.level = level};
    const struct step_call *call = passage->calls;
    if (call && !call->next) { /* of several it cannot be told */
        log.step = call->key;
        log.attempt = counter_after(call->attempts);
    }
    TRY(passage_copy(passage, message, &log.message));
    TRY(passage_copy(passage, data, &log.data));
    struct commit_log *added = list_add(&passage->arena, &passage->buffer.logs);
    if (!added)
        return passage_no_memory(passage);
    *added = log;
    weigh_log(&passage->buffer, &log);
    return CAIRN_OK;
}

static bool is_replaying(const struct cairn_passage *passage)
{
    return !passage->calls && !memory_is_passed(passage);
}

int cairn_passage_is_replaying(const cairn_passage *passage)
{
    struct cairn_passage *held = passage_hold_fact(passage);
    int answer = is_replaying(held);
    passage_give(held);
    return answer;
}

static cairn_code log_it(struct cairn_passage *passage, const char *level, const char *message,
                         const char *data)
{
    error_clear(&passage->last);
    passage->last_text = passage->last_step = NULL;
    if (passage->over)
        return passage->over;
    const char *known = known_level(level);
    if (!known)
        return fail(&passage->last, CAIRN_E_BAD_INPUT,
                    "level is \"%.40s\"; it must be debug, info, warn or error",
                    level ? level : "NULL");
    if (!message || !utf8_is_valid(message, strlen(message)))
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "the log's message is %s",
                    message ? "not UTF-8" : "missing");
    TRY(passage_check_json(passage, data, "data"));
    if (is_replaying(passage))
        return CAIRN_OK; /* an earlier run has kept it */
    TRY(passage_make_room(passage));
    return add_log(passage, known, message, data);
}

cairn_code cairn_passage_log(cairn_passage *passage, const char *level, const char *message,
                             const char *data, cairn_error *reterr)
{
    TRY(passage_take(passage, reterr));
    return passage_tell(passage, log_it(passage, level, message, data), reterr);
}

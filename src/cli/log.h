/* cli/log.h - the log of a server or worker: a line on standard error for each thing that happened.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     2026-11-15T13:27:06.123Z info listening on http://127.0.0.1:22476, store sqlite:cairn.db
 *     {"at":"2026-11-15T13:27:06.123Z","level":"info","event":"started", ... ,"text":"listening on ..."}
 *
 * If nobody reads standard error, lines are dropped: the server goes on.
 */
#ifndef CLI_LOG_H
#define CLI_LOG_H

#include "base/error.h"
#include "cli/args.h"

enum log_level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG };

struct log {
    bool is_json;
    bool is_bare;         /* of a command: a line of text has neither time nor level */
    enum log_level least; /* what matters less than this is left out */
};

/* A member of a JSON line beside the text.  A list ends with one without a name. */
struct log_fact {
    const char *name;
    const char *text; /* NULL: it is a number */
    int64_t number;
};

/* By --log-format, --log-level and --quiet. */
struct log log_of(const struct args *args);

void log_tell(const struct log *log, enum log_level level, const char *event,
              const struct log_fact *facts, const char *format, ...) format_like(5, 6);

/* A notice of an engine; the arguments are those of a cairn_notice. */
void log_notice(const struct log *log, int level, const char *text, const char *json);

#endif

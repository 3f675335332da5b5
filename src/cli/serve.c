/* cli/serve.c - cairn serve: its table; the server itself is in server/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/args.h"
#include "server/server.h"

static int run_serve(const struct args *args)
{
    return cmd_serve(args->argc, args->argv);
}

static const struct option serve_options[] = {
    {.name = "listen",
     .kind = OPTION_TEXT,
     .value = "HOST:PORT",
     .help = "where to listen; 127.0.0.1:22476 if not given"},
    {.name = "token-file",
     .kind = OPTION_FILE,
     .value = "FILE",
     .help =
         "ask for bearer tokens, one on a line: ROLE TOKEN, with the roles produce, work and "
         "operate; without it only this machine may be listened on"},
    {.name = "virtual-clock",
     .kind = OPTION_FLAG,
     .help = "time stands still until POST /v1/clock/advance; for tests"},
    {0},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "serve the store over HTTP",
    .about = "Answers the HTTP interface that GET /openapi.json describes, and applies timers. "
             "SIGTERM or Ctrl-C stops it cleanly.",
    .example = "cairn serve --url sqlite:orders.db --listen 127.0.0.1:22476",
    .options = serve_options,
    .has_url = true,
    .run = run_serve,
};

/* cli/serve.c - cairn serve: its table; the server itself is in server/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/args.h"
#include "cli/say.h"
#include "cli/tuning.h"
#include "server/server.h"

#include <stdlib.h>

static int run_serve(const struct args *args)
{
    struct serve_options options = SERVE_DEFAULTS;
    if (args_has(args, "listen"))
        options.listen = args_text(args, "listen");
    options.url = args_text(args, "url");
    options.token_file = args_text(args, "token-file");
    options.max_connections =
        (unsigned)args_number(args, "max-connections", options.max_connections);
    options.idle_s = (unsigned)args_number(args, "idle-timeout", options.idle_s);
    options.request_s = (unsigned)args_number(args, "request-timeout", options.request_s);
    options.is_virtual = args_has(args, "virtual-clock");
    options.is_quiet = args_has(args, "quiet");
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    if (!tuning_read(args, &open))
        return EXIT_USAGE;
    options.aging_rate = open.aging_rate;
    options.missing_cooldown_ms = open.missing_cooldown_ms;
    options.missing_throttle_ms = open.missing_throttle_ms;
    options.missing_jitter = open.missing_jitter;
    return serve_run(&options);
}

static const struct option serve_options[] = {
    {.name = "listen",
     .kind = OPTION_TEXT,
     .value = "HOST:PORT",
     .help = "where to listen; 127.0.0.1:22476 if not given; port 0: any free one"},
    {.name = "token-file",
     .kind = OPTION_FILE,
     .value = "FILE",
     .help =
         "take only requests with a token: lines of ROLE TOKEN [NAME], where ROLE is produce, "
         "work or operate; without it only loopback addresses may be listened on"},
    {.name = "virtual-clock",
     .kind = OPTION_FLAG,
     .help = "time stands still until POST /v1/clock/advance; for tests"},
    {.name = "max-connections",
     .kind = OPTION_INT,
     .value = "N",
     .help = "connections at once; 10000 if not given",
     .min = 1,
     .max = 1000000},
    {.name = "idle-timeout",
     .kind = OPTION_INT,
     .value = "SECONDS",
     .help = "close a connection on which nothing moves for so long; 60 if not given",
     .min = 1,
     .max = 86400},
    {.name = "request-timeout",
     .kind = OPTION_INT,
     .value = "SECONDS",
     .help = "close a connection whose request takes longer to arrive: its headers, and then "
             "its body; 60 if not given",
     .min = 1,
     .max = 86400},
    TUNING_OPTIONS,
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .help = "say nothing but errors"},
    {0},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "serve the store over HTTP",
    .about = "Answers the HTTP interface that GET /openapi.json describes, and applies timers, "
             "until SIGINT or SIGTERM. Nothing else needs it: every command works on the store "
             "directly.",
    .example = "cairn serve --url sqlite:orders.db &\n"
               "curl -d '{\"type\": \"billing.invoice.v1\"}' http://127.0.0.1:22476/v1/jobs",
    .options = serve_options,
    .has_url = true,
    .run = run_serve,
};

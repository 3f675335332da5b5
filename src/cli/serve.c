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
    {"listen", OPTION_TEXT, "HOST:PORT",
     .help = "address to listen on (default 127.0.0.1:22476); port 0: any free port"},
    {"token-file", OPTION_FILE, "FILE",
     .help = "accept only requests with a token: lines of ROLE TOKEN [NAME], where ROLE is "
             "produce, work or operate; required to listen on other than loopback addresses"},
    {"virtual-clock", OPTION_FLAG,
     .help = "time stands still until POST /v1/clock/advance; for tests"},
    {"max-connections", OPTION_INT, "N", .min = 1, .max = 1000000,
     .help = "maximum number of connections (default 10000)"},
    {"idle-timeout", OPTION_INT, "SECONDS", .min = 1, .max = 86400,
     .help = "close a connection that has been idle for this long (default 60)"},
    {"request-timeout", OPTION_INT, "SECONDS", .min = 1, .max = 86400,
     .help = "close a connection whose request takes longer to arrive: its headers, and then "
             "its body (default 60)"},
    {"quiet", OPTION_FLAG, .letter = 'q', .help = "print only errors"},
    {0},
};

const struct command serve_commands[] = {
    {"serve", NULL, "serve the store over HTTP", .aliases = "server",
     .about =
         "Serves the HTTP interface that GET /openapi.json describes, and applies timers, "
         "until SIGINT or SIGTERM. Other commands do not need a server: they use the store "
         "directly.",
     .example = "cairn serve --url sqlite:orders.db &\n"
                "curl -d '{\"type\": \"billing.invoice.v1\"}' http://127.0.0.1:22476/v1/jobs",
     .options = serve_options, .more_options = tuning_options, .has_url = true,
     .run = run_serve},
    {0},
};

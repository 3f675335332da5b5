/* cli/serve.c - cairn serve: its table; the server itself is in server/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/say.h"
#include "server/server.h"

/* Hands on what was given, as --name=value, whatever form and place it had. */
static int run_serve(const struct args *args)
{
    struct arena arena = {0};
    char *argv[OPTIONS_MAX + 2] = {(char[]){"serve"}};
    int argc = 1;
    const struct option *option;
    for (size_t i = 0; (option = command_option(args->command, i)); i++) {
        const char *value = args->options[i].text;
        if (!value)
            continue;
        argv[argc] = arena_printf(&arena, "--%s%s%s", option->name,
                                  option->kind == OPTION_FLAG ? "" : "=", value);
        if (!argv[argc++]) {
            arena_done(&arena);
            say_error("memory ran out");
            return EXIT_NO;
        }
    }
    int exit_code = cmd_serve(argc, argv);
    arena_done(&arena);
    return exit_code;
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

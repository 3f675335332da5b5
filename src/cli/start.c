/* cli/start.c - cairn start: starts an instance, and waits for its end if wanted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/route.h"
#include "cli/say.h"
#include "cli/show.h"

/* What was given is checked before the store is opened, which may create it. */
int run_start(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(buf_donep) struct buf body = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    int64_t start_at_us = 0;
    json_open(&out, '{');
    TRY(write_members(args, &out));
    TRY(store_open_for(args, &engine));
    TRY(read_delay(args, engine, &start_at_us));
    if (start_at_us) {
        json_key(&out, "start_at");
        json_time(&out, start_at_us);
    }
    json_close(&out, '}');
    TRY(call(engine, "POST", "/v1/instances", buf_text(&body), &answer));
    bool is_waiting = args_has(args, "wait");
    if (!is_waiting ||
        !args_wants(args, "json")) /* with --wait the ended instance is printed */
        print_created(args, &answer);
    fflush(stdout);
    return is_waiting ? wait_for_instance(args, engine, text_of(answer.tree, "id")) : EXIT_DONE;
}

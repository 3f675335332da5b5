/* cli/start.c - cairn start: starts an instance, and waits for its end if that is asked for; cairn rerun.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "cli/route.h"
#include "cli/wait.h"

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
    if (start_at_us)
        json_time(json_key(&out, "start_at"), start_at_us);
    json_close(&out, '}');
    TRY(call(engine, "POST", "/v1/instances", buf_text(&body), &answer));
    return print_created_and_wait(args, engine, WAIT_INSTANCE, &answer);
}

int run_rerun(const struct args *args)
{
    cleanup(store_closep) cairn_engine *engine = NULL;
    cleanup(buf_donep) struct buf body = {0};
    cleanup(buf_donep) struct buf target = {0};
    cleanup(answer_done) struct answer answer = {0};
    struct json_out out = {.buf = &body};
    json_open(&out, '{');
    TRY(write_members(args, &out));
    json_close(&out, '}');
    TRY(store_open_for(args, &engine));
    target_path(&target, "/v1/instances/{}/rerun", args->operands[0], NULL);
    TRY(call(engine, "POST", buf_text(&target), buf_text(&body), &answer));
    print_created(args, &answer, false);
    return EXIT_DONE;
}

/* tests/api/test_history.c - events and logs of an instance, filtered by the server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passage.h"

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

/* What one request looks at: the bounds of engine/read_history.c. */
enum { LOOK_MAX = 2000, LOOK_BYTES = 4 << 20 };

/* The whole list, as one text of ids, and in how many answers it came.  Each answer that was cut short says how far
 * it looked, and each that was not does not. */
struct walked {
    char ids[4096];
    size_t count, answers;
};

static void walk(struct caller *caller, const struct passage *passage, const char *target,
                 struct walked *ret)
{
    char next[600];
    snprintf(next, sizeof next, "%s", target);
    *ret = (struct walked){0};
    for (bool is_more = true; is_more; ret->answers++) {
        call_for(caller, 200, "GET", about(passage, next), NULL);
        size_t count = json_array_size(part(caller, "items"));
        for (size_t i = 0; i < count; i++, ret->count++) {
            char path[40];
            size_t len = strlen(ret->ids);
            snprintf(path, sizeof path, "items.%zu.id", i);
            snprintf(ret->ids + len, sizeof ret->ids - len, "%s ", text_at(caller, path));
        }
        is_more = text_at(caller, "next") != NULL;
        CHECK(is_more || !text_at(caller, "scanned_to"), "%s", caller->text);
        CHECK(!is_more || count || text_at(caller, "scanned_to"), "%s", caller->text);
        if (is_more)
            snprintf(next, sizeof next, "%s&cursor=%s", target, text_at(caller, "next"));
        CHECK(ret->answers < 100, "it does not end");
    }
}

static size_t count_of(struct caller *caller, const struct passage *passage, const char *target)
{
    struct walked walked;
    walk(caller, passage, target, &walked);
    return walked.count;
}

/* Steps from..from + count - 1, completed, whose keys are k1, k2 ... */
static void commit_steps(struct caller *caller, struct passage *passage, int from, int count)
{
    struct buf more = {0};
    for (int i = 0; i < count; i++)
        buf_printf(&more, "%s" STEP("%d", "k%d", "task", "completed", ",\"output\":1"),
                   i ? "," : ",\"steps\":[", from + i, from + i);
    buf_printf(&more, "]");
    commit_for(caller, 200, passage, "go_on", buf_text(&more));
    buf_done(&more);
}

TEST(events_are_filtered_by_step_and_type_in_both_orders)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    struct walked oldest, newest;
    commit_steps(&caller, &passage, 1, 3);
    call_for(&caller, 200, "GET", about(&passage, "/events?step=k2"), NULL);
    size_t of_step = json_array_size(part(&caller, "items"));
    CHECK(of_step > 0, "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.step"), "k2");
    CHECK(!text_at(&caller, "next") && !text_at(&caller, "scanned_to"), "%s", caller.text);
    call_for(&caller, 200, "GET", about(&passage, "/events?type=step_completed"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    CHECK_STR(text_at(&caller, "items.0.step"), "k1");
    CHECK_INT(count_of(&caller, &passage, "/events?type=step_completed&step=k3"), 1);
    CHECK_INT(count_of(&caller, &passage, "/events?type=step_completed,workflow_started"), 4);
    CHECK_INT(count_of(&caller, &passage, "/events?type=workflow_s%25,step_comp%25"), 4);
    CHECK_INT(count_of(&caller, &passage, "/events?type=step_complete"), 0);

    /* A page at a time, from either end, gives the same events. */
    walk(&caller, &passage, "/events?type=step_%25&limit=2", &oldest);
    walk(&caller, &passage, "/events?type=step_%25&limit=2&order=newest", &newest);
    CHECK_INT(oldest.count, newest.count);
    CHECK(oldest.count >= 3 && oldest.answers == (oldest.count + 1) / 2, "%zu in %zu",
          oldest.count, oldest.answers);
    char *last = strrchr(oldest.ids, ' ');
    *last = '\0';
    last = strrchr(oldest.ids, ' ') + 1;
    CHECK(strncmp(newest.ids, last, strlen(last)) == 0, "%s, then %s", newest.ids, last);
    caller_close(&caller);
}

/* The id of the event at this place, the oldest is 0. */
static void event_at(struct caller *caller, const struct passage *passage, size_t place,
                     char ret_id[32])
{
    char target[100] = "/events?limit=1000", path[40];
    for (; place >= 1000; place -= 1000) {
        call_for(caller, 200, "GET", about(passage, target), NULL);
        snprintf(target, sizeof target, "/events?limit=1000&cursor=%s",
                 text_at(caller, "next"));
    }
    call_for(caller, 200, "GET", about(passage, target), NULL);
    snprintf(path, sizeof path, "items.%zu.id", place);
    snprintf(ret_id, 32, "%s", text_at(caller, path));
}

TEST(a_walk_over_events_is_bounded_says_how_far_it_came_and_goes_on)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    struct walked walked, newest;
    char id[32];
    for (int from = 1; from <= 4001; from += 1000)
        commit_steps(&caller, &passage, from, 1000);
    size_t all = 0;
    char cursor[100] = "/events?limit=1000";
    for (bool is_more = true; is_more;) {
        call_for(&caller, 200, "GET", about(&passage, cursor), NULL);
        all += json_array_size(part(&caller, "items"));
        is_more = text_at(&caller, "next") != NULL;
        if (is_more)
            snprintf(cursor, sizeof cursor, "/events?limit=1000&cursor=%s",
                     text_at(&caller, "next"));
    }
    CHECK(all > 5000, "%zu events", all);

    /* Nothing matches: no answer looks at more than the bound, and all are looked at. */
    call_for(&caller, 200, "GET", about(&passage, "/events?step=nobody"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    CHECK_STR(text_at(&caller, "scanned_to"), "2027-01-15T08:00:00.000Z");
    snprintf(cursor, sizeof cursor, "%s", text_at(&caller, "next"));
    event_at(&caller, &passage, LOOK_MAX - 1, id);
    CHECK_STR(cursor, id);
    walk(&caller, &passage, "/events?step=nobody", &walked);
    CHECK_INT(walked.count, 0);
    CHECK_INT(walked.answers, all / LOOK_MAX + 1);
    walk(&caller, &passage, "/events?step=nobody&order=newest", &walked);
    CHECK_INT(walked.count, 0);
    CHECK_INT(walked.answers, all / LOOK_MAX + 1);

    /* What lies behind the bound is found by those who go on, from either end. */
    walk(&caller, &passage, "/events?step=k4500&type=step_completed", &walked);
    walk(&caller, &passage, "/events?step=k4500&type=step_completed&order=newest", &newest);
    CHECK_INT(walked.count, 1);
    CHECK_STR(walked.ids, newest.ids);

    /* A full page ends the walk before its bound. */
    walk(&caller, &passage, "/events?type=step_completed&limit=1000", &walked);
    CHECK_INT(walked.count, 5000);
    CHECK(walked.answers <= 6, "%zu answers", walked.answers);
    caller_close(&caller);
}

TEST(logs_are_filtered_by_level_step_call_and_text)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"logs\":[{\"level\":\"debug\",\"message\":\"Begins at 100%\"},"
               "{\"level\":\"info\",\"message\":\"reserved \\u00c4pfel\",\"step\":\"reserve\","
               "\"attempt\":1},"
               "{\"level\":\"warn\",\"message\":\"asks again\",\"step\":\"reserve\","
               "\"attempt\":2},"
               "{\"level\":\"error\",\"message\":\"NO carrier\",\"step\":\"ship, by air\","
               "\"attempt\":2}]");
    static const struct {
        const char *target;
        size_t count;
    } cases[] = {
        {"/logs?level=info", 1},
        {"/logs?level=warn,error", 2},
        {"/logs?level=debug,debug", 1},
        {"/logs?step=reserve", 2},
        {"/logs?step=ship,%20by%20air", 1},
        {"/logs?step=reserv%25", 0},
        {"/logs?attempt=2", 2},
        {"/logs?attempt=2&step=reserve", 1},
        {"/logs?attempt=3", 0},
        {"/logs?text=no%20CARRIER", 1},
        {"/logs?text=%C3%84pfel", 1},
        {"/logs?text=%25", 1},
        {"/logs?text=_", 0},
        {"/logs?text='%20or%20'1'='1", 0},
        {"/logs?text=a&level=warn,error&attempt=2&step=reserve", 1},
        {"/logs?limit=1000", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_for(&caller, 200, "GET", about(&passage, cases[i].target), NULL);
        CHECK(json_array_size(part(&caller, "items")) == cases[i].count, "%s: %s",
              cases[i].target, caller.text);
        CHECK(!text_at(&caller, "next") && !text_at(&caller, "scanned_to"), "%s", caller.text);
    }
    CHECK_INT(count_of(&caller, &passage, "/logs?text=e&limit=1"), 3);
    caller_close(&caller);
}

TEST(a_walk_over_long_lines_ends_before_it_has_read_many)
{
    enum { LINES = 400, EACH = 20, LEN = 20000 };
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    struct walked walked;
    char *line = mem_alloc(LEN + 1);
    memset(line, 'x', LEN);
    line[LEN] = '\0';
    for (int i = 0; i < LINES; i += EACH) {
        struct buf more = {0};
        for (int k = 0; k < EACH; k++)
            buf_printf(&more, "%s{\"level\":\"info\",\"message\":\"%s\"}",
                       k ? "," : ",\"logs\":[", line);
        buf_printf(&more, "]");
        commit_for(&caller, 200, &passage, "go_on", buf_text(&more));
        buf_done(&more);
    }
    mem_free(line);
    CHECK(LINES * LEN > LOOK_BYTES, "all of them fit");
    walk(&caller, &passage, "/logs?text=y", &walked);
    CHECK_INT(walked.count, 0);
    CHECK_INT(walked.answers, 2);
    caller_close(&caller);
}

TEST(filters_that_mean_nothing_are_refused)
{
    static const char *const targets[] = {
        "/events?type=step_%25d", "/events?step=%FF",
        "/events?level=info",     "/events?text=x",
        "/events?attempt=1",      "/events?types=x",
        "/logs?type=x",           "/logs?level=loud",
        "/logs?level=%25",        "/logs?level=,info",
        "/logs?level=info,x",     "/logs?level=warning,informative",
        "/logs?attempt=0",        "/logs?attempt=-1",
        "/logs?attempt=x",        "/logs?attempt=4294967297",
        "/logs?text=%FF",         "/logs?order=newest",
        "/logs?cursor=x&text=y",  "/events?cursor=x&step=y",
    };
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    char target[700] = "/events?step=";
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        call(&caller, "GET", about(&passage, targets[i]), NULL);
        CHECK(caller.status == 400, "%s: %d %s", targets[i], caller.status, caller.text);
    }
    memset(target + strlen(target), 'x', 600);
    call(&caller, "GET", about(&passage, target), NULL);
    CHECK(caller.status == 400 || caller.status == 413, "%d", caller.status);
    call_for(&caller, 404, "GET",
             "/v1/instances/11111111-1111-4111-8111-111111111111/events?step=x", NULL);
    caller_close(&caller);
}

TEST(events_of_a_job_are_filtered_by_type)
{
    struct caller caller;
    char target[120];
    caller_open(&caller);
    const char *id = add_job(&caller, "t");
    take(&caller, "t");
    snprintf(target, sizeof target, "/v1/jobs/%s/events?type=leased", id);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.type"), "leased");
    snprintf(target, sizeof target, "/v1/jobs/%s/events?step=x", id);
    call_for(&caller, 400, "GET", target, NULL);
    caller_close(&caller);
}

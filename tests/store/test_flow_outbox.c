/* tests/store/test_flow_outbox.c - events for others: claimed in order, acknowledged once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

struct mail {
    struct outbox_row rows[ROWS_MAX];
    size_t count;
};

static void append(struct rig *rig, const char *instance_id, const char *event)
{
    struct outbox_row row = {.instance_id = instance_id,
                             .step = "s0",
                             .event = event,
                             .payload = "[1]",
                             .created_at_us = RIG_START_US};
    MUST(rig, rig->ops->append_outbox(rig->tx, &row, 1, &rig->error));
}

/* A claim for ten seconds. */
static struct mail *claim_mail(struct rig *rig, const char *worker, size_t room)
{
    struct mail *mail = arena_zalloc(&rig->arena, sizeof *mail);
    mail->count = SIZE_MAX;
    MUST(rig, rig->ops->claim_outbox(rig->tx, worker, rig->tx->now_us + 10 * US_PER_SEC,
                                     mail->rows, room, &mail->count, &rig->error));
    CHECK(mail->count <= room, "%zu events came into room for %zu", mail->count, room);
    return mail;
}

static void ack(struct rig *rig, int64_t id)
{
    int64_t earlier = -1;
    MUST(rig, rig->ops->ack_outbox(rig->tx, id, &earlier, &rig->error));
    CHECK_INT(earlier, 0);
}

static void check_mail(const struct mail *mail, size_t count, const char *const *events)
{
    for (size_t i = 0; i < count && i < mail->count; i++)
        CHECK_STR(mail->rows[i].event, events[i]);
    CHECK_INT(mail->count, count);
}
#define CHECK_MAIL(mail, ...)                                                \
    check_mail(mail, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
               (const char *[]){__VA_ARGS__})
#define CHECK_NO_MAIL(mail) check_mail(mail, 0, NULL)

TEST(an_outbox_event_comes_back_as_it_was_given_and_claimed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    append(rig, id, "shipped");
    commit(rig);
    begin_write(rig);
    struct mail *mail = claim_mail(rig, "me", 9);
    CHECK_MAIL(mail, "shipped");
    CHECK(mail->rows[0].id > 0, "id is %lld", (long long)mail->rows[0].id);
    CHECK_STR(mail->rows[0].instance_id, id);
    CHECK_STR(mail->rows[0].step, "s0");
    CHECK_JSON(mail->rows[0].payload, "[1]");
    CHECK_INT(mail->rows[0].created_at_us, RIG_START_US);
    CHECK_STR(mail->rows[0].claimed_by, "me");
    CHECK_INT(mail->rows[0].claimed_until_us, RIG_START_US + 10 * US_PER_SEC);
}

TEST(an_outbox_event_may_have_no_step_and_no_payload)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct outbox_row row = {
        .instance_id = new_instance(rig, "w").id, .event = "e", .created_at_us = RIG_START_US};
    MUST(rig, rig->ops->append_outbox(rig->tx, &row, 1, &rig->error));
    struct mail *mail = claim_mail(rig, "me", 9);
    CHECK_MAIL(mail, "e");
    CHECK_TEXT(mail->rows[0].step, NULL);
    CHECK_TEXT(mail->rows[0].payload, NULL);
}

TEST(outbox_events_are_claimed_in_order_of_id)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, b, "b1");
    append(rig, a, "a1");
    append(rig, b, "b2");
    append(rig, a, "a2");
    struct mail *mail = claim_mail(rig, "me", 3);
    CHECK_MAIL(mail, "b1", "a1", "b2");
    for (size_t i = 1; i < mail->count; i++)
        CHECK(mail->rows[i - 1].id < mail->rows[i].id, "ids are not in order");
    CHECK_NO_MAIL(claim_mail(rig, "me", 9)); /* its own hold back what follows them, too */
    ack(rig, mail->rows[1].id);
    CHECK_MAIL(claim_mail(rig, "me", 9), "a2");
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
    CHECK_NO_MAIL(claim_mail(rig, "other", 0));
}

TEST(what_another_has_claimed_holds_back_what_follows_in_its_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, "a1");
    append(rig, a, "a2");
    append(rig, b, "b1");
    append(rig, a, "a3");
    struct mail *mine = claim_mail(rig, "me", 1);
    CHECK_MAIL(mine, "a1");
    commit(rig);

    begin_write(rig);
    CHECK_MAIL(claim_mail(rig, "you", 9), "b1");
    CHECK_NO_MAIL(claim_mail(rig, "you", 9));
    ack(rig, mine->rows[0].id);
    struct mail *yours = claim_mail(rig, "you", 1);
    CHECK_MAIL(yours, "a2");
    CHECK_NO_MAIL(claim_mail(rig, "me", 9)); /* a3 stands behind your a2 */
    CHECK_NO_MAIL(claim_mail(rig, "you", 9));
    ack(rig, yours->rows[0].id);
    CHECK_MAIL(claim_mail(rig, "you", 9), "a3");
}

TEST(a_claim_of_outbox_events_runs_out)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    append(rig, id, "e1");
    append(rig, id, "e2");
    CHECK_MAIL(claim_mail(rig, "me", 1), "e1");
    commit(rig);

    pass_us(rig, 10 * US_PER_SEC - 1);
    begin_write(rig);
    CHECK_NO_MAIL(claim_mail(rig, "you", 9));
    commit(rig);
    pass_us(rig, 2);
    begin_write(rig);
    struct mail *mail = claim_mail(rig, "you", 9);
    CHECK_MAIL(mail, "e1", "e2");
    CHECK_STR(mail->rows[0].claimed_by, "you");
    CHECK_INT(mail->rows[0].claimed_until_us, rig->tx->now_us + 10 * US_PER_SEC);
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
}

TEST(an_event_is_acknowledged_after_those_before_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int64_t earlier = -1;
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, b, "b1");
    append(rig, a, "a1");
    append(rig, a, "a2");
    append(rig, a, "a3");
    struct mail *mail = claim_mail(rig, "me", 3); /* a3 is claimed by nobody */
    CHECK_MAIL(mail, "b1", "a1", "a2");
    int64_t third = mail->rows[2].id + 1;
    commit(rig);

    begin_write(rig);
    MUST(rig, rig->ops->ack_outbox(rig->tx, mail->rows[2].id, &earlier, &rig->error));
    CHECK_INT(earlier, mail->rows[1].id);
    MUST(rig, rig->ops->ack_outbox(rig->tx, third, &earlier, &rig->error));
    CHECK_INT(earlier, mail->rows[1].id);
    ack(rig, mail->rows[1].id);
    MUST(rig, rig->ops->ack_outbox(rig->tx, third, &earlier, &rig->error));
    CHECK_INT(earlier, mail->rows[2].id);
    commit(rig);

    begin_write(rig);
    CHECK_NO_MAIL(claim_mail(rig, "me", 9)); /* nothing was written */
    ack(rig, mail->rows[2].id);
    ack(rig, mail->rows[1].id); /* again */
    CHECK_MAIL(claim_mail(rig, "me", 9), "a3");
    ack(rig, third);
    ack(rig, mail->rows[0].id);
}

TEST(an_acknowledged_event_never_comes_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    append(rig, id, "e1");
    append(rig, id, "e2");
    struct mail *mail = claim_mail(rig, "me", 1);
    ack(rig, mail->rows[0].id);
    commit(rig);
    pass_us(rig, US_PER_MIN);
    begin_write(rig);
    CHECK_MAIL(claim_mail(rig, "you", 9), "e2");
}

TEST(an_acknowledgement_twice_is_the_same_as_once)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int64_t earlier;
    begin_write(rig);
    append(rig, new_instance(rig, "w").id, "e1");
    int64_t id = claim_mail(rig, "me", 1)->rows[0].id;
    ack(rig, id);
    ack(rig, id);
    commit(rig);
    begin_write(rig);
    ack(rig, id);
    const int64_t unknown[] = {id + 1, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK_INT(rig->ops->ack_outbox(rig->tx, unknown[i], &earlier, &rig->error),
                  CAIRN_E_NOT_FOUND);
}

TEST(an_event_whose_claim_was_rolled_back_can_be_acknowledged)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    append(rig, new_instance(rig, "w").id, "e1");
    commit(rig);
    begin_write(rig);
    int64_t id = claim_mail(rig, "me", 1)->rows[0].id;
    roll_back(rig);
    begin_write(rig);
    ack(rig, id);
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
}

/* ---- deliveries that failed ------------------------------------------------------------------- */

static void release(struct rig *rig, struct outbox_row row, int64_t until_us, int32_t attempts,
                    const char *error, int64_t dead_at_us)
{
    row.claimed_until_us = until_us;
    row.attempts = attempts;
    row.last_error = error;
    row.dead_at_us = dead_at_us;
    MUST(rig, rig->ops->release_outbox(rig->tx, &row, &rig->error));
}

static struct mail *list_open(struct rig *rig, bool is_dead, int64_t after, size_t room)
{
    struct mail *mail = arena_zalloc(&rig->arena, sizeof *mail);
    MUST(rig, rig->ops->list_open_outbox(rig->tx, is_dead, after, mail->rows, room,
                                         &mail->count, &rig->error));
    return mail;
}

TEST(an_event_that_was_given_back_comes_again_at_its_time_before_later_ones)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, "a1");
    append(rig, a, "a2");
    append(rig, b, "b1");
    struct mail *mail = claim_mail(rig, "me", 9);
    CHECK_MAIL(mail, "a1", "a2", "b1");
    struct outbox_row seen;
    MUST(rig, rig->ops->lock_outbox(rig->tx, mail->rows[0].id, &seen, &rig->error));
    CHECK_STR(seen.event, "a1");
    CHECK_STR(seen.claimed_by, "me");
    CHECK_INT(seen.acked_at_us, 0);
    CHECK_INT(rig->ops->lock_outbox(rig->tx, 99999, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    release(rig, mail->rows[0], rig->tx->now_us + 5 * US_PER_SEC, 1, "no luck", 0);
    CHECK_NO_MAIL(claim_mail(rig, "you", 9)); /* b1 is still claimed */
    release(rig, mail->rows[0], rig->tx->now_us, 1, "no luck", 0);
    struct mail *again = claim_mail(rig, "you", 9);
    CHECK_MAIL(again, "a1", "a2");
    CHECK_INT(again->rows[0].attempts, 1);
    CHECK_STR(again->rows[0].last_error, "no luck");
    CHECK_INT(again->rows[1].attempts, 0);
}

TEST(what_another_process_has_claimed_is_not_given_back)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id;
    append(rig, a, "a1");
    append(rig, a, "a2");
    struct mail *mail = claim_mail(rig, "me", 9);
    CHECK_MAIL(mail, "a1", "a2");
    release(rig, mail->rows[0], rig->tx->now_us, 0, NULL, 0);
    CHECK_MAIL(claim_mail(rig, "you", 1), "a1");
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
    struct outbox_row seen;
    MUST(rig, rig->ops->lock_outbox(rig->tx, mail->rows[0].id, &seen, &rig->error));
    CHECK_STR(seen.claimed_by, "you");
}

TEST(a_dead_event_is_acknowledged_and_listed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id;
    append(rig, a, "a1");
    append(rig, a, "a2");
    append(rig, a, "a3");
    struct mail *mail = claim_mail(rig, "me", 2);
    CHECK_MAIL(mail, "a1", "a2");
    release(rig, mail->rows[0], 0, 7, "gone", RIG_START_US);
    CHECK_NO_MAIL(claim_mail(rig, "you", 9)); /* a2 is still claimed */
    ack(rig, mail->rows[1].id);
    struct mail *dead = list_open(rig, true, 0, 9);
    CHECK_MAIL(dead, "a1");
    CHECK_INT(dead->rows[0].attempts, 7);
    CHECK_STR(dead->rows[0].last_error, "gone");
    CHECK_INT(dead->rows[0].dead_at_us, RIG_START_US);
    CHECK_INT(dead->rows[0].acked_at_us, RIG_START_US);
    CHECK_INT(dead->rows[0].claimed_until_us, 0);
    CHECK_NO_MAIL(list_open(rig, true, dead->rows[0].id, 9));
    CHECK_MAIL(list_open(rig, false, 0, 9), "a3");
    CHECK_MAIL(claim_mail(rig, "you", 9), "a3");
}

TEST(waiting_events_are_listed_oldest_first_and_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, "a1");
    append(rig, b, "b1");
    append(rig, a, "a2");
    struct mail *first = list_open(rig, false, 0, 2);
    CHECK_MAIL(first, "a1", "b1");
    CHECK_MAIL(list_open(rig, false, first->rows[1].id, 2), "a2");
    CHECK_NO_MAIL(list_open(rig, true, 0, 9));
}

/* ---- many that wait --------------------------------------------------------------------------- */

/* Far more than a claim looks at wait behind an event that is tried again later; what comes behind all of them is
 * given at once, and they are when their time has come. */
TEST(what_waits_behind_others_hides_nothing)
{
    enum { WAITING = 700 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, "first");
    for (int i = 0; i < WAITING; i++)
        append(rig, a, "waits");
    append(rig, b, "free");
    struct mail *first = claim_mail(rig, "me", 1);
    CHECK_MAIL(first, "first");
    release(rig, first->rows[0], rig->tx->now_us + 5 * US_PER_SEC, 1, "no luck", 0);
    commit(rig);
    begin_write(rig);
    CHECK_MAIL(claim_mail(rig, "you", 9), "free");
    CHECK_NO_MAIL(claim_mail(rig, "you", 9));
    commit(rig);
    pass_us(rig, 6 * US_PER_SEC);
    begin_write(rig);
    struct mail *again = claim_mail(rig, "you", 3);
    CHECK_MAIL(again, "first", "waits", "waits");
    CHECK_NO_MAIL(claim_mail(rig, "me", 3));
    for (size_t i = 0; i < 3; i++)
        ack(rig, again->rows[i].id);
    int64_t last = again->rows[2].id;
    for (int left = WAITING - 2;
         left > 0;) { /* acknowledged at once, so that none waits any more */
        struct mail *more = claim_mail(rig, "me", ROWS_MAX);
        CHECK(more->count > 0, "%d are never given", left);
        for (size_t i = 0; i < more->count; i++, left--) {
            CHECK_INT(more->rows[i].id, ++last);
            ack(rig, more->rows[i].id);
        }
    }
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
}

/* Events of many instances, each behind one that is tried again later; a dead one holds back nothing. */
TEST(what_waits_in_many_instances_comes_at_its_time)
{
    enum { INSTANCES = 150 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < INSTANCES; i++) {
        const char *id = new_instance(rig, "w").id;
        append(rig, id, "one");
        append(rig, id, "two");
    }
    for (int given = 0; given < INSTANCES;) {
        struct mail *mail = claim_mail(rig, "me", ROWS_MAX);
        CHECK(mail->count > 0, "%d were given", given);
        for (size_t i = 0; i < mail->count; i++) {
            CHECK(mail->count == ROWS_MAX || i % 2 || !strcmp(mail->rows[i].event, "one"),
                  "order");
            if (strcmp(mail->rows[i].event, "one") == 0) {
                release(rig, mail->rows[i], rig->tx->now_us + US_PER_SEC, 1, "no luck", 0);
                given++;
            }
        }
    }
    CHECK_NO_MAIL(claim_mail(rig, "me", 9));
    commit(rig);
    pass_us(rig, 2 * US_PER_SEC);
    begin_write(rig);
    int ones = 0, twos = 0;
    for (int i = 0; twos < INSTANCES && i < 100; i++) {
        struct mail *mail = claim_mail(rig, "me", 20);
        for (size_t k = 0; k < mail->count; k++) {
            bool is_one = strcmp(mail->rows[k].event, "one") == 0;
            ones += is_one;
            twos += !is_one;
            if (is_one)
                release(rig, mail->rows[k], 0, 2, "gone", rig->tx->now_us);
            else
                ack(rig, mail->rows[k].id);
        }
    }
    CHECK_INT(ones, INSTANCES);
    CHECK_INT(twos, INSTANCES);
}

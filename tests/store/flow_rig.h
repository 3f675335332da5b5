/* tests/store/flow_rig.h - instances and steps for the tests of the workflow verbs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cleanup(rig_closep) struct rig *rig = rig_open();
 *     begin_write(rig);
 *     struct instance_row instance = new_instance(rig, "order");
 *     add_step(rig, ready_step(&instance, 0, "mail", 50));
 *     CHECK_STEPS(claim_steps(rig, 9, "mail"), "s0");
 *
 * Steps are told apart by name: "s" and their place, unless a test says otherwise.
 */
#ifndef STORE_FLOW_RIG_H
#define STORE_FLOW_RIG_H

#include "rig.h"

/* The greatest instant that every store can hold: the end of the year 9999. */
#define LAST_INSTANT_US INT64_C(253402300799999999)

struct steps {
    struct step_row rows[ROWS_MAX];
    size_t count;
};

/* ---- instances --------------------------------------------------------------------------- */

/* A running instance with a new id, not inserted yet. */
struct instance_row instance_of(struct rig *rig, const char *workflow);

/* Inserts one that must be new, and returns it with its seq. */
struct instance_row add_instance(struct rig *rig, struct instance_row row);
struct instance_row new_instance(struct rig *rig, const char *workflow); /* both at once */

struct instance_row get_instance(struct rig *rig, const char *id);
struct instance_row lock_instance(struct rig *rig, const char *id); /* it must be there */
void update_instance(struct rig *rig, struct instance_row row);

/* Every field, those that may change or those that may not; JSON by value. */
void check_instance_fixed(const struct instance_row *seen, const struct instance_row *wanted);
void check_instance_changing(const struct instance_row *seen,
                             const struct instance_row *wanted);

/* ---- steps ------------------------------------------------------------------------------- */

/* A pending task at this place, not inserted yet. */
struct step_row step_of(const struct instance_row *instance, int32_t seq);

/* One that can be claimed now. */
struct step_row ready_step(const struct instance_row *instance, int32_t seq, const char *type,
                           int32_t priority);

void add_step(struct rig *rig, struct step_row row);
void add_pending_steps(struct rig *rig, const struct instance_row *instance, int32_t count);

struct step_row get_step(struct rig *rig, const char *instance_id, const char *name);
struct step_row lock_step(struct rig *rig, const char *instance_id, int32_t seq);
void update_step(struct rig *rig, struct step_row row);

void check_step_planned(const struct step_row *seen, const struct step_row *wanted);
void check_step_changing(const struct step_row *seen, const struct step_row *wanted);

/* A claim by worker "w" under token "t", for a minute, without aging. */
struct steps *claim_steps(struct rig *rig, size_t room, const char *pattern);

/* Says that claim_steps() with the same room and pattern comes next, if the store wants to know. */

/* The same, with all that can be said; worker, token and lease are filled in if need be. */
struct steps *claim_steps_by(struct rig *rig, size_t room, struct step_claim claim);

/* Puts a type into the registry. */
void register_type(struct rig *rig, const char *name, const char *runtime, bool enabled);

/* Whether these are the steps with these names, in this order. */
void check_steps(const struct steps *steps, size_t count, const char *const *names);
#define CHECK_STEPS(steps, ...)                                                \
    check_steps(steps, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
                (const char *[]){__VA_ARGS__})
#define CHECK_NO_STEPS(steps) check_steps(steps, 0, NULL)

/* ---- texts ------------------------------------------------------------------------------- */

/* NULL is only the same as NULL, and not as "". */
bool is_same_text(const char *a, const char *b);

#define CHECK_TEXT(seen, wanted)                                                              \
    do {                                                                                      \
        const char *text_ = (seen), *other_ = (wanted);                                       \
        CHECK(is_same_text(text_, other_), "%s is %s, not %s", #seen, text_ ? text_ : "NULL", \
              other_ ? other_ : "NULL");                                                      \
    } while (0)
#define CHECK_JSON(seen, wanted)                                                              \
    do {                                                                                      \
        const char *text_ = (seen), *other_ = (wanted);                                       \
        CHECK(is_same_json(text_, other_), "%s is %s, not %s", #seen, text_ ? text_ : "NULL", \
              other_ ? other_ : "NULL");                                                      \
    } while (0)

#endif

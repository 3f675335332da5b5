/* Memories of functions that a worker has kept: a claim that names them brings only the rest, and both
 * together are what the store has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "rig.h"

#include <string.h>

/* An engine, and a worker that keeps memories and runs one function by hand. */
struct scene {
    struct rig rig;
    struct memories memories;
    char instance_id[ID_TEXT];
    struct request *claim; /* the latest, with its task */
    int signals;
};

static void scene_begin(struct scene *scene)
{
    *scene = (struct scene){0};
    rig_init(&scene->rig, 1000);
    memories_init(&scene->memories);
    scene->claim = rig_claim_function(&scene->rig);
    snprintf(scene->instance_id, sizeof scene->instance_id, "%s",
             scene->claim->out.page.tasks[0].instance_id);
}

/* Requests hold what they name, so they go first. */
static void scene_end(struct scene *scene)
{
    rig_done(&scene->rig);
    memories_done(&scene->memories);
}

static const cairn_task *task_of(const struct scene *scene)
{
    return &scene->claim->out.page.tasks[0];
}

/* The claim as the engine answers it; scene_complete() makes its memory whole. */
static const cairn_memory *scene_claim(struct scene *scene)
{
    scene->claim = rig_claim(&scene->rig, "f", 0);
    memories_offer(&scene->memories, scene->claim);
    CHECK_INT(rig_do(&scene->rig, scene->claim), CAIRN_OK);
    CHECK_INT(scene->claim->out.page.count, 1);
    return task_of(scene)->memory;
}

/* ---- the law -------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Every step that the store has, in order, and nothing else. */
static void check_whole(struct scene *scene)
{
    enum { ROOM = 6000 };
    struct store *store = scene->rig.engine->store;
    const cairn_memory *memory = task_of(scene)->memory;
    cleanup(arena_done) struct arena arena = {0};
    struct store_session *session;
    struct store_tx *tx;
    cairn_error error;
    size_t count;
    struct step_ref all = {.instance_id = scene->instance_id};
    struct step_row *rows = arena_array(&arena, ROOM, sizeof *rows);
    CHECK(rows, "no memory");
    CHECK_OK(store->ops->session_open(store, SESSION_READER, &session, &error));
    CHECK_OK(store->ops->begin(session, &arena, &tx, &error));
    CHECK_OK(store->ops->list_memos(tx, &all, 1, rows, ROOM, &count, &error));
    CHECK_INT(memory->steps_from, 1);
    CHECK_INT(memory->step_count, count);
    for (size_t i = 0; i < count && i < memory->step_count; i++) {
        const cairn_step *step = memory->steps[i];
        CHECK(step->seq == rows[i].seq && is_same(step->name, rows[i].name) &&
                  is_same(step->status, step_status_name(rows[i].status)) &&
                  is_same(step->output, rows[i].output) && is_same(step->error, rows[i].error),
              "step %d is not as it is in the store", rows[i].seq);
    }
    store->ops->rollback(tx);
    store->ops->session_close(session);
}

static void scene_complete(struct scene *scene)
{
    memories_complete(&scene->memories, scene->claim);
    check_whole(scene);
}

/* ---- commits -------------------------------------------------------------------------------- */

enum { STEPS_MOST = 400 };

static void scene_commit(struct scene *scene, const struct commit_step *steps, size_t count,
                         enum passage_outcome outcome)
{
    const cairn_task *task = task_of(scene);
    struct request *commit = rig_make(OP_COMMIT);
    struct commit_step *copy = arena_array(&commit->arena, count, sizeof *copy);
    CHECK(copy, "no memory");
    if (count)
        memcpy(copy, steps, count * sizeof *copy);
    commit->in.commit = (struct commit_input){.worker = "w",
                                              .task_id = task->id,
                                              .token = task->token,
                                              .revision = task->memory->revision,
                                              .outcome = outcome,
                                              .error = outcome == PASSAGE_FAIL ? "no" : NULL,
                                              .steps = copy,
                                              .step_count = count};
    CHECK_INT(rig_do(&scene->rig, commit), CAIRN_OK);
    memories_complete(&scene->memories, commit);
}

/* So many steps that have completed and, if it suspends, a wait. */
static void run_steps(struct scene *scene, size_t count, enum passage_outcome outcome)
{
    static char keys[STEPS_MOST + 1][24];
    struct commit_step steps[STEPS_MOST + 1];
    int32_t place = task_of(scene)->memory->places;
    CHECK(count <= STEPS_MOST, "too many");
    for (size_t i = 0; i <= count; i++, place++) {
        bool is_wait = i == count;
        snprintf(keys[i], sizeof keys[i], "%s%d", is_wait ? "w" : "s", place);
        steps[i] = (struct commit_step){.seq = place,
                                        .key = keys[i],
                                        .kind = is_wait ? "wait" : "task",
                                        .status = is_wait ? "waiting" : "completed",
                                        .output = is_wait ? NULL : "{\"n\":1}",
                                        .event = is_wait ? "go" : NULL,
                                        .max_attempts = 1,
                                        .timeout_ms = -1};
    }
    scene_commit(scene, steps, count + (outcome == PASSAGE_SUSPEND), outcome);
}

static void wake(struct scene *scene)
{
    char id[16];
    struct request *signal = rig_make(OP_SIGNAL);
    snprintf(id, sizeof id, "s%d", ++scene->signals);
    signal->in.signal = (cairn_signal_options)CAIRN_SIGNAL_DEFAULTS;
    signal->in.signal.instance_id = scene->instance_id;
    signal->in.signal.event = "go";
    signal->in.signal.id = arena_strdup(&signal->arena, id);
    CHECK_INT(rig_do(&scene->rig, signal), CAIRN_OK);
}

static void control(struct scene *scene, enum request_op op)
{
    struct request *request = rig_make(op);
    request->in.control =
        (struct control_input){.id = scene->instance_id, .by = "me", .reason = "why"};
    CHECK_INT(rig_do(&scene->rig, request), CAIRN_OK);
}

/* A scene whose worker has kept the memory of 100 steps, and whose next run has begun. */
static void scene_begin_kept(struct scene *scene)
{
    scene_begin(scene);
    run_steps(scene, 100, PASSAGE_SUSPEND);
    wake(scene);
    CHECK_INT(scene_claim(scene)->step_count, 101);
    scene_complete(scene);
    CHECK_INT(scene->memories.count, 1);
}

/* ---- what is read --------------------------------------------------------------------------- */

TEST(a_function_of_5000_steps_is_not_read_whole_each_time)
{
    struct scene scene;
    enum { EACH = 50, PASSAGES = 100 };
    scene_begin(&scene);
    for (int i = 0; i < PASSAGES; i++) {
        run_steps(&scene, EACH - 1, PASSAGE_SUSPEND);
        wake(&scene);
        const cairn_memory *memory = scene_claim(&scene);
        CHECK(memory->step_count <= MEMORIES_MORE + 2 * EACH, "run %d has read %zu steps", i,
              memory->step_count);
        scene_complete(&scene);
        CHECK_INT(task_of(&scene)->memory->step_count, (i + 1) * EACH);
    }
    scene_end(&scene);
}

TEST(a_short_memory_is_not_kept)
{
    struct scene scene;
    scene_begin(&scene);
    run_steps(&scene, MEMORIES_LEAST - 2, PASSAGE_SUSPEND);
    wake(&scene);
    scene_claim(&scene);
    scene_complete(&scene);
    CHECK_INT(scene.memories.count, 0);
    scene_end(&scene);
}

TEST(what_has_not_ended_is_brought_again)
{
    struct scene scene;
    scene_begin(&scene);
    run_steps(&scene, 40, PASSAGE_SUSPEND); /* its wait is at place 41 */
    control(&scene, OP_PAUSE);
    control(&scene, OP_RESUME);
    wake(&scene);
    scene_claim(&scene);
    scene_complete(&scene);
    CHECK_INT(scene.memories.count, 1);

    run_steps(&scene, 0,
              PASSAGE_SUSPEND); /* a wait at place 42, which is known as waiting ... */
    struct commit_step retried = {.seq = 43,
                                  .key = "again",
                                  .kind = "task",
                                  .status = "ready",
                                  .error = "oops",
                                  .attempts = 1,
                                  .max_attempts = 3,
                                  .timeout_ms = -1};
    wake(&scene);
    scene_claim(&scene);
    scene_complete(&scene);
    scene_commit(&scene, &retried, 1, PASSAGE_SUSPEND); /* ... and a call that is repeated */
    scene_claim(&scene);
    scene_complete(&scene);
    retried.status = "completed";
    scene_commit(&scene, &retried, 1, PASSAGE_AGAIN);
    const cairn_memory *memory = scene_claim(&scene);
    CHECK_STR(memory->steps[memory->step_count - 1]->status, "completed");
    scene_complete(&scene);
    scene_end(&scene);
}

/* ---- when it is not valid ------------------------------------------------------------------- */

TEST(after_a_restart_nothing_is_known)
{
    struct scene scene;
    scene_begin_kept(&scene);
    control(&scene, OP_RESTART);
    CHECK_INT(scene_claim(&scene)->steps_from, 1);
    scene_complete(&scene);
    CHECK_INT(scene.memories.count, 0);
    run_steps(&scene, 100, PASSAGE_SUSPEND); /* other steps at the same places */
    wake(&scene);
    CHECK_INT(scene_claim(&scene)->step_count, 101);
    scene_complete(&scene);
    scene_end(&scene);
}

TEST(after_a_retry_everything_is_brought)
{
    struct scene scene;
    scene_begin_kept(&scene);
    struct commit_step failed = {.seq = 102,
                                 .key = "bad",
                                 .kind = "task",
                                 .status = "failed",
                                 .error = "no",
                                 .attempts = 1,
                                 .max_attempts = 1,
                                 .timeout_ms = -1};
    /* Another worker, which does not know what this one has kept. */
    struct memories other = scene.memories;
    scene.memories = (struct memories){0};
    memories_init(&scene.memories);
    scene_commit(&scene, &failed, 1, PASSAGE_FAIL);
    memories_done(&scene.memories);
    scene.memories = other;
    control(&scene, OP_RETRY);
    CHECK_INT(scene_claim(&scene)->steps_from, 1);
    scene_complete(&scene);
    scene_end(&scene);
}

TEST(the_end_of_a_function_is_the_end_of_its_memory)
{
    struct scene scene;
    scene_begin_kept(&scene);
    run_steps(&scene, 0, PASSAGE_COMPLETE);
    CHECK_INT(scene.memories.count, 0);
    CHECK_INT(scene.memories.bytes, 0);
    scene_end(&scene);
}

TEST(what_is_kept_has_a_bound)
{
    struct memories memories;
    enum { STEPS = 40, TEXT = 64 * 1024 };
    char *large = mem_alloc(TEXT);
    cairn_step steps[STEPS];
    const cairn_step *pointers[STEPS];
    CHECK(large, "no memory");
    memset(large, 'x', TEXT - 1);
    large[TEXT - 1] = '\0';
    memories_init(&memories);
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (cairn_step){.id = "i",
                                .name = "s",
                                .kind = "task",
                                .status = "completed",
                                .status_code = CAIRN_STEP_COMPLETED,
                                .seq = i + 1,
                                .output = large};
        pointers[i] = &steps[i];
    }
    for (int i = 0; i < 20; i++) { /* each of 2.5 MB */
        char id[ID_TEXT];
        snprintf(id, sizeof id, "instance-%d", i);
        cairn_memory memory = {.revision = 1,
                               .places = STEPS + 1,
                               .steps = pointers,
                               .step_count = STEPS,
                               .steps_from = 1};
        cairn_task task = {.id = "i.0", .instance_id = id, .memory = &memory};
        struct request *claim = request_new(OP_CLAIM);
        CHECK(claim, "no memory");
        claim->out.page.tasks = &task;
        claim->out.page.count = 1;
        memories_complete(&memories, claim);
        CHECK(memories.bytes <= MEMORIES_BYTES, "%zu bytes are kept", memories.bytes);
        request_free(claim);
    }
    CHECK(memories.count > 1, "only %zu are kept", memories.count);
    memories_done(&memories);
    mem_free(large);
}

/* ---- a caller that keeps memories by itself ------------------------------------------------- */

TEST(a_claim_may_name_what_its_caller_has)
{
    struct scene scene;
    scene_begin_kept(&scene);
    cairn_known known = CAIRN_KNOWN_DEFAULTS;
    known.instance_id = scene.instance_id;
    known.revision = task_of(&scene)->memory->revision;
    known.before = 101;
    run_steps(&scene, 5, PASSAGE_AGAIN);
    scene.claim = rig_claim(&scene.rig, "f", 0);
    scene.claim->in.claim.known = &known;
    scene.claim->in.claim.known_count = 1;
    memories_offer(&scene.memories, scene.claim); /* it is left alone */
    CHECK_INT(rig_do(&scene.rig, scene.claim), CAIRN_OK);
    memories_complete(&scene.memories, scene.claim);
    const cairn_memory *memory = task_of(&scene)->memory;
    CHECK_INT(memory->steps_from, 101);
    CHECK_INT(memory->step_count, 6);
    CHECK_INT(memory->steps[0]->seq, 101);
    scene_end(&scene);
}

TEST(what_a_caller_cannot_have_is_brought)
{
    struct scene scene;
    scene_begin_kept(&scene);
    const struct {
        int64_t revision;
        int32_t before;
    } cases[] = {{task_of(&scene)->memory->revision + 1000, 101}, /* of the future */
                 {task_of(&scene)->memory->revision, 5000},       /* beyond all places */
                 {0, 101}};                                       /* never a memory's */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cairn_known known = CAIRN_KNOWN_DEFAULTS;
        known.instance_id = scene.instance_id;
        known.revision = cases[i].revision;
        known.before = cases[i].before;
        scene_commit(&scene, NULL, 0, PASSAGE_AGAIN);
        scene.claim = rig_claim(&scene.rig, "f", 0);
        scene.claim->in.claim.known = &known;
        scene.claim->in.claim.known_count = 1;
        CHECK_INT(rig_do(&scene.rig, scene.claim), CAIRN_OK);
        check_whole(&scene);
    }
    scene_end(&scene);
}

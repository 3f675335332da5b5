/* cli/show.h - what cairn show draws: an instance, its steps as a tree, and how both are followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   show.c         the instance, its steps, its definition and its DLQ records; the command
 *   show_plan.c    the steps as a tree, as the definition nests them; long lists of branches cut
 *   show_children.c  what steps have started, read and put below them
 *   show_step.c    the line of a step; what is special for functions
 *   show_draw.c    the head and the tree: lines, colours, columns
 *   show_follow.c  drawn again whenever it changes
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "base/arena.h"
#include "cli/call.h"

/* ---- state ------------------------------------------------------------------------------- */

struct show_state {
    struct answer instance;
    struct buf steps_text;     /* a JSON array, as it came */
    struct buf decisions_text; /* likewise */
    json_t *steps;             /* the same as a tree */
    const json_t *contents;    /* of the workflow file; NULL: it is gone */
    json_t *dlq;               /* id of a step -> {"id", "is_undo"}: its open record */
    json_t *children;          /* what the steps have started; see show_children.c */
    int64_t now_us;
};

/* Kept from one reading of the state to the next. */
struct show_source {
    cairn_engine *engine;
    json_t *contents; /* of the definition that was read last */
    char *workflow;
    int64_t version;
};

/* The instance and its steps, which is all that -o json needs. */
int show_state_read(struct show_source *source, const char *id, struct show_state *state);
/* The rest: what drawing needs in addition.  None of it may be missing for good reason. */
void show_state_complete(struct show_source *source, struct show_state *state);
void show_print_json(const struct show_state *state);
void show_state_done(struct show_state *state);
void show_source_done(struct show_source *source);

const char *show_status(const struct show_state *state); /* of the instance */
bool show_is_ended(const struct show_state *state);

/* ---- tree -------------------------------------------------------------------------------- */

struct show_node {
    const json_t *step; /* NULL: a label */
    const json_t
        *element; /* of the file; a join has that of its fork; NULL: unknown, a label */
    const char *label;
    const json_t *child;  /* an instance that the step above has started; then step is NULL */
    const json_t *nested; /* of a step that has started instances; see show_children.c */
    bool is_untaken;      /* a label: the list that the condition did not take */
    bool has_branches;    /* its children are branches (and a join) that may be shortened */
    bool is_hidden;       /* counted in a label instead of drawn */
    struct show_node *first, *last, *next;
};

/* The steps below a root that is not drawn.  Where the definition is gone, or is not that of the
 * steps, they are a flat list.  NULL: memory has run out. */
struct show_node *show_plan(struct arena *arena, const json_t *steps, const json_t *contents);
struct show_node *show_node_add(struct arena *arena, struct show_node *parent); /* or NULL */

/* Hides most of the branches where there are very many, and adds a label that counts them. */
void show_shorten(struct arena *arena, struct show_node *root);

/* Reads what the steps have started: some of it where it is much, and down to a bounded depth. */
void show_children_read(cairn_engine *engine, struct show_state *state);
/* Puts it below the steps.  False: memory has run out. */
bool show_children_add(struct arena *arena, const struct show_state *state,
                       struct show_node *root);

/* ---- lines ------------------------------------------------------------------------------- */

struct screen {
    bool is_terminal, is_coloured, is_utf8;
    size_t columns, rows;
};

void screen_look(struct screen *screen);

/* Lines of text, each ended by a newline. */
struct picture {
    struct buf text;
    size_t lines;
    size_t active; /* the first line of an active step; SIZE_MAX: none */
};

/* ---- steps ------------------------------------------------------------------------------- */

/* How a status is drawn.  Its index is its urgency; 0 is the most urgent. */
struct look {
    const char *status, *symbol, *colour;
    bool needs_attention;
};
size_t look_count(void);
const struct look *look_at(size_t urgency);
size_t look_urgency(const char *status); /* of a step or an instance */

/* The status of a step as a person sees it: a fork runs until its join has ended. */
const char *shown_status(const struct show_state *state, const struct show_node *node);
void shown_name(const struct show_node *node, struct buf *text); /* "stock (condition)" */
void shown_note(const struct show_state *state, const struct show_node *node, struct buf *text);
void shown_hint(const struct show_state *state, const struct show_node *node, struct buf *text);
/* "cairn approve ..." or "cairn signal ..." for a step that waits for it */
void command_for_step(const char *id, const json_t *step, struct buf *text);
void shown_took(const struct show_state *state, const json_t *step, struct buf *text);

/* ---- functions --------------------------------------------------------------------------- */

bool step_is_function(const json_t *step);   /* the function itself, of which it is the first */
bool step_is_remembered(const json_t *step); /* of its steps one that no worker is given */

const char *function_error(const struct show_state *state, const json_t *step); /* or "" */

/* ---- drawing ----------------------------------------------------------------------------- */

int say_undrawn(void); /* memory has run out; the answer is the exit code */

/* False: memory has run out. */
bool show_draw(const struct show_state *state, const struct screen *screen,
               struct picture *picture);

/* Shows it until it has ended: EXIT_DONE if it completed, EXIT_NO if not, or another error. */
int show_follow(struct show_source *source, const char *id, bool is_json);

#endif

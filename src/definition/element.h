/* definition/element.h - a workflow file as a tree of elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   node.c       text -> nodes           (libfyaml)
 *   mapping.c    nodes -> values         (text, durations, numbers, with flaws)
 *   task.c       a step's own keys       (retry, compensation)
 *   child.c      what starts children    (start, map)
 *   input.c      what is said about the input (schema, example)
 *   data.c       templates and conditions: input, output, when
 *   parse.c      nodes -> elements
 *   check.c      what concerns the file as a whole: names
 *   canonical.c  elements -> the text that is stored and hashed
 *   plan.c       elements -> the rows of an instance
 *   draw*.c      elements -> pictures
 */
#ifndef DEFINITION_ELEMENT_H
#define DEFINITION_ELEMENT_H

#include "base/json.h"
#include "definition/flaw.h"
#include "definition/node.h"

enum {
    FILE_BYTES_MAX = 1024 * 1024,
    STEPS_MAX = 10000, /* rows of an instance */
    NAME_BYTES_MAX = 256,
    INPUT_BYTES_MAX = 64 * 1024, /* of the schema, and of the example */
    NESTING_MAX = 64,            /* conditions, forks and parallels inside each other */
    PRIORITY_MAX = 100,
    PRIORITY_DEFAULT = 50,
    ATTEMPTS_DEFAULT = 3,
    PARALLEL_DEFAULT = 20, /* children of a map at one time */
    PARALLEL_MAX = 1000,
};

/* The end of the name of a fork's join, and the beginning of a condition's name in wait_for. */
#define JOIN_SUFFIX "_join"
#define CONDITION_PREFIX "cond#"

enum element_kind {
    ELEMENT_STEP,
    ELEMENT_SAVE_POINT,
    ELEMENT_CONDITION,
    ELEMENT_FORK,
    ELEMENT_PARALLEL,
    ELEMENT_HUMAN,
    ELEMENT_WAIT,
    ELEMENT_SLEEP,
    ELEMENT_START,
    ELEMENT_MAP,
    ELEMENT_IN_LIST_COUNT, /* the kinds above are elements of lists */
    /* The only element of a function. */
    ELEMENT_FUNCTION = ELEMENT_IN_LIST_COUNT,
    ELEMENT_KIND_COUNT
};

enum join_kind { JOIN_NONE, JOIN_ALL, JOIN_ANY };

/* The steps whose outputs the expressions of an element name.  check.c finds their elements. */
struct named_step {
    const char *name;
    const struct element *element;
    bool is_join; /* the element's join is meant */
};

struct named_steps {
    struct place at; /* of the expressions */
    const char *key; /* where they stand: "input" */
    struct named_step *items;
    size_t count;
};

struct element_list {
    struct element *first, *last;
    size_t count;
};

struct element {
    enum element_kind kind;
    struct place at; /* of its name */
    const char *name;
    struct element *next;      /* the next one in the same list */
    const char *metadata;      /* canonical JSON; NULL: none */
    const char *handler;       /* step, function */
    int32_t max_attempts;      /* step, function */
    int32_t priority;          /* step */
    struct step_config config; /* without places, which the plan knows */
    struct named_steps reads;  /* of input or when */
    struct named_steps output_reads, group_reads;
    struct named_steps key_reads, tags_reads; /* start */
    struct named_steps over_reads;            /* map */

    enum join_kind join;        /* fork */
    struct element_list *lists; /* then and else; branches; one for each parallel step */
    size_t list_count;
    struct element_list each; /* map: what is done for each element, in a plan of its own */

    int32_t place, last;   /* in the plan: of its row and of the last row within it */
    int32_t join_place;    /* fork, parallel */
    const char *join_name; /* fork, parallel */
};

struct workflow {
    const char *name;
    int32_t version;
    bool is_function;
    bool is_dlq;
    const char *input_schema;  /* canonical JSON; NULL: none */
    const char *input_example; /* canonical JSON; NULL: none */
    struct element_list elements;
    int32_t rows; /* in the plan */
};

const char *element_kind_name(enum element_kind kind); /* the key in the file: "save_point" */
bool element_is_fork(const struct element *element);   /* fork or parallel */
const char *join_name(enum join_kind join);            /* "all", "any" */
const char *policy_name(enum failure_policy policy);   /* NULL for the default */
bool backoff_is_default(const struct backoff *backoff);

/* The default of a compensation's max_attempts. */
int32_t compensation_attempts_default(const struct compensation_config *compensation);

/* The state of reading a file. */
struct reading {
    struct arena *arena; /* of the result */
    struct flaws *flaws; /* their arena is freed when reading ends */
    int32_t rows;        /* so far */
    bool is_in_map;      /* of the elements that are read */
    bool is_out_of_memory;
};

/* Returns memory that was just allocated; if it is NULL, sets is_out_of_memory. */
void *reading_got(struct reading *reading, void *memory);

/* Reads the elements of a file; adds flaws. */
void workflow_parse(struct reading *reading, const struct node *root,
                    struct workflow *ret_workflow);

/* Adds flaws for names that are used twice, also by a join, or reserved, and for steps that are named by
 * expressions and do not exist. */
void workflow_check_names(struct reading *reading, struct workflow *workflow);
/* Adds a flaw if names of this form are written by the engine itself. */
void refuse_reserved(struct reading *reading, struct place at, const char *kind,
                     const char *name);

/* Sets the places of all elements, and makes the rows. */
void plan_places(struct workflow *workflow);
cairn_code plan_rows(struct arena *arena, const struct workflow *workflow,
                     struct step_row **ret_rows, cairn_error *reterr);

/* The defaults of a step's config. */
struct step_config config_default(void);

/* A step's config JSON, as core/step_config.h describes it.  Writes nothing if all is default.  Places
 * must be known. */
void config_write(struct buf *buf, const struct element *element);
void config_write_compensation(struct json_out *out,
                               const struct compensation_config *compensation);
void config_write_join(struct buf *buf, const struct element *fork);

cairn_code canonical_write(struct arena *arena, const struct workflow *workflow,
                           const char **ret_content, char ret_hash[65], cairn_error *reterr);

#endif

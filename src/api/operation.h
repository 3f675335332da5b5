/* api/operation.h - the operations of the JSON interface and their objects, as tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tables are made by scripts/gen_api.py from spec/objects.txt and spec/operations.txt; these
 * say what the entries mean.  The server reads requests and writes answers by them, the remote
 * engine writes requests and reads answers by the same ones, and http/ has the roles from here.
 */
#ifndef API_OPERATION_H
#define API_OPERATION_H

#include "base/clock.h"
#include "base/json.h"
#include "engine/request.h"

/* ---- fields ------------------------------------------------------------------------------- */

enum field_kind {
    FIELD_TEXT,     /* const char *, in the arena; null: NULL */
    FIELD_JSON,     /* const char *, the value as it was sent; null: NULL */
    FIELD_VALUE,    /* the same, but null is the JSON text null */
    FIELD_CHARS,    /* char[size] */
    FIELD_WORD,     /* const char *, as long as the engine lives; null: NULL */
    FIELD_CHOICE,   /* const char *, one of the constant words */
    FIELD_FLAG,     /* bool, sent as a word: the first is true, the second (or none) false */
    FIELD_INT,      /* int32_t or int64_t */
    FIELD_UINT,     /* uint32_t or uint64_t */
    FIELD_NUMBER,   /* int64_t, sent as a string */
    FIELD_BOOL,     /* bool */
    FIELD_FRACTION, /* double from 0 to 1; in requests only */
    FIELD_TIME,     /* int64_t in microseconds; null: 0 */
    FIELD_PLACE,    /* int32_t; null: -1; in answers only */
    FIELD_MAYBE,    /* int32_t: 1 true, 0 false, -1 null or left out */
    FIELD_OUTCOME,  /* enum passage_outcome */
    FIELD_TEXTS,    /* const char *const *, and a count */
    FIELD_LIST,     /* a pointer to `inner` structs, and a count */
    FIELD_POINTERS, /* a pointer to pointers to them, and a count; in answers only */
    FIELD_REF,      /* a pointer to an `inner` struct; null: NULL; in answers only */
    FIELD_OBJECT,   /* the fields of `inner`, in braces; left out if the first of them is */
    FIELD_FIELDS,   /* the fields of `inner`, without braces */
    FIELD_PART,     /* the same; left out if the first of them is NULL */
};

#define MOST_IN_BATCH INT64_C(-1) /* as a limit: the engine's max_batch */

struct object;

struct field {
    const char *name; /* NULL: FIELD_FIELDS and FIELD_PART */
    enum field_kind kind;
    bool is_needed; /* in a request; in an answer: a text or time that is never null */
    bool is_echo;   /* of the request: not read from an answer */
    bool is_rare;   /* of an answer: left out if it would be null */
    bool is_object; /* of JSON: null is no value of it, and counts as left out */
    uint32_t offset, size, count_offset;
    const struct object *inner;
    const char *const *words;  /* ends with NULL */
    const struct words *coded; /* of a word that has an enum beside it; NULL: it has none */
    uint32_t code_offset;      /* where the enum is */
    int64_t least, most;       /* of a number, or entries */
    int64_t fallback;          /* if it is left out */
    bool takes_unset;          /* the fallback may be sent, although it is out of range */
};

struct object {
    size_t size; /* of the struct; 0: it is struct request */
    size_t count;
    const struct field *fields;
    const char *const *
        ignored; /* of the body of a PUT: what its GET answers and only the server sets; ends with
                                 * NULL; NULL: nothing */
};

#define FIELD(type, member, a_kind, json_name)                                   \
    .name = json_name, .kind = FIELD_##a_kind, .offset = offsetof(type, member), \
    .size = sizeof(((type *)NULL)->member)
#define COUNT(type, member) .count_offset = offsetof(type, member)
#define CODED(type, member, enumeration) \
    .coded = &enumeration##_words, .code_offset = offsetof(type, member)
#define NEEDED .is_needed = true
#define WORDS(...)                 \
    .words = (const char *const[]) \
    {                              \
        __VA_ARGS__, NULL          \
    }
#define LIMITS(low, high, value) .least = low, .most = high, .fallback = value

/* How objects are written: an answer says null where there is nothing; a request leaves out what
 * is not set or is the default. */
enum writing { WRITE_ANSWER, WRITE_REQUEST };

void object_write(struct json_out *out, const struct object *object, const void *from,
                  enum writing writing); /* in braces */
void fields_write(struct json_out *out, const struct object *object, const void *from,
                  enum writing writing); /* without */
void list_write(struct json_out *out, const char *name, const struct object *object,
                const void *items, size_t count, enum writing writing);

/* A member of the struct that a table describes. */
const void *field_pointer(const struct field *field, const void *from);
int64_t field_number(const struct field *field, const void *from); /* and bool */
double field_fraction(const struct field *field, const void *from);

/* A time as requests have it: with all six decimals, because cut to milliseconds something would be due
 * before its time. */
enum { FINE_INSTANT_TEXT = INSTANT_TEXT + 8 };
void instant_format_fine(int64_t us, char text[FINE_INSTANT_TEXT]);
void field_put_pointer(const struct field *field, void *to, const void *pointer);
void field_put_fraction(const struct field *field, void *to, double fraction);
void field_put_number(const struct field *field, void *to, int64_t number);
size_t field_count(const struct field *field, const void *from);
void field_put_list(const struct field *field, void *to, const void *items, size_t count);

/* The field of this name, within FIELD_FIELDS and FIELD_PART too, and where the struct begins
 * that has it; NULL: there is none. */
const struct field *field_named(const struct object *object, const char *name, size_t len,
                                size_t *ret_offset);

/* ---- operations --------------------------------------------------------------------------- */

enum role {
    ROLE_PRODUCE = 1 << 0, /* records jobs, starts and signals instances, reads both */
    ROLE_WORK = 1 << 1,    /* claims, reports, delivers events, reads, deploys functions */
    ROLE_OPERATE = 1 << 2, /* everything */
    ROLE_VIEW = 1 << 3,    /* reads everything, but no tasks */
    ROLE_ANY = ROLE_PRODUCE | ROLE_WORK | ROLE_OPERATE | ROLE_VIEW,
    WORKERS = ROLE_WORK | ROLE_OPERATE,
};

/* Whether an operation may be sent again when its answer was lost. */
enum repeat {
    REPEAT_NEVER,
    REPEAT_ALWAYS,
    REPEAT_WITH_KEY, /* if the text at `key` is not NULL */
    REPEAT_BY_HAND,  /* it depends on more */
};

enum answer_form {
    ANSWER_BY_HAND,
    ANSWER_OBJECT, /* the struct is at `answer_at` (0: it is the request) */
    ANSWER_ITEM,   /* a pointer to it is */
    ANSWER_LIST,   /* {list: [...]}, from out.page */
    ANSWER_PAGE,   /* {"items": [...], "next": cursor}, from out.page */
};

struct call;
struct answer;

struct operation {
    const char *method;
    const char *path;   /* {name} stands for one segment that is not empty */
    enum request_op op; /* OP_COUNT: answered at once, without the engine */
    unsigned roles;     /* of enum role; 0: it needs no token */

    /* Places in struct request; 0: none. */
    uint32_t params[2]; /* of the segments that {name} stands for */
    uint32_t number;    /* of the last one, if it is an int32_t */
    const struct object *query, *body;
    uint32_t query_at, body_at;

    enum answer_form form;
    const struct object *answer;
    const struct object *row; /* of a page, if out.page.is_row; NULL: it never is */
    uint32_t answer_at;
    const char *list;
    bool is_endless;   /* `next` is always set */
    bool is_scanned;   /* and "scanned_to" is written */
    bool is_counted;   /* and "n" */
    bool is_creating;  /* 201, or 200 if its field "existing" is true */
    bool is_download;  /* a browser is to keep the answer, and not to show it */
    int failed_status; /* instead of 500 and above; 0: the status of the code */

    enum repeat repeat;
    uint32_t key;
    uint32_t wait_ms; /* how long the server may take, on purpose */

    /* Fills in request->in after path and query; mistakes go into request->code and
     * request->error.  NULL: the body is read by its table. */
    void (*read)(struct call *call, struct request *request);

    /* Writes what the request brought; not called if it failed.  NULL: by the table. */
    void (*write)(const struct request *request, struct answer *answer);
};

#define ROUTE(a_method, a_path, an_op, the_roles, may_repeat)            \
    .method = a_method, .path = a_path, .op = an_op, .roles = the_roles, \
    .repeat = REPEAT_##may_repeat
#define AT(place) offsetof(struct request, place)
#define QUERY(place, object) .query = &(object), .query_at = AT(place)
#define BODY(place, object) .body = &(object), .body_at = AT(place)
#define ANSWER(a_form, object) .form = ANSWER_##a_form, .answer = &(object)
#define ANSWER_AT(place, a_form, object) ANSWER(a_form, object), .answer_at = AT(place)

extern const struct operation operations[];
extern const size_t operation_count;

/* The operation that carries out a request, or NULL. */
const struct operation *operation_of(enum request_op op);

/* The first operation from `after` on (NULL: from the first) whose path matches a target as it is
 * sent, with or without a query; NULL: there is none.  A path that is spelled differently, such as
 * with needless percent signs, is not found. */
const struct operation *operation_at(const char *target, const struct operation *after);

/* The same, of this method. */
const struct operation *operation_find(const char *method, const char *target);

/* The response of a call that failed before a request could be made of it; never NULL. */
cairn_response *response_of_error(const cairn_error *error);

/* ---- objects that are also used by hand --------------------------------------------------- */

extern const struct object job_spec_object, job_specs_object, enqueued_object;
extern const struct object claim_spec_object, claim_besides_object;
extern const struct object task_object, memory_object, beat_object;
extern const struct object commit_spec_object, committed_object;
extern const struct object workflow_names_object, signal_spec_object, error_group_object,
    bulk_object;

/* The outcomes of a task, as reports name them: their words, and the fields that go with them. */
struct outcome {
    const char *name; /* NULL: no more */
    cairn_outcome outcome;
    const struct object *fields;
};
extern const struct outcome outcomes[];

#endif

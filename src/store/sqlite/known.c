/* store/sqlite/known.c - see known.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A copy is one block: the struct, and behind it its texts.  A table of copies has a place for each number modulo
 * its size; a row takes the place of whichever was there.
 */
#include "store/sqlite/known.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "core/instance.h"

#include <assert.h>
#include <string.h>

enum {
    PLACES_BITS = 13, /* 8192 rows of each table at most, so that few share a place */
    BYTES_MAX =
        4
        << 20, /* of all copies of a table: some thousands, as many as are under way at a time */
    COPY_MAX = 4096,   /* bytes; larger rows are read each time */
    COLUMNS_MAX = 63,  /* of one table that are ever changed */
    SHAPES_MAX = 64,   /* sets of columns whose UPDATE is prepared */
    GROUP_MAX = 32,    /* rows that one UPDATE writes */
    GROUP_LEAST = 8,   /* fewer are written one by one */
    BLOCK_BYTES = 256, /* blocks are of multiples of this, so that they serve again */
};

/* A copy, or a block that waits for one. */
struct copy {
    int64_t number; /* of its row; 0: none */
    int64_t epoch;  /* its table's when it was made: of an earlier one it counts for nothing */
    char *block;
    size_t room, size;
};

/* The UPDATEs of a set of columns. */
struct shape {
    uint64_t columns;
    uint64_t common;            /* those that had one value in each of its groups */
    struct statement one, many; /* of a row, and of GROUP_MAX */
};

/* A row to be written, and the copy that tells what of it has changed. */
struct change {
    const void *row;
    struct copy *copy;
    int64_t number;
    uint64_t columns; /* 0: nothing, or it is written */
    bool is_kept;     /* the copy, afterwards */
};

/* Rows whose changes are of one shape. */
struct group {
    const struct known_table *table;
    struct change *changes[GROUP_MAX];
    size_t count;
    size_t at; /* the row whose values were asked for last */
};

struct known_table {
    const struct row_type *type;
    const char *number; /* the column that is the rowid */
    const char *doing;  /* an UPDATE, as an error says it */
    int64_t epoch;      /* rises when all is forgotten */
    struct copy copies[1 << PLACES_BITS];
    size_t bytes; /* of their blocks */
    const struct column *all_texts[COLUMNS_MAX];
    size_t text_count;
    const struct column *changes[COLUMNS_MAX];
    size_t change_count;
    uint64_t texts; /* those of them that are texts, by bits as in a shape */
    struct shape shapes[SHAPES_MAX];
    size_t next_shape; /* to be replaced */
};

struct known_rows {
    struct known_table steps, instances;
    int64_t numbers[1 << PLACES_BITS]; /* of instances, by the hash of their id */
    int64_t data_version;
    struct group group; /* that is being written */
    known_observer *observer;
};

/* ---- copies --------------------------------------------------------------------------------- */

static struct copy *place_of(struct known_table *table, int64_t number)
{
    uint64_t hash = (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15);
    return &table->copies[hash >> (64 - PLACES_BITS)];
}

static struct copy *find_copy(struct known_table *table, int64_t number)
{
    struct copy *copy = place_of(table, number);
    return number && copy->number == number && copy->epoch == table->epoch ? copy : NULL;
}

static bool is_text(const struct column *column)
{
    return column->kind <= UUID_COLUMN;
}

static const char **text_at(const struct column *column, void *row)
{
    return (const char **)((char *)row + column->offset);
}

/* What the table has for a text. */
static const char *kept_text(const struct column *column, const void *row)
{
    const char *text = *(const char *const *)((const char *)row + column->offset);
    return text || !(column->flags & COLUMN_EMPTY) ? text : "";
}

/* sizes: of each text, with its NUL; 0: there is none. */
static size_t copy_size(const struct known_table *table, const void *row, size_t *ret_sizes)
{
    size_t size = table->type->size;
    for (size_t i = 0; i < table->text_count; i++) {
        const char *text = kept_text(table->all_texts[i], row);
        ret_sizes[i] = text ? strlen(text) + 1 : 0;
        size += ret_sizes[i];
    }
    return size;
}

static bool make_room(struct known_table *table, struct copy *copy, size_t size)
{
    if (copy->room >= size)
        return true;
    size_t room = (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    if (table->bytes + room > BYTES_MAX)
        return false;
    mem_free(copy->block);
    table->bytes -= copy->room;
    copy->block = mem_alloc(room);
    copy->room = copy->block ? room : 0;
    table->bytes += copy->room;
    return copy->block;
}

/* The row must not point into the copy that it replaces. */
static void put(struct known_table *table, int64_t number, const void *row)
{
    struct copy *copy = place_of(table, number);
    size_t sizes[COLUMNS_MAX];
    copy->number = 0;
    copy->size = copy_size(table, row, sizes);
    if (copy->size > COPY_MAX || !make_room(table, copy, copy->size))
        return;
    memcpy(copy->block, row, table->type->size);
    char *end = copy->block + table->type->size;
    for (size_t i = 0; i < table->text_count; i++) {
        if (!sizes[i])
            continue;
        memcpy(end, kept_text(table->all_texts[i], row), sizes[i]);
        *text_at(table->all_texts[i], copy->block) = end;
        end += sizes[i];
    }
    copy->number = number;
    copy->epoch = table->epoch;
}

/* The same row with texts in the arena. */
static bool get(const struct known_table *table, const struct copy *copy, struct arena *arena,
                void *ret_row)
{
    size_t size = table->type->size;
    char *texts = arena_alloc(arena, copy->size - size);
    if (!texts)
        return false;
    memcpy(texts, copy->block + size, copy->size - size);
    memcpy(ret_row, copy->block, size);
    for (size_t i = 0; i < table->text_count; i++) {
        const char **text = text_at(table->all_texts[i], ret_row);
        if (*text)
            *text = texts + (*text - copy->block) - size;
    }
    return true;
}

/* ---- what is known -------------------------------------------------------------------------- */

static void table_init(struct known_table *table, const struct row_type *type,
                       const char *number, const char *doing)
{
    table->type = type;
    table->number = number;
    table->doing = doing;
    for (size_t i = 0; i < type->count; i++) {
        assert(table->text_count < COLUMNS_MAX);
        if (is_text(&type->columns[i]))
            table->all_texts[table->text_count++] = &type->columns[i];
        if (!(type->columns[i].flags & COLUMN_CHANGE))
            continue;
        assert(table->change_count < COLUMNS_MAX);
        table->texts |= (uint64_t)is_text(&type->columns[i]) << table->change_count;
        table->changes[table->change_count++] = &type->columns[i];
    }
}

struct known_rows *known_new(void)
{
    struct known_rows *known = mem_zalloc(sizeof *known); /* most of it is never touched */
    if (!known)
        return NULL;
    table_init(&known->steps, &step_row_type, "id", "update a step");
    table_init(&known->instances, &instance_row_type, "seq", "update an instance");
    known->data_version = -1;
    return known;
}

void known_forget(struct known_rows *known)
{
    if (!known)
        return;
    known->steps.epoch++;
    known->instances.epoch++;
    known->data_version = -1;
}

void known_begin(struct known_rows *known, int64_t data_version)
{
    if (!known || (data_version >= 0 && data_version == known->data_version))
        return;
    known_forget(known);
    known->data_version = data_version;
}

static void table_done(struct known_table *table)
{
    for (size_t i = 0; i < 1 << PLACES_BITS; i++)
        mem_free(table->copies[i].block);
    for (size_t i = 0; i < SHAPES_MAX; i++) {
        statement_finalize(&table->shapes[i].one);
        statement_finalize(&table->shapes[i].many);
    }
}

void known_free(struct known_rows *known)
{
    if (!known)
        return;
    table_done(&known->steps);
    table_done(&known->instances);
    mem_free(known);
}

/* ---- what is written by whomever ------------------------------------------------------------ */

static void drop(struct known_table *table, const char *name, sqlite3_int64 number)
{
    struct copy *copy = strcmp(table->type->table, name) == 0 ? find_copy(table, number) : NULL;
    if (copy)
        copy->number = 0;
}

static void on_write(void *arg, int what, const char *database, const char *table,
                     sqlite3_int64 number)
{
    struct known_rows *known = arg;
    if (known->observer)
        known->observer(NULL, what, database, table, number);
    if (what == SQLITE_INSERT) /* a row that was not there has no copy */
        return;
    drop(&known->steps, table, number);
    drop(&known->instances, table, number);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct known_rows *known_of(struct store_tx *tx)
{
    return sqlite_session_of(tx)->known;
}

bool known_step(struct store_tx *tx, int64_t number, struct step_row *ret_row)
{
    struct known_rows *known = known_of(tx);
    const struct copy *copy = known ? find_copy(&known->steps, number) : NULL;
    return copy && get(&known->steps, copy, tx->arena, ret_row);
}

static int64_t *number_of(struct known_rows *known, const char *id)
{
    return &known->numbers[hash_text(HASH_START, id) >> (32 - PLACES_BITS)];
}

static const struct copy *find_instance(struct known_rows *known, const char *id)
{
    const struct copy *copy =
        known ? find_copy(&known->instances, *number_of(known, id)) : NULL;
    return copy && strcmp(((const struct instance_row *)(const void *)copy->block)->id, id) == 0
               ? copy
               : NULL;
}

bool known_instance(struct store_tx *tx, const char *id, struct instance_row *ret_row)
{
    struct known_rows *known = known_of(tx);
    const struct copy *copy = find_instance(known, id);
    return copy && get(&known->instances, copy, tx->arena, ret_row);
}

int64_t known_instance_seq(struct store_tx *tx, const char *id)
{
    const struct copy *copy = find_instance(known_of(tx), id);
    return copy ? copy->number : 0;
}

static int64_t step_number(const struct step_row *row)
{
    return row->instance_seq * PLACES_MAX + row->seq;
}

void known_put_step(struct store_tx *tx, const struct step_row *row)
{
    if (known_of(tx))
        put(&known_of(tx)->steps, step_number(row), row);
}

void known_put_instance(struct store_tx *tx, const struct instance_row *row)
{
    struct known_rows *known = known_of(tx);
    if (!known)
        return;
    *number_of(known, row->id) = row->seq;
    put(&known->instances, row->seq, row);
}

/* ---- changes -------------------------------------------------------------------------------- */

/* What no member says: whether the index of current steps holds a step. */
#define IS_CURRENT (UINT64_C(1) << 63)

static bool is_equal(const struct column *column, const void *a, const void *b)
{
    const char *one = (const char *)a + column->offset,
               *other = (const char *)b + column->offset;
    switch (column->kind) {
    case TEXT_COLUMN:
    case JSON_COLUMN:
    case EXACTJSON_COLUMN:
    case UUID_COLUMN:
        one = kept_text(column, a);
        other = kept_text(column, b);
        return one == other || text_is(one, other);
    case INT64_COLUMN:
    case TIME_COLUMN:
        return *(const int64_t *)one == *(const int64_t *)other;
    case BOOL_COLUMN:
        return *(const bool *)one == *(const bool *)other;
    default:
        return *(const int32_t *)one == *(const int32_t *)other;
    }
}

static bool is_current(const struct step_row *row)
{
    return step_is_current(row->status) || row->locked_by || row->is_held;
}

/* Those of some columns that differ.  The i-th column that may change is bit i. */
static uint64_t find_changes(const struct known_table *table, uint64_t columns, const void *old,
                             const void *row)
{
    uint64_t changes = 0, left = columns & ((UINT64_C(1) << table->change_count) - 1);
    for (; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (!is_equal(table->changes[i], old, row))
            changes |= UINT64_C(1) << i;
    }
    if (columns & IS_CURRENT && is_current(old) != is_current(row))
        changes |= IS_CURRENT;
    return changes;
}

/* Those of some columns in which all rows of a group have the same. */
static uint64_t find_common(const struct group *group, uint64_t columns)
{
    for (size_t i = 1; i < group->count; i++)
        columns &= ~find_changes(group->table, columns, group->changes[0]->row,
                                 group->changes[i]->row);
    return columns;
}

/* ---- UPDATEs ------------------------------------------------------------------------------ */

/* Of many rows SQLite asks for the values that differ by this function of a row's number and a column, so that its
 * cursors and checks are made ready once for all. */
static const char value_function[] = "cairn_value";

static struct column_value value_of(const struct group *group, int column)
{
    const void *row = group->changes[group->at]->row;
    if (column < 0)
        return (struct column_value){.number = is_current(row)};
    return column_value(group->table->changes[column], row);
}

static bool find_change(struct group *group, int64_t number)
{
    for (size_t tries = 0; tries < group->count; tries++) {
        if (group->changes[group->at]->number == number)
            return true;
        group->at = (group->at + 1) % group->count;
    }
    return false;
}

static void give_value(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct group *group = sqlite3_user_data(context);
    (void)count;
    if (!find_change(group, sqlite3_value_int64(arguments[0])))
        return;
    struct column_value value = value_of(group, sqlite3_value_int(arguments[1]));
    if (value.text)
        sqlite3_result_text64(context, value.text, strlen(value.text), SQLITE_STATIC,
                              SQLITE_UTF8);
    else if (!value.is_null)
        sqlite3_result_int64(context, value.number);
}

void known_observe(struct known_rows *known, known_observer *observer)
{
    known->observer = observer;
}

bool known_watch(struct known_rows *known, sqlite3 *db)
{
    sqlite3_update_hook(db, known ? on_write : NULL, known);
    return known &&
           sqlite3_create_function_v2(db, value_function, 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                      &known->group, give_value, NULL, NULL, NULL) == SQLITE_OK;
}

/* What a column becomes: a parameter, if all rows have the same. */
static void put_value(struct buf *sql, const struct known_table *table, const char *name,
                      int column, bool is_common)
{
    buf_printf(sql, " \"%s\" = ", name);
    if (is_common)
        buf_str(sql, "?,");
    else
        buf_printf(sql, "%s(%s, %d),", value_function, table->number, column);
}

/* The parameters are the common columns, in their order, then the numbers of rows.  OR FAIL: a statement of many rows would
 * copy each page first, to take back a part of itself; whoever it fails ends the transaction. */
static int prepare_shape(const struct known_table *table, sqlite3 *db, uint64_t columns,
                         uint64_t common, int rows, sqlite3_stmt **ret_handle)
{
    cleanup(buf_done) struct buf sql = {0};
    buf_printf(&sql, "UPDATE OR FAIL %s SET", table->type->table);
    for (size_t i = 0; i < table->change_count; i++)
        if (columns >> i & 1)
            put_value(&sql, table, table->changes[i]->name, (int)i, common >> i & 1);
    if (columns & IS_CURRENT)
        put_value(&sql, table, "is_current", -1, common & IS_CURRENT);
    if (buf_failed(&sql))
        return SQLITE_NOMEM;
    sql.len--; /* the last comma */
    buf_printf(&sql, " WHERE %s IN (?", table->number);
    for (int i = 1; i < rows; i++)
        buf_str(&sql, ",?");
    buf_str(&sql, ")");
    if (buf_failed(&sql))
        return SQLITE_NOMEM;
    return sqlite3_prepare_v3(db, sql.text, -1, SQLITE_PREPARE_PERSISTENT, ret_handle, NULL);
}

static struct shape *find_shape(struct known_table *table, uint64_t columns)
{
    for (size_t i = 0; i < SHAPES_MAX; i++)
        if (table->shapes[i].columns == columns)
            return &table->shapes[i];
    struct shape *shape = &table->shapes[table->next_shape];
    table->next_shape = (table->next_shape + 1) % SHAPES_MAX;
    statement_finalize(&shape->one);
    statement_finalize(&shape->many);
    *shape = (struct shape){.columns = columns};
    return shape;
}

/* A column that differed once is asked for from then on, so that a statement is made again a few times at most. */
static void narrow(struct shape *shape, const struct group *group)
{
    uint64_t common = find_common(group, shape->many.handle ? shape->common : shape->columns);
    if (common != shape->common)
        statement_finalize(&shape->many);
    shape->common = common;
}

/* Writes one row, or a group. */
static cairn_code write_rows(struct store_tx *tx, struct known_table *table,
                             struct change *const *changes, size_t count, cairn_error *reterr)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    struct shape *shape = find_shape(table, changes[0]->columns);
    bool is_many = count > 1;
    int parameter = 1, rc = SQLITE_OK;
    if (is_many)
        narrow(shape, &session->known->group);
    uint64_t common = is_many ? shape->common : shape->columns;
    struct statement *statement = is_many ? &shape->many : &shape->one;
    if (!statement->handle)
        rc = prepare_shape(table, session->connection->db, shape->columns, common,
                           is_many ? GROUP_MAX : 1, &statement->handle);
    cleanup(query_end) struct query query = {.session = session,
                                             .statement = statement,
                                             .handle = statement->handle,
                                             .doing = table->doing,
                                             .reterr = reterr,
                                             .rc = rc};
    for (size_t i = 0; i < table->change_count; i++)
        if (common >> i & 1)
            column_bind(&query, parameter++, table->changes[i], changes[0]->row);
    if (common & IS_CURRENT)
        bind_int_at(&query, parameter++, is_current(changes[0]->row));
    for (size_t i = 0; i < count; i++)
        bind_int_at(&query, parameter++, changes[i]->number);
    return query_run(&query);
}

static cairn_code write_group(struct store_tx *tx, struct known_table *table,
                              const struct group *group, cairn_error *reterr)
{
    if (group->count >= GROUP_LEAST)
        return write_rows(tx, table, group->changes, group->count, reterr);
    for (size_t i = 0; i < group->count; i++)
        TRY(write_rows(tx, table, &group->changes[i], 1, reterr));
    return CAIRN_OK;
}

/* The copy becomes the row, but for what is never changed.  While it was written the hook has put the copy
 * aside; its block is as it was. */
static void refresh(struct known_table *table, struct copy *copy, int64_t number,
                    uint64_t columns, const void *row, struct arena *arena)
{
    char *merged = columns & table->texts ? arena_alloc(arena, table->type->size) : copy->block;
    if (!merged || (merged != copy->block && !get(table, copy, arena, merged)))
        return;
    for (size_t i = 0; i < table->change_count; i++) {
        const struct column *column = table->changes[i];
        if (!(columns >> i & 1))
            continue;
        if (is_text(column))
            member_set_text(column, merged, member_text(column, row));
        else
            member_set_int(column, merged, member_int(column, row));
    }
    if (merged == copy->block)
        copy->number = number;
    else
        put(table, number, merged);
}

/* The first of some changes, and those behind it that are of its shape. */
static void gather(struct group *group, const struct known_table *table, struct change *changes,
                   size_t count)
{
    *group = (struct group){.table = table};
    for (size_t i = 0; i < count && group->count < GROUP_MAX; i++)
        if (changes[i].columns == changes[0].columns)
            group->changes[group->count++] = &changes[i];
}

static cairn_code write_changes(struct store_tx *tx, struct known_table *table,
                                struct change *changes, size_t count, cairn_error *reterr)
{
    struct group *group = &known_of(tx)->group;
    for (size_t i = 0; i < count; i++) {
        if (!changes[i].columns)
            continue;
        gather(group, table, &changes[i], count - i);
        TRY(write_group(tx, table, group, reterr));
        for (size_t k = 0; k < group->count; k++) {
            struct change *change = group->changes[k];
            if (change->is_kept)
                refresh(table, change->copy, change->number, change->columns, change->row,
                        tx->arena);
            change->columns = 0;
        }
    }
    return CAIRN_OK;
}

/* One that has ended is not asked for again. */
static bool find_row_change(struct known_rows *known, struct known_table *table,
                            const void *row, struct change *ret_change)
{
    const struct instance_row *instance = row;
    bool is_step = table == &known->steps;
    struct copy *copy = find_copy(table, is_step ? step_number(row) : instance->seq);
    uint64_t columns = is_step ? UINT64_MAX : UINT64_MAX & ~IS_CURRENT;
    if (!copy)
        return false;
    *ret_change =
        (struct change){.row = row,
                        .copy = copy,
                        .number = copy->number,
                        .columns = find_changes(table, columns, copy->block, row),
                        .is_kept = is_step ? is_current(row) : !instance->finished_at_us};
    return true;
}

static cairn_code change_rows(struct store_tx *tx, struct known_table *table, const char *rows,
                              size_t count, bool *ret_is_known, cairn_error *reterr)
{
    struct change *changes = arena_room(tx->arena, count, sizeof *changes);
    size_t found = 0;
    if (count && !changes)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        ret_is_known[i] =
            find_row_change(known_of(tx), table, rows + i * table->type->size, &changes[found]);
        found += ret_is_known[i];
    }
    return write_changes(tx, table, changes, found, reterr);
}

cairn_code known_change_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                              bool *ret_is_known, cairn_error *reterr)
{
    memset(ret_is_known, false, count);
    struct known_table *table = known_of(tx) ? &known_of(tx)->steps : NULL;
    return table ? change_rows(tx, table, (const char *)rows, count, ret_is_known, reterr)
                 : CAIRN_OK;
}

cairn_code known_change_instances(struct store_tx *tx, const struct instance_row *rows,
                                  size_t count, bool *ret_is_known, cairn_error *reterr)
{
    memset(ret_is_known, false, count);
    struct known_table *table = known_of(tx) ? &known_of(tx)->instances : NULL;
    return table ? change_rows(tx, table, (const char *)rows, count, ret_is_known, reterr)
                 : CAIRN_OK;
}

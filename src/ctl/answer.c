/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as text, the table that libsmartcols makes of them, and members of JSON
 * objects; see answer.h. */
#include "ctl/answer.h"

#include <assert.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/json.h"

#define CELL_SIZE   320
#define COLUMNS_MAX 32
#define DIGITS_SIZE 24

void age_format(char *to, size_t size, int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 0)
        snprintf(to, size, "-");
    else if (ms < 1000)
        snprintf(to, size, "%" PRId64 "ms", ms);
    else if (s < 60)
        snprintf(to, size, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(to, size, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(to, size, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(to, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
                 s / 3600 % 24);
}

void moment_format(char *to, size_t size, int64_t ms)
{
    const time_t at = (time_t)(ms / 1000);
    struct tm parts;

    if (ms <= 0 || gmtime_r(&at, &parts) == NULL ||
        strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(to, size, "-");
}

/* By another machine's clock it may be yet to come. */
static void since_format(char *to, size_t size, int64_t ms)
{
    struct timespec now;
    int64_t age_ms = -1;

    if (ms > 0 && clock_gettime(CLOCK_REALTIME, &now) == 0) {
        age_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - ms;
        age_ms = age_ms < 0 ? 0 : age_ms;
    }
    age_format(to, size, age_ms);
}

/* The hour matters only when it is near. */
static void date_format(char *to, size_t size, int64_t ms)
{
    const bool is_near = ms < INT64_C(2) * 86400000;
    const time_t at = time(NULL) + (time_t)(ms / 1000);
    struct tm parts;

    if (ms < 0 || localtime_r(&at, &parts) == NULL ||
        strftime(to, size, is_near ? "%Y-%m-%d %H:%M" : "%Y-%m-%d", &parts) ==
            0)
        snprintf(to, size, "-");
}

static void latency_format(char *to, size_t size, int64_t us)
{
    if (us == 0)
        snprintf(to, size, "-"); /* none was measured yet */
    else if (us < 1000)
        snprintf(to, size, "%" PRId64 "us", us);
    else
        snprintf(to, size, "%" PRId64 ".%" PRId64 "ms", us / 1000,
                 us / 100 % 10);
}

/* Tenths of a second matter only while there are few. */
static void offset_format(char *to, size_t size, int64_t ms)
{
    const int64_t apart_ms = ms < 0 ? -ms : ms;
    char age[32];

    if (apart_ms >= 1000 && apart_ms < 60000)
        snprintf(age, sizeof age, "%" PRId64 ".%" PRId64 "s", apart_ms / 1000,
                 apart_ms / 100 % 10);
    else
        age_format(age, sizeof age, apart_ms);
    snprintf(to, size, "%c%s", ms < 0 ? '-' : '+', age);
}

static void maybe_format(char *to, size_t size, const redisReply *value)
{
    if (value == NULL)
        snprintf(to, size, "-");
    else if (value->type == REDIS_REPLY_INTEGER)
        snprintf(to, size, "%lld", value->integer);
    else
        snprintf(to, size, "%s", value->str != NULL ? value->str : "-");
}

static void partition_format(char *to, size_t size, const redisReply *map,
                             bool name_pool)
{
    int64_t partition = reply_integer(map, "partition");
    const char *pool = name_pool ? reply_text(map, "pool") : "";
    const char *slash = name_pool ? "/" : "";

    if (partition < 0)
        snprintf(to, size, "%s%sauthority", pool, slash);
    else
        snprintf(to, size, "%s%s%" PRId64, pool, slash, partition);
}

/* A partition that is well may still be one that loses commits. */
static void why_format(char *to, size_t size, const redisReply *map)
{
    const char *loss = reply_text(map, "loss");
    const char *reason = reply_text(map, "reason");
    const bool is_well = *reason == '\0' || reply_integer(map, "refused") > 0;

    if (*loss == '\0' || !is_well)
        snprintf(to, size, "%s", reason);
    else
        snprintf(to, size, "%s%smay lose: %s", reason,
                 *reason != '\0' ? "; " : "", loss);
}

static void refill_format(char *to, size_t size, const redisReply *map)
{
    const int64_t asked = reply_integer(map, "asked");

    if (asked == 0)
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%" PRId64 ", %s", asked, reply_text(map, "why"));
}

/* "99,996": these numbers are compared digit by digit. */
static void grouped_format(char *to, size_t size, int64_t value)
{
    char digits[24];
    const int length =
        snprintf(digits, sizeof digits, "%" PRId64, value < 0 ? 0 : value);
    size_t used = 0;

    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            to[used++] = ',';
        to[used++] = digits[i];
    }
    to[used] = '\0';
}

static void capacity_format(char *to, size_t size, const redisReply *map)
{
    char pool[32];
    char width[32];

    if (reply_field(map, "pool_numbers") == NULL) {
        snprintf(to, size, "-");
        return;
    }
    grouped_format(pool, sizeof pool, reply_integer(map, "pool_numbers"));
    grouped_format(width, sizeof width, reply_integer(map, "width_numbers"));
    snprintf(to, size, "%s of %s", pool, width);
}

static void cell_format(char *to, size_t size, const struct status_field *field,
                        const redisReply *map, bool name_pool)
{
    const redisReply *value = reply_field(map, field->name);
    const int64_t integer = reply_integer(map, field->name);

    switch (field->show) {
    case SHOW_TEXT:
        snprintf(to, size, "%s", reply_text(map, field->name));
        return;
    case SHOW_INTEGER:
    case SHOW_SOME:
        snprintf(to, size, "%" PRId64, integer);
        return;
    case SHOW_AGE:
        age_format(to, size, integer);
        return;
    case SHOW_SINCE:
        since_format(to, size, integer);
        return;
    case SHOW_MOMENT:
        moment_format(to, size, integer);
        return;
    case SHOW_DATE:
        date_format(to, size, integer);
        return;
    case SHOW_LATENCY:
        latency_format(to, size, integer);
        return;
    case SHOW_OFFSET:
        if (value != NULL)
            offset_format(to, size, integer);
        else
            maybe_format(to, size, NULL);
        return;
    case SHOW_MAYBE:
        maybe_format(to, size, value);
        return;
    case SHOW_ROOM:
        capacity_format(to, size, map);
        return;
    case SHOW_REFILL:
        refill_format(to, size, map);
        return;
    case SHOW_WHY:
        why_format(to, size, map);
        return;
    case SHOW_PARTITION:
        partition_format(to, size, map, name_pool);
        return;
    }
}

/* Whether the field has a column, which may be left out, see enum show. */
static bool column_is_needed(const struct status_field *field,
                             const redisReply *rows)
{
    const bool is_count = field->show == SHOW_SOME;

    if (!is_count && field->show != SHOW_MAYBE && field->show != SHOW_OFFSET &&
        field->show != SHOW_ROOM)
        return true;
    for (size_t i = 0; i < rows->elements; i++) {
        if (reply_field(rows->element[i], field->name) != NULL &&
            (!is_count || reply_integer(rows->element[i], field->name) != 0))
            return true;
    }
    return false;
}

static int column_flags(const struct status_field *field)
{
    if (field->show == SHOW_WHY || field->show == SHOW_REFILL)
        return SCOLS_FL_WRAP;
    if (field->show == SHOW_PARTITION || status_is_text(field))
        return 0;
    return SCOLS_FL_RIGHT;
}

/* The fields that have a column, in the order of the columns. */
static size_t columns_find(const struct status_field *field,
                           const struct status_field *columns[COLUMNS_MAX])
{
    size_t count = 0;

    for (; field->name != NULL; field++) {
        size_t at = count;

        if (field->title == NULL)
            continue;
        assert(count < COLUMNS_MAX);
        for (; at > 0 && columns[at - 1]->rank > field->rank; at--)
            columns[at] = columns[at - 1];
        columns[at] = field;
        count++;
    }
    return count;
}

static bool columns_add(struct libscols_table *table,
                        const struct status_field *const *columns, size_t count,
                        const redisReply *rows)
{
    for (size_t i = 0; i < count; i++) {
        const int hidden =
            column_is_needed(columns[i], rows) ? 0 : SCOLS_FL_HIDDEN;

        if (scols_table_new_column(table, columns[i]->title, 0,
                                   column_flags(columns[i]) | hidden) == NULL)
            return false;
    }
    return true;
}

static bool row_add(struct libscols_table *table,
                    const struct status_field *const *columns, size_t count,
                    const redisReply *map, bool name_pool)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cell[CELL_SIZE];

    for (size_t i = 0; line != NULL && i < count; i++) {
        cell_format(cell, sizeof cell, columns[i], map, name_pool);
        if (scols_line_set_data(line, i, cell) != 0)
            return false;
    }
    return line != NULL;
}

static bool table_fill(struct libscols_table *table, enum status_of of,
                       const redisReply *rows, bool name_pool)
{
    const struct status_field *columns[COLUMNS_MAX];
    const size_t count = columns_find(status_tables[of].fields, columns);

    if (!columns_add(table, columns, count, rows))
        return false;
    for (size_t i = 0; i < rows->elements; i++) {
        if (!row_add(table, columns, count, rows->element[i], name_pool))
            return false;
    }
    return true;
}

bool table_print(enum status_of of, const redisReply *rows, bool name_pool)
{
    struct libscols_table *table = scols_new_table();
    bool printed = table != NULL && table_fill(table, of, rows, name_pool) &&
                   scols_print_table(table) == 0;

    scols_unref_table(table);
    if (!printed)
        ctl_complain("out of memory");
    return printed;
}

/* --- JSON --- */

/* What an answer lacks does not apply, or a daemon of another version does not
 * know it. */
static json_t *value_make(const struct status_field *field,
                          const redisReply *map)
{
    const int64_t integer = reply_integer(map, field->name);
    char digits[DIGITS_SIZE];

    if (reply_field(map, field->name) == NULL)
        return json_null();
    if (status_is_text(field))
        return json_of_text(reply_text(map, field->name));
    if (field->kind == STATUS_BOOLEAN)
        return json_boolean(integer != 0);
    if (field->kind != STATUS_BIG)
        return json_integer(integer);
    snprintf(digits, sizeof digits, "%" PRId64, integer);
    return json_string(digits);
}

json_t *object_make(const struct status_field *fields, const redisReply *map)
{
    json_t *object = json_object();

    for (; fields->name != NULL; fields++) {
        if (json_object_set_new(object, fields->name,
                                value_make(fields, map)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

bool objects_print(enum status_of of, const redisReply *rows)
{
    printf("\"%s\": [", status_tables[of].name);
    for (size_t i = 0; i < rows->elements; i++) {
        fputs(i > 0 ? ",\n    " : "\n    ", stdout);
        if (!json_print(object_make(status_tables[of].fields, rows->element[i]),
                        0))
            return false;
    }
    fputs(rows->elements > 0 ? "\n  ]" : "]", stdout);
    return true;
}

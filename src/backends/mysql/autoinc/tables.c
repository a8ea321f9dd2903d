/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking and creating tables. CREATE TABLE commits by itself. So each step
 * leaves a state from which the next broker can continue, whenever this one is
 * killed:
 *   1. the claim "table/<name>" says which counter the table belongs to, for
 *      ever
 *   2. the table, empty: without a row in seqb_counters nothing is granted
 *      from it; if there is a row with a value, the table is found too low
 *   3. the counter's row in seqb_counters, if the base is 0; if the base was
 *      raised, a raise inserts the row
 * Only then are ids granted, each with its row in seqb_counters in one
 * transaction.
 */
#include "backends/mysql/autoinc/tables.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mysql/claims/claims.h"
#include "backends/mysql/errors.h"
#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

#define USUAL_FORMAT "%s_code_%d"
#define CLAIM_PREFIX "table/" /* followed by the table's name in lower case */

/* The definition of a table. The column is not a TIMESTAMP, which ends in 2038;
 * the session's time zone is UTC. */
#define TABLE_COLUMNS                                                          \
    "(id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, "                         \
    "generate_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP) "              \
    "ENGINE=InnoDB"
#define TABLE_REPAIR "ENGINE=InnoDB, MODIFY id BIGINT NOT NULL AUTO_INCREMENT"

/* What the database has under a table's name. */
struct look {
    enum { LOOK_MISSING, LOOK_FIT, LOOK_UNFIT } state;
    char what[96];  /* why it is unfit: "MyISAM, id bigint PRI" */
    bool has_begun; /* the counter has its row */
};

/* --- checked tables --- */

void mysql_tables_init(struct mysql_tables *tables, struct mysql *mysql,
                       const struct seqb_backend_options *options)
{
    *tables = (struct mysql_tables){
        .link = &mysql->link,
        .origin = mysql->sql.base.origin,
        .format = options->table_format != NULL ? options->table_format
                                                : USUAL_FORMAT,
        .auto_create = options->auto_create,
    };
}

void mysql_tables_fini(struct mysql_tables *tables)
{
    tdestroy(tables->seen, free);
    tables->seen = NULL;
}

/* The counter's name is the first member of struct mysql_table. */
static int counter_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

struct mysql_table *mysql_tables_find(const struct mysql_tables *tables,
                                      const char *counter)
{
    struct mysql_table *const *found =
        tfind(counter, &tables->seen, counter_compare);

    return found != NULL ? *found : NULL;
}

void mysql_tables_forget(struct mysql_tables *tables, const char *counter)
{
    struct mysql_table *table = mysql_tables_find(tables, counter);

    if (table == NULL)
        return;
    (void)tdelete(counter, &tables->seen, counter_compare);
    free(table);
}

static enum seqb_status table_keep(struct mysql_tables *tables,
                                   const struct mysql_table *table,
                                   struct seqb_error *err)
{
    struct mysql_table *copy = malloc(sizeof *copy);

    if (copy != NULL) {
        *copy = *table;
        if (tsearch(copy, &tables->seen, counter_compare) != NULL)
            return SEQB_OK;
    }
    free(copy);
    return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                     tables->link->where);
}

/* --- a table --- */

/* Claims the table for the counter: two counters never share a table, even on a
 * server that ignores the case of names. */
static enum seqb_status table_claim(struct mysql_tables *tables,
                                    const struct mysql_table *table,
                                    struct seqb_error *err)
{
    char name[sizeof CLAIM_PREFIX + MYSQL_TABLE_SIZE];
    char owner[SEQB_CLAIM_SIZE];
    enum seqb_status status;

    (void)text_format(name, sizeof name, CLAIM_PREFIX "%s", table->name);
    for (char *c = name; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    }
    status = mysql_claim_stand(tables->link, name, table->counter, owner,
                               sizeof owner, err);
    if (status != SEQB_OK || strcmp(owner, table->counter) == 0)
        return status;
    return error_set(err, SEQB_REFUSED,
                     "%s: counter %s: its table `%s` is that of counter %s: "
                     "set a table_format that tells them apart, or another "
                     "database",
                     tables->link->where, table->counter, table->name, owner);
}

static void poll_ask(struct mysql_link *link, const struct mysql_table *table)
{
    mysql_link_add(link, "SELECT (SELECT ENGINE FROM information_schema.TABLES "
                         "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ");
    mysql_link_quote(link, table->name);
    mysql_link_add(link, "), (SELECT CONCAT('id ', DATA_TYPE, ' ', COLUMN_KEY, "
                         "' ', EXTRA) FROM information_schema.COLUMNS "
                         "WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = "
                         "'id' AND TABLE_NAME = ");
    mysql_link_quote(link, table->name);
    mysql_link_add(link,
                   "), EXISTS (SELECT 1 FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, table->counter);
    mysql_link_add(link, ")");
}

static void poll_evaluate(struct look *look, const char *engine,
                          const char *column)
{
    const bool is_fit = engine != NULL && column != NULL &&
                        strcmp(engine, "InnoDB") == 0 &&
                        strncmp(column, "id bigint PRI", 13) == 0 &&
                        strstr(column, "auto_increment") != NULL;

    look->state = is_fit ? LOOK_FIT : LOOK_UNFIT;
    (void)text_format(look->what, sizeof look->what, "%.32s, %.48s",
                      engine == NULL ? "a view" : engine,
                      column == NULL ? "no id" : column);
}

static enum seqb_status table_read(struct mysql_link *link,
                                   const struct mysql_table *table,
                                   struct look *out, struct seqb_error *err)
{
    enum seqb_status status;
    int64_t has_begun;

    poll_ask(link, table);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 2, &has_begun))
        return mysql_link_distrust(link, "the columns of a table", err);
    *out = (struct look){.state = LOOK_MISSING, .has_begun = has_begun != 0};
    if (mysql_link_text(link, 0) != NULL || mysql_link_text(link, 1) != NULL)
        poll_evaluate(out, mysql_link_text(link, 0), mysql_link_text(link, 1));
    return SEQB_OK;
}

/* The error of a table that is missing and cannot be created. */
static enum seqb_status table_miss(const struct mysql_tables *tables,
                                   const struct mysql_table *table,
                                   enum seqb_status status, const char *why,
                                   struct seqb_error *err)
{
    return error_set(err, status,
                     "%s: counter %s has no table: %.400s: run CREATE TABLE "
                     "`%s` " TABLE_COLUMNS,
                     tables->link->where, table->counter, why, table->name);
}

static enum seqb_status table_distrust(const struct mysql_tables *tables,
                                       const struct mysql_table *table,
                                       const struct look *look,
                                       struct seqb_error *err)
{
    return error_set(err, SEQB_REFUSED,
                     "%s: counter %s: table `%s` loses or ends its ids early "
                     "(%s): run ALTER TABLE `%s` " TABLE_REPAIR,
                     tables->link->where, table->counter, table->name,
                     look->what, table->name);
}

static enum seqb_status table_make(struct mysql_tables *tables,
                                   const struct mysql_table *table,
                                   struct seqb_error *err)
{
    struct mysql_link *link = tables->link;
    struct seqb_error why;
    enum seqb_status status = SEQB_REFUSED;

    (void)text_copy(why.text, sizeof why.text, "auto_create is off");
    if (tables->auto_create) {
        mysql_link_add(link, "CREATE TABLE IF NOT EXISTS `%s` " TABLE_COLUMNS,
                       table->name);
        status = mysql_link_run(link, SEQB_UNREACHABLE, &why);
    }
    return status == SEQB_OK ? SEQB_OK
                             : table_miss(tables, table, status, why.text, err);
}

static enum seqb_status table_find(struct mysql_tables *tables,
                                   const struct mysql_table *table,
                                   struct look *look, struct seqb_error *err)
{
    enum seqb_status status = table_read(tables->link, table, look, err);

    if (status == SEQB_OK && look->state == LOOK_MISSING) {
        status = table_make(tables, table, err);
        if (status == SEQB_OK)
            status = table_read(tables->link, table, look, err);
    }
    if (status != SEQB_OK || look->state == LOOK_FIT)
        return status;
    return table_distrust(tables, table, look, err);
}

/* Tries CREATE TABLE ... LIKE a table that does not exist. It always fails, but
 * a missing right is reported first. */
static enum seqb_status table_may_be_made(const struct mysql_tables *tables,
                                          const struct mysql_table *table,
                                          struct seqb_error *err)
{
    struct mysql_link *link = tables->link;
    struct seqb_error why;

    if (!tables->auto_create)
        return table_miss(tables, table, SEQB_REFUSED, "auto_create is off",
                          err);
    mysql_link_add(link, "CREATE TABLE `%s` LIKE seqb_no_such_table",
                   table->name);
    (void)mysql_link_run(link, SEQB_UNREACHABLE, &why);
    if (mysql_error_is_of_rights(link->code))
        return table_miss(tables, table, SEQB_REFUSED, why.text, err);
    return mysql_error_is_clients(link->code) ? error_copy(err, &why) : SEQB_OK;
}

enum seqb_status mysql_tables_permit(const struct mysql_tables *tables,
                                     const char *counter,
                                     struct seqb_error *err)
{
    struct mysql_table table = {.unpurged = 0};
    struct look look = {.state = LOOK_MISSING};
    enum seqb_status status;

    if (!text_copy(table.counter, sizeof table.counter, counter))
        return name_refuse(tables->link->where, counter, err);
    mysql_table_name(tables->format, counter, table.name);
    status = table_read(tables->link, &table, &look, err);
    if (status != SEQB_OK)
        return status;
    if (look.state == LOOK_MISSING)
        return table_may_be_made(tables, &table, err);
    if (look.state != LOOK_FIT)
        return table_distrust(tables, &table, &look, err);
    mysql_link_add(tables->link, "EXPLAIN INSERT INTO `%s` (id) VALUES (NULL)",
                   table.name);
    return mysql_link_run(tables->link, SEQB_UNREACHABLE, err);
}

/* Adds SQL that selects the base, if it is bound to the store and was never
 * raised. */
static void base_add(const struct mysql_tables *tables)
{
    struct mysql_link *link = tables->link;

    mysql_link_add(link,
                   " FROM seqb_counters WHERE name = '' AND value = 0 "
                   "AND %s AND " MYSQL_STORE_SQL " = ",
                   link->serves);
    mysql_link_quote(link, link->store);
    mysql_link_add(link, " AND origin = ");
    mysql_link_quote(link, tables->origin);
}

/* Two brokers may do so at the same time: each accepts what the other has
 * done. */
static enum seqb_status counter_begin(const struct mysql_tables *tables,
                                      const struct mysql_table *table,
                                      struct seqb_error *err)
{
    struct mysql_link *link = tables->link;
    enum seqb_status status;

    mysql_link_add(link,
                   "INSERT IGNORE INTO seqb_counters (name, value, origin) "
                   "SELECT ");
    mysql_link_quote(link, table->counter);
    mysql_link_add(link, ", value, origin");
    base_add(tables);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    return status == SEQB_OK ? mysql_link_skip(link, 1, err) : status;
}

enum seqb_status mysql_tables_prepare(struct mysql_tables *tables,
                                      const char *counter, bool may_begin,
                                      struct seqb_error *err)
{
    struct mysql_table table = {.unpurged = 0};
    struct look look = {.state = LOOK_MISSING};
    enum seqb_status status;

    if (!text_copy(table.counter, sizeof table.counter, counter))
        return name_refuse(tables->link->where, counter, err);
    mysql_table_name(tables->format, counter, table.name);
    status = table_claim(tables, &table, err);
    if (status == SEQB_OK)
        status = table_find(tables, &table, &look, err);
    if (status == SEQB_OK && may_begin && !look.has_begun)
        status = counter_begin(tables, &table, err);
    return status == SEQB_OK ? table_keep(tables, &table, err) : status;
}

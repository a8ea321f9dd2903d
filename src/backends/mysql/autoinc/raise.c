/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raising a counter of mysql-autoinc: its row in seqb_counters and, in the same
 * transaction, the table's last id. That id is raised by inserting a row with
 * it: unlike ALTER TABLE, an INSERT does not commit by itself and needs no more
 * rights.
 */
#include "backends/mysql/autoinc/raise.h"

#include <inttypes.h>

#include "platform/error.h"

/* Locks the rows, and only then reads the table's last id, 0 if there is
 * none. */
static enum seqb_status standing_read(struct mysql *mysql,
                                      const struct mysql_table *table,
                                      struct sql_counter *counters,
                                      int64_t *last, struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status =
        mysql_rows_lock(&mysql->sql.base, counters, 2, err);

    if (status == SEQB_OK)
        status = sql_base_check(&counters[0], link->where, err);
    if (status != SEQB_OK)
        return status;
    mysql_link_add(link, "SELECT COALESCE(MAX(id), 0) FROM `%s`", table->name);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, last))
        return mysql_link_distrust(link, "a table's last id", err);
    return SEQB_OK;
}

/* The counter must be above its table, too; by the gap if it is not bound,
 * since either the row or the table may be older than the other. */
static int64_t table_floor(const struct sql_counter *counter, int64_t last,
                           const struct seqb_raise *raise)
{
    if (counter->row.state != SQL_ROW_BOUND && last > 0)
        last = last > INT64_MAX - raise->gap ? INT64_MAX : last + raise->gap;
    return last > raise->floor ? last : raise->floor;
}

/* If the row exists already, this still moves the next id above it; the next id
 * may be lower after an UPDATE of ids. */
static enum seqb_status table_lift(struct mysql_link *link,
                                   const struct mysql_table *table,
                                   int64_t last, struct seqb_error *err)
{
    if (last < 1)
        return SEQB_OK;
    mysql_link_add(link, "INSERT IGNORE INTO `%s` (id) SELECT %" PRId64,
                   table->name, last);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

static enum seqb_status standing_raise(struct mysql *mysql,
                                       const struct mysql_table *table,
                                       const struct seqb_raise *raise,
                                       int64_t *value, struct seqb_error *err)
{
    struct sql_counter counters[2];
    struct seqb_raise above = *raise;
    struct sql_lift lift;
    int64_t last = 0;
    enum seqb_status status;

    sql_counter_init(&counters[0], SQL_BASE);
    sql_counter_init(&counters[1], table->counter);
    status = standing_read(mysql, table, counters, &last, err);
    if (status != SEQB_OK)
        return status;
    above.floor = table_floor(&counters[1], last, raise);
    lift = sql_counter_raise(&counters[0], &counters[1], &above);
    if (lift.status != SEQB_OK)
        return sql_lift_refused(&lift, mysql->link.where, raise->counter, err);
    *value = lift.value;
    status = table_lift(&mysql->link, table, lift.value, err);
    return status == SEQB_OK ? mysql_rows_commit(&mysql->sql.base, lift.writes,
                                                 lift.count, err)
                             : status;
}

enum seqb_status mysql_raise(struct mysql *mysql,
                             const struct mysql_table *table,
                             const struct seqb_raise *raise, int64_t *out,
                             struct seqb_error *err)
{
    int64_t value = 0;
    const enum seqb_status status =
        standing_raise(mysql, table, raise, &value, err);

    if (status == SEQB_OK)
        *out = value;
    else
        (void)mysql_rows_abandon(&mysql->sql.base, NULL);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transaction. It locks the counters' rows in seqb_counters in the order of
 * their names, so that brokers take turns and never deadlock. Then, for each
 * counter, it runs an INSERT for each new row. Each INSERT itself checks that
 * it may run: the origin, and that the table's last id is not below the stored
 * value, as it would be after TRUNCATE, DELETE, DROP or the restore of an old
 * copy. Each id is that of its own OK packet. Last, the stored value is raised.
 * Everything, including the COMMIT, is sent at once: a broker that is stopped
 * in between holds no lock.
 */
#include "backends/mysql/autoinc/ids.h"

#include <inttypes.h>
#include <mysqld_error.h>
#include <string.h>

#include "platform/error.h"

/* --- statements --- */

/* After the first SELECT nobody can replace the table seqb_counters, so the
 * origin that is read later is valid until the transaction ends. */
static void lock_add(struct mysql_link *link, const char *origin,
                     const struct mysql_part *parts, size_t n)
{
    mysql_link_add(link,
                   "START TRANSACTION;"
                   "SELECT 1 FROM seqb_counters LIMIT 0;"
                   "SET @seqb_store = IF(%s, " MYSQL_STORE_SQL ", NULL);"
                   "SET @seqb_origin = IF(@seqb_store = ",
                   link->serves);
    mysql_link_quote(link, link->store);
    mysql_link_add(link, ", ");
    mysql_link_quote(link, origin);
    mysql_link_add(link, ", NULL);SELECT %s, @seqb_origin IS NOT NULL",
                   link->closed);
    mysql_link_add(link, ";SELECT name, value, origin = @seqb_origin "
                         "FROM seqb_counters FORCE INDEX (PRIMARY) "
                         "WHERE name IN (");
    for (size_t i = 0; i < n; i++) {
        mysql_link_add(link, "%s", i == 0 ? "" : ",");
        mysql_link_quote(link, parts[i].table->counter);
    }
    mysql_link_add(link, ") ORDER BY name FOR UPDATE;");
}

static void part_add(struct mysql_link *link, const struct mysql_part *part)
{
    const char *table = part->table->name;

    for (int64_t i = 0; i < part->rows; i++) {
        mysql_link_add(link,
                       "INSERT INTO `%s` (id) SELECT NULL FROM seqb_counters "
                       "WHERE name = ",
                       table);
        mysql_link_quote(link, part->table->counter);
        mysql_link_add(link,
                       " AND origin = @seqb_origin AND value >= 0 "
                       "AND COALESCE((SELECT MAX(id) FROM `%s`), 0) "
                       "BETWEEN value AND %" PRId64 ";",
                       table, part->request->limit - 1);
    }
    mysql_link_add(link,
                   "UPDATE seqb_counters SET value = "
                   "(SELECT MAX(id) FROM `%s`) WHERE name = ",
                   table);
    mysql_link_quote(link, part->table->counter);
    mysql_link_add(link,
                   " AND origin = @seqb_origin AND %s"
                   " AND value BETWEEN 0 AND "
                   "(SELECT MAX(id) FROM `%s`) - 1;",
                   link->serves, table);
}

/* Resets what the answers set. */
static void part_reset(struct mysql_part *part)
{
    part->state = PART_ABSENT;
    part->value = 0;
    part->ids = (struct seqb_block){0, 0};
    part->made = 0;
    part->is_noted = false;
}

static enum seqb_status script_send(struct mysql_link *link, const char *origin,
                                    struct mysql_part *parts, size_t n,
                                    struct seqb_error *err)
{
    lock_add(link, origin, parts, n);
    for (size_t i = 0; i < n; i++) {
        part_reset(&parts[i]);
        part_add(link, &parts[i]);
    }
    mysql_link_add(link, "COMMIT");
    return mysql_link_send(link, SEQB_UNCERTAIN, err);
}

/* --- answers --- */

/* Checks that the store is still the one that was opened, and that it may
 * grant. */
static enum seqb_status store_take(struct mysql_link *link,
                                   struct seqb_error *err)
{
    enum seqb_status status = mysql_link_skip(link, 5, err);
    int64_t is_same = 0;

    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link))
        return mysql_link_distrust(link, "its origin", err);
    status = mysql_server_still(link, mysql_link_text(link, 0), err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_int64(link, 1, &is_same) || is_same == 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the server or its table seqb_counters became "
                         "another one since it was opened",
                         link->where);
    return SEQB_OK;
}

static enum seqb_status part_read(struct mysql_link *link,
                                  struct mysql_part *part,
                                  struct seqb_error *err)
{
    int64_t is_bound;

    if (!mysql_link_int64(link, 2, &is_bound))
        return mysql_link_distrust(link, "counters", err);
    part->state = is_bound != 0 ? PART_BOUND : PART_FOREIGN;
    if (!mysql_link_int64(link, 1, &part->value) || part->value < 0)
        part->state = PART_DAMAGED;
    return SEQB_OK;
}

/* The rows come in the order of the parts; missing rows are left out. */
static enum seqb_status lock_take(struct mysql_link *link,
                                  struct mysql_part *parts, size_t n,
                                  struct seqb_error *err)
{
    enum seqb_status status = store_take(link, err);
    size_t at = 0;

    if (status == SEQB_OK)
        status = mysql_link_next(link, err);
    while (status == SEQB_OK && mysql_link_row(link)) {
        const char *name = mysql_link_text(link, 0);

        while (at < n && name != NULL &&
               strcmp(parts[at].table->counter, name) != 0)
            at++;
        if (at == n || name == NULL)
            return mysql_link_distrust(link, "counters", err);
        status = part_read(link, &parts[at], err);
    }
    return status;
}

/* Counts one id; ids after a gap are spent, but not part of the block. */
static void part_count(struct mysql_part *part, int64_t id)
{
    part->made++;
    if (part->made == 1)
        part->ids = (struct seqb_block){id, 1};
    else if (part->ids.count == part->made - 1 &&
             id - part->ids.first == part->ids.count)
        part->ids.count++;
}

static enum seqb_status part_take(struct mysql_link *link,
                                  struct mysql_part *part,
                                  struct seqb_error *err)
{
    for (int64_t i = 0; i < part->rows; i++) {
        const enum seqb_status status = mysql_link_next(link, err);

        if (status != SEQB_OK)
            return status;
        if (link->changed > 1 || link->insert_id > INT64_MAX)
            return mysql_link_distrust(link, "one id", err);
        if (link->changed == 1)
            part_count(part, (int64_t)link->insert_id);
    }
    return mysql_link_next(link, err);
}

static enum seqb_status script_take(struct mysql_link *link,
                                    struct mysql_part *parts, size_t n,
                                    size_t *refused, struct seqb_error *err)
{
    enum seqb_status status = lock_take(link, parts, n, err);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        status = part_take(link, &parts[i], err);
        parts[i].is_noted = status == SEQB_OK && link->changed == 1;
        if (status != SEQB_OK)
            *refused = i;
    }
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

/* The server refused a part within the transaction, which is still open. */
static enum seqb_status part_undo(struct mysql_link *link,
                                  const struct mysql_part *part,
                                  struct seqb_error *err)
{
    struct seqb_error *const error = &part->request->error;

    if (link->code == ER_NO_SUCH_TABLE)
        (void)error_set(error, SEQB_FENCED,
                        "%s: counter %s: table `%s` is gone", link->where,
                        part->table->counter, part->table->name);
    part->request->status = error->status;
    mysql_link_add(link, "ROLLBACK");
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

enum seqb_status mysql_ids_make(struct mysql_link *link, const char *origin,
                                struct mysql_part *parts, size_t n,
                                size_t *refused, struct seqb_error *err)
{
    size_t at = n;
    enum seqb_status status;

    *refused = n;
    status = script_send(link, origin, parts, n, err);
    if (status == SEQB_OK)
        status = script_take(link, parts, n, &at, err);
    if (at == n || link->handle == NULL || status == SEQB_ROLE)
        return status;
    (void)error_copy(&parts[at].request->error, err);
    status = part_undo(link, &parts[at], err);
    if (status == SEQB_OK)
        *refused = at;
    return status;
}

/* --- interpreting the answers --- */

struct verdict {
    enum seqb_status status;
    const char *why;
};

static struct verdict part_evaluate(const struct mysql_part *part)
{
    const int64_t limit = part->request->limit;

    if (part->state == PART_DAMAGED)
        return (struct verdict){SEQB_CORRUPT, "its row in seqb_counters"};
    if (part->state == PART_ABSENT)
        return (struct verdict){SEQB_FENCED, "it has no row in seqb_counters"};
    if (part->state == PART_FOREIGN)
        return (struct verdict){SEQB_FENCED, "its row is of another store"};
    /* A table whose last id is beyond the limit has raised the value, too. */
    if (part->value >= limit || (part->made == 0 && part->is_noted))
        return (struct verdict){SEQB_EXHAUSTED, "it is at its limit"};
    if (part->made == 0 || !part->is_noted || part->ids.first <= part->value)
        return (struct verdict){SEQB_FENCED, "its table went back"};
    if (part->ids.first > limit)
        return (struct verdict){SEQB_EXHAUSTED, "its next id is too high"};
    return (struct verdict){SEQB_OK, ""};
}

void mysql_ids_answer(const struct mysql_link *link,
                      const struct mysql_part *part)
{
    struct seqb_request *request = part->request;
    const struct verdict verdict = part_evaluate(part);
    const int64_t left = request->limit - part->ids.first;

    request->status = verdict.status;
    request->block = part->ids;
    if (verdict.status != SEQB_OK)
        (void)error_set(&request->error, verdict.status,
                        "%s: counter %s, table `%s`: %s: %s", link->where,
                        request->counter, part->table->name,
                        seqb_status_text(verdict.status), verdict.why);
    else if (part->ids.count - 1 > left)
        request->block.count = left + 1;
}

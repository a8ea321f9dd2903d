/* SPDX-License-Identifier: Apache-2.0 */
#include "galera_script.h"

#include <string.h>
#include <unistd.h>

#include "backends/mysql/connect/connect.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/wrap.h"

#define COLUMNS 4
#define ROWS    8

struct script script;

static const char *cells[ROWS][COLUMNS]; /* of the last answer */
static int rows;
static int row; /* the current one, from 1 on */

void script_begin(void)
{
    const struct node node = {.state = {.ready = "ON",
                                        .status = "Primary",
                                        .local = "4",
                                        .comment = "Synced",
                                        .cluster = "c",
                                        .view = "7"},
                              .digest = "digest-a",
                              .voucher = "digest-a",
                              .history = "h",
                              .age_ms = "1050",
                              .is_ignored = "0",
                              .loss = ""};

    script = (struct script){.nodes = {node, node},
                             .now_ms = 1000,
                             .failure = SEQB_UNREACHABLE,
                             .is_random = true};
    script.nodes[1].digest = "digest-b";
    script.nodes[1].voucher = NULL;
}

void script_enter(struct mysql *mysql, const char *where)
{
    *mysql = (struct mysql){.link = {.sql = &mysql_sql_of_cluster,
                                     .deadline_ms = script.now_ms + 9000,
                                     .pid = getpid()}};
    (void)text_copy(mysql->link.where, sizeof mysql->link.where, where);
}

static struct node *node_of(const struct mysql_link *link)
{
    return &script.nodes[strcmp(link->where, "a:1") != 0];
}

/* --- questions --- */

static enum seqb_status answer(const struct mysql_link *link, const char *what,
                               struct seqb_error *err)
{
    assert_true(text_append(script.told, sizeof script.told, "%s%s %c",
                            script.told[0] != '\0' ? ", " : "", what,
                            link->where[0]));
    rows = 0;
    row = 0;
    return ++script.questions == script.fails
               ? error_set(err, script.failure, "%s: failed", link->where)
               : SEQB_OK;
}

static void row_add(const char *a, const char *b, const char *c, const char *d)
{
    const char *const added[] = {a, b, c, d};

    memcpy(cells[rows++], added, sizeof added);
}

static void state_answer(const struct node_state *state)
{
    row_add("wsrep_ready", state->ready, NULL, NULL);
    row_add("wsrep_cluster_status", state->status, NULL, NULL);
    row_add("wsrep_local_state", state->local, NULL, NULL);
    row_add("wsrep_local_state_comment", state->comment, NULL, NULL);
    row_add("wsrep_cluster_state_uuid", state->cluster, NULL, NULL);
    row_add("wsrep_cluster_conf_id", state->view, NULL, NULL);
}

static void voucher_answer(struct node *node)
{
    const bool is_there =
        node->voucher != NULL && strcmp(node->voucher, node->digest) == 0;

    row_add(node->digest, node->history, node->voucher != NULL ? "1" : "0",
            is_there && node->history != NULL ? "1" : "0");
    if (node->forgets > 0 && --node->forgets == 0)
        node->voucher = NULL;
}

static void voucher_put(struct node *node, const char *sql)
{
    char expected[128];

    (void)text_format(expected, sizeof expected,
                      "INSERT IGNORE INTO seqb_incarnation (id, nonce) VALUES "
                      "(CONV(SUBSTR('%s', 1, 7), 16, 10), '%s')",
                      node->digest, node->digest);
    assert_string_equal(sql, expected);
    node->voucher = node->digest;
}

static void history_put(const char *sql)
{
    assert_string_equal(sql, "INSERT INTO seqb_claims (name, text) VALUES "
                             "('cluster/incarnation', "
                             "'01010101010101010202020202020202') "
                             "ON DUPLICATE KEY UPDATE text = VALUES(text)");
    script.nodes[0].history = script.nodes[1].history = "new";
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *question_of(const char *sql)
{
    static const char *const questions[][2] = {
        {"SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', "
         "'wsrep_cluster_status', 'wsrep_local_state', "
         "'wsrep_local_state_comment', 'wsrep_cluster_state_uuid', "
         "'wsrep_cluster_conf_id')",
         "state"},
        {"SELECT " MYSQL_AGE_SQL, "age"},
        {"SELECT @@GLOBAL.wsrep_provider_options", "quorum"},
        {"SET SESSION wsrep_sync_wait = 5", "session"},
        {"SELECT " MYSQL_VOUCHER_SQL, "voucher"},
        {"INSERT IGNORE INTO seqb_incarnation", "give"},
        {"INSERT INTO seqb_claims", "history"},
    };

    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        if (begins(sql, questions[i][0]))
            return questions[i][1];
    }
    fail_msg("%s", sql);
    return "";
}

static void question_serve(struct node *node, const char *what, const char *sql)
{
    if (strcmp(what, "state") == 0)
        state_answer(&node->state);
    else if (strcmp(what, "age") == 0)
        row_add(node->age_ms, NULL, NULL, NULL);
    else if (strcmp(what, "quorum") == 0)
        row_add(node->is_ignored, NULL, NULL, NULL);
    else if (strcmp(what, "voucher") == 0)
        voucher_answer(node);
    else if (strcmp(what, "give") == 0)
        voucher_put(node, sql);
    else if (strcmp(what, "history") == 0)
        history_put(sql);
    if (script.questions != script.spoils)
        return;
    if (script.column == NO_ROW)
        rows = 0;
    else
        cells[0][script.column] = script.column_text;
}

static enum seqb_status link_ask(struct mysql_link *link,
                                 struct seqb_error *err)
{
    size_t length;
    const char *sql;
    const char *what;
    enum seqb_status status;

    mysql_statements_close(&link->statements);
    sql = mysql_statements_next(&link->statements, &length);
    assert_non_null(sql);
    what = question_of(sql);
    status = answer(link, what, err);
    if (status == SEQB_OK)
        question_serve(node_of(link), what, sql);
    return status;
}

/* --- what is under the cluster --- */

WRAPPED(enum seqb_status, mysql_link_open, struct mysql_link *link,
        const struct seqb_backend_options *options, struct seqb_error *err)
{
    struct node *node;

    (void)text_format(link->where, sizeof link->where, "%s:%d", options->host,
                      (int)options->port);
    assert_null(options->socket_path);
    assert_true(link->statements.one_by_one);
    assert_ptr_equal(link->sql, &mysql_sql_of_server);
    link->pid = getpid();
    node = node_of(link);
    node->asked_ms = options->connect_timeout_ms;
    script.now_ms += node->takes_ms;
    return answer(link, "open", err);
}

WRAPPED(void, mysql_link_close, struct mysql_link *link)
{
    (void)answer(link, "close", NULL);
    script.questions--; /* none that fails */
    __real_mysql_link_close(link);
}

WRAPPED(enum seqb_status, mysql_link_run, struct mysql_link *link,
        enum seqb_status lost, struct seqb_error *err)
{
    assert_status(lost, SEQB_UNREACHABLE);
    return link_ask(link, err);
}

WRAPPED(enum seqb_status, mysql_link_send, struct mysql_link *link,
        enum seqb_status lost, struct seqb_error *err)
{
    assert_status(lost, SEQB_UNREACHABLE);
    return link_ask(link, err);
}

WRAPPED(enum seqb_status, mysql_link_next_commit, struct mysql_link *link,
        struct seqb_error *err)
{
    return answer(link, "commit", err);
}

WRAPPED(void, mysql_link_quote, struct mysql_link *link, const char *value)
{
    mysql_link_add(link, "'%s'", value);
}

WRAPPED(bool, mysql_link_row, struct mysql_link *link)
{
    (void)link;
    return row++ < rows;
}

WRAPPED(const char *, mysql_link_text, const struct mysql_link *link,
        unsigned column)
{
    (void)link;
    assert_true(column < COLUMNS);
    return row > 0 && row <= rows ? cells[row - 1][column] : NULL;
}

WRAPPED(bool, mysql_link_int64, const struct mysql_link *link, unsigned column,
        int64_t *out)
{
    const char *text = __wrap_mysql_link_text(link, column);

    return text != NULL && text_to_int64(text, strlen(text), out);
}

WRAPPED(enum seqb_status, mysql_server_check, struct mysql_link *link,
        const struct seqb_backend_options *options, struct seqb_backend *base,
        struct seqb_error *err)
{
    (void)options;
    (void)text_copy(base->loss, sizeof base->loss, node_of(link)->loss);
    return answer(link, "check", err);
}

WRAPPED(enum seqb_status, mysql_incarnation_find, struct mysql *mysql,
        struct seqb_error *err)
{
    return answer(&mysql->link, "find", err);
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return script.now_ms;
}

WRAPPED(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    assert_int_equal(flags, 0);
    memset(bytes, 2, size);
    memset(bytes, 1, size / 2);
    return script.is_random ? (ssize_t)size : 4;
}

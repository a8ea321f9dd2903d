/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a MySQL server that lose commits, and that change while a backend
 * is open, on both engines; and a server that is refused for its locks. */
#include "contract/mysql_fixture.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

#define SAFE                                                                   \
    "SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1"

/* Everything that changes the store is refused, in the words of open. */
static void must_change_nothing(struct fixture *f, const char *words)
{
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = 1000, .limit = LIMIT};
    const struct seqb_swap swap = {"c", "t", "u", NULL};
    char standing[16];
    int64_t value;

    must_fail(f, SEQB_UNSAFE, words);
    must_not_open(f, SEQB_UNSAFE, words);
    TELL(f, SAFE);
    must_open(f);
    mariadb_execute(f->server, "SET GLOBAL %.*s", (int)strcspn(words, "("),
                    words);
    assert_status(claim(f, "d", "t"), SEQB_UNSAFE);
    assert_status(
        f->ops->swap(f->backend, &swap, standing, sizeof standing, &f->err),
        SEQB_UNSAFE);
    assert_status(f->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_UNSAFE);
    assert_non_null(strstr(f->err.text, words));
    assert_non_null(strstr(f->err.text, "accept_loss"));
    TELL(f, SAFE);
    must_open(f);
    assert_ok(claim(f, "d", NULL));
    assert_string_equal(f->standing, "");
    assert_ok(claim(f, "c", NULL));
    assert_string_equal(f->standing, "t");
}

/* A DBA sets them for a bulk load, and connections live on. */
static void settings_change_while_open(void **state,
                                       const struct seqb_backend_ops *ops)
{
    const char *const args[] = {"--log-bin", "--binlog-format=MIXED", NULL};
    const char *const cases[] = {
        "innodb_flush_log_at_trx_commit = 0 (safe: 1)",
        "innodb_flush_log_at_trx_commit = 2 (safe: 1)",
        "sync_binlog = 0 (safe: 1)",
        "sync_binlog = 100 (safe: 1)",
    };
    struct fixture *f;

    mariadb_require();
    f = fixture_prepare_on(state, ops, server_mariadb(args));
    must_open(f);
    must_take(f, 5, 0);
    assert_ok(claim(f, "c", "t"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        mariadb_execute(f->server, "SET GLOBAL %.*s",
                        (int)strcspn(cases[i], "("), cases[i]);
        must_change_nothing(f, cases[i]);
        must_take(f, 5, ((int64_t)i + 1) * 5);
    }
    f->options.accept_loss = true;
    must_open(f);
    TELL(f, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    must_take(f, 5, 25);
}

TEST_STATE(ON_SERVER, settings_are_compared_by_each_statement_of_rows)
{
    settings_change_while_open(state, &backend_mysql_row);
}

TEST_STATE(ON_SERVER, settings_are_compared_by_each_statement_of_tables)
{
    settings_change_while_open(state, &backend_mysql_autoinc);
}

/* It is read-only: only a start changes it. */
TEST_STATE(ON_SERVER, server_that_never_syncs_is_refused)
{
    static const char *const methods[] = {"nosync", "littlesync"};

    for (size_t i = 0; i < COUNT(methods); i++) {
        char arg[64];
        char words[64];
        const char *const args[] = {arg, NULL};
        struct fixture *f;

        (void)text_format(arg, sizeof arg, "--innodb-flush-method=%s",
                          methods[i]);
        (void)text_format(words, sizeof words, "innodb_flush_method = %s",
                          methods[i]);
        mariadb_require();
        f = fixture_prepare_on(state, &backend_mysql_row, server_mariadb(args));
        must_not_open(f, SEQB_UNSAFE, words);
        f->options.accept_loss = true;
        must_open(f);
        assert_non_null(strstr(f->backend->loss, words));
        (void)fixture_stop(state);
        *state = NULL;
    }
}

/* A MariaDB that says that it is TiDB; losses that are accepted change
 * nothing. */
TEST_STATE(ON_SERVER, tidb_without_shared_locks_is_refused)
{
    static const char *const args[] = {"--version=8.0.11-TiDB-v8.5.0", NULL};
    struct fixture *f;

    mariadb_require();
    f = fixture_prepare_on(state, &backend_mysql_row, server_mariadb(args));
    must_not_open(f, SEQB_UNSAFE, "tidb_enable_shared_lock_promotion = ON");
    f->options.accept_loss = true;
    must_not_open(f, SEQB_UNSAFE, "tidb_enable_shared_lock_promotion = ON");
    f->ops = &backend_mysql_autoinc;
    must_not_open(f, SEQB_UNSAFE, "tidb_enable_shared_lock_promotion = ON");
}

TEST_BEFORE_ALL(without_sigpipe);

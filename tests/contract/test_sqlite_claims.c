/* SPDX-License-Identifier: Apache-2.0 */
/* Many claims of a SQLite file in one call: what their order costs. */
#include <sqlite3.h>

#include "backends/backends.h"
#include "contract/sqlite_case.h"
#include "platform/text.h"
#include "support/wrap.h"

#define MANY 50

static int searches; /* texts bound to a statement, since it was set to 0 */

WRAPPED(int, sqlite3_bind_text, sqlite3_stmt *statement, int at,
        const char *text, int size, void (*done)(void *))
{
    searches++;
    return __real_sqlite3_bind_text(statement, at, text, size, done);
}

static void claim_all(struct seqb_backend *backend, bool in_order)
{
    static char names[MANY][16];
    struct seqb_claim claims[MANY] = {{.text = NULL}};
    size_t done;

    for (int i = 0; i < MANY; i++) {
        (void)text_format(names[i], sizeof names[i], "many/%02d", i);
        claims[in_order ? i : MANY - 1 - i] =
            (struct seqb_claim){.name = names[i], .text = names[i]};
    }
    searches = 0;
    assert_ok(backend_sqlite.claim_many(backend, claims, MANY, &done, NULL));
    for (int i = 0; i < MANY; i++)
        assert_string_equal(claims[i].standing, claims[i].name);
}

/* A step to the next row takes a third of a search. */
TEST_WITH(SQLITE_CASE, claims_in_order_are_searched_once)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    claim_all(backend, true);
    claim_all(backend, true);
    assert_int_equal(searches, 1);
    claim_all(backend, false);
    assert_int_equal(searches, MANY);
}

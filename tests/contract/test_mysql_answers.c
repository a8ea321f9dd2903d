/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a correct server does not give, and those that do not come: this
 * program changes a row, a count or an id of what the client library says, or
 * says that the connection is lost, or that the server refused. No number and
 * no claim may be made of it, and the error says what came first. */
#include "contract/mysql_fixture.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <string.h>

#include "backends/mysql/mysql.h"
#include "platform/text.h"
#include "support/test.h"
#include "support/wrap.h"

#define NO_ROW (-1) /* instead of a column: the row is missing */

static int changes_row;    /* of a call, from 1 on; 0: none is changed */
static int changes_column; /* becomes NULL */
static int fetched;
static int columns; /* of the changed row */

static bool changes_id;
static uint64_t other_id;
static uint64_t more_changed;

WRAPPED(MYSQL_ROW, mysql_fetch_row, MYSQL_RES *result)
{
    MYSQL_ROW row = __real_mysql_fetch_row(result);

    if (row == NULL || ++fetched != changes_row)
        return row;
    columns = (int)mysql_num_fields(result);
    if (changes_column == NO_ROW)
        return NULL;
    if (changes_column < columns)
        row[changes_column] = NULL;
    return row;
}

WRAPPED(my_ulonglong, mysql_insert_id, MYSQL *handle)
{
    return changes_id ? other_id : __real_mysql_insert_id(handle);
}

WRAPPED(my_ulonglong, mysql_affected_rows, MYSQL *handle)
{
    return __real_mysql_affected_rows(handle) + more_changed;
}

static int answers;    /* that were waited for, and packets that were sent */
static int fails_one;  /* of them, from 1 on; 0: none */
static unsigned error; /* with this one */
static unsigned is_failed;

int __real_mysql_next_result(MYSQL *handle);

/* Nothing comes behind a statement that was refused. */
static my_bool answer_fail(MYSQL *handle)
{
    is_failed = error;
    if (error == CR_SERVER_LOST)
        return 1;
    do
        mysql_free_result(mysql_store_result(handle));
    while (mysql_more_results(handle) && __real_mysql_next_result(handle) == 0);
    return 1;
}

WRAPPED(my_bool, mysql_read_query_result, MYSQL *handle)
{
    const my_bool answer = __real_mysql_read_query_result(handle);

    is_failed = 0;
    if (++answers == fails_one)
        return answer_fail(handle);
    return answer;
}

WRAPPED(int, mysql_next_result, MYSQL *handle)
{
    const int answer = __real_mysql_next_result(handle);

    is_failed = 0;
    return ++answers == fails_one ? answer_fail(handle) : answer;
}

WRAPPED(int, mysql_send_query, MYSQL *handle, const char *text,
        unsigned long length)
{
    is_failed = 0;
    if (error == CR_SERVER_LOST && ++answers == fails_one)
        return answer_fail(handle);
    return __real_mysql_send_query(handle, text, length);
}

WRAPPED(unsigned, mysql_errno, MYSQL *handle)
{
    return is_failed != 0 ? is_failed : __real_mysql_errno(handle);
}

/* --- calls --- */

/* Names that were not used yet. */
static const char *new_name(const char *prefix)
{
    static char name[32];
    static int count;

    (void)text_format(name, sizeof name, "%s%d", prefix, count++);
    return name;
}

static enum seqb_status open_again(struct fixture *f)
{
    return fixture_open(f);
}

static enum seqb_status take_one(struct fixture *f, const char *counter)
{
    struct seqb_request request;
    const enum seqb_status status = take(f, counter, 1, &request);

    if (status != SEQB_OK)
        f->err = request.error;
    return status;
}

static enum seqb_status take_order(struct fixture *f)
{
    return take_one(f, ORDER);
}

static enum seqb_status take_new(struct fixture *f)
{
    return take_one(f, new_name("main/0/new-"));
}

static enum seqb_status raise_higher(struct fixture *f)
{
    static int64_t floor;
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor += 1000, .limit = LIMIT};
    int64_t out;

    return f->ops->raise(f->backend, &raise, &out, &f->err);
}

/* The guard's claim stands. */
static enum seqb_status raise_guarded(struct fixture *f)
{
    struct seqb_guard guard = {"known", "", false};
    const struct seqb_raise raise = {.counter = "window/" ORDER,
                                     .floor = 10,
                                     .limit = LIMIT,
                                     .guard = &guard};
    int64_t out;

    return f->ops->raise(f->backend, &raise, &out, &f->err);
}

static enum seqb_status install_next(struct fixture *f)
{
    static int64_t next;
    const struct seqb_window window = {
        .counter = SEQB_CELL ORDER, .window = ++next, .size = 100};
    int64_t standing;

    return f->ops->install(f->backend, &window, &standing, &f->err);
}

static enum seqb_status claim_main(struct fixture *f)
{
    return claim(f, "main", "a");
}

static enum seqb_status claim_new(struct fixture *f)
{
    return claim(f, new_name("claim-"), "a");
}

/* The server says that it added nothing, and is asked why. */
static enum seqb_status claim_unadded(struct fixture *f)
{
    enum seqb_status status;

    more_changed = UINT64_MAX;
    status = claim_new(f);
    more_changed = 0;
    return status;
}

static enum seqb_status claim_many(struct fixture *f)
{
    struct seqb_claim claims[] = {{.name = "main", .text = "a"},
                                  {.name = new_name("claim-"), .text = "a"}};
    size_t done;

    return f->ops->claim_many(f->backend, claims, 2, &done, &f->err);
}

static enum seqb_status swap_main(struct fixture *f)
{
    const struct seqb_swap swap = {"main", "a", "a", NULL};

    return f->ops->swap(f->backend, &swap, f->standing, sizeof f->standing,
                        &f->err);
}

static enum seqb_status swap_new(struct fixture *f)
{
    const struct seqb_swap swap = {new_name("claim-"), "", "a", NULL};

    return f->ops->swap(f->backend, &swap, f->standing, sizeof f->standing,
                        &f->err);
}

static enum seqb_status purge_days(struct fixture *f)
{
    int32_t deleted;

    return purge(f, ORDER, 2, 10, &deleted);
}

/* A page of two of its many counters. */
static enum seqb_status list_two(struct fixture *f)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    return f->ops->list(f->backend, &page, &f->err);
}

static enum seqb_status tell_time(struct fixture *f)
{
    int64_t ms;

    return f->ops->clock(f->backend, &ms, &f->err);
}

static enum seqb_status describe(struct fixture *f)
{
    struct seqb_details details = {.node = ""};

    return f->ops->describe(f->backend, &details, &f->err);
}

static enum seqb_status permit(struct fixture *f)
{
    return f->ops->permits(f->backend, ORDER, &f->err);
}

static enum seqb_status permit_new(struct fixture *f)
{
    return f->ops->permits(f->backend, "main/0/never", &f->err);
}

/* What came first, and not that the connection was lost before. */
static void must_say_why(struct fixture *f)
{
    if (strstr(f->err.text, "lost before") != NULL ||
        strstr(f->err.text, "(null)") != NULL)
        fail_msg("%s", f->err.text);
}

/* The counters and claims that the calls need. */
static void stand(struct fixture *f)
{
    f->options.needs_incarnation = true;
    must_open(f);
    for (int i = 0; i < 3; i++)
        assert_ok(take_new(f));
    assert_ok(take_order(f));
    assert_ok(claim_main(f));
    assert_ok(claim(f, "known", f->backend->incarnation));
}

/* --- rows --- */

/* A letter for each way in which a row may be wrong, first that it is missing,
 * then that a column is NULL. */
static const char *letter_of(enum seqb_status status)
{
    static const char *const letters[] = {
        [SEQB_OK] = "o",        [SEQB_PROTOCOL] = "P", [SEQB_UNREACHABLE] = "U",
        [SEQB_CORRUPT] = "C",   [SEQB_FENCED] = "F",   [SEQB_REFUSED] = "R",
        [SEQB_UNCERTAIN] = "?", [SEQB_UNSAFE] = "S"};
    const bool is_listed =
        (size_t)status < COUNT(letters) && letters[status] != NULL;

    return is_listed ? letters[status] : "!";
}

struct spoiled {
    enum seqb_status (*call)(struct fixture *f);
    const char *answers; /* a word for each row; of an open the last ones */
};

static void row_spoil(struct fixture *f, const struct spoiled *spoiled, int row,
                      char out[static 8])
{
    out[0] = '\0';
    columns = 0;
    for (changes_column = NO_ROW;
         changes_column < columns || changes_column == NO_ROW;
         changes_column++) {
        enum seqb_status status;

        must_open(f);
        fetched = 0;
        changes_row = row;
        status = spoiled->call(f);
        changes_row = 0;
        if (fetched < row)
            break;
        assert_true(text_append(out, 8, "%s", letter_of(status)));
        if (status != SEQB_OK && status != SEQB_UNCERTAIN)
            must_say_why(f);
        if (status == SEQB_PROTOCOL && f->backend != NULL)
            assert_status(spoiled->call(f), SEQB_UNREACHABLE);
    }
}

static void rows_spoil(struct fixture *f, const struct spoiled *spoiled)
{
    char all[512] = "";
    char one[8];
    size_t length;

    for (int row = 1;; row++) {
        row_spoil(f, spoiled, row, one);
        if (one[0] == '\0')
            break;
        assert_true(
            text_append(all, sizeof all, "%s%s", row > 1 ? " " : "", one));
    }
    length = strlen(spoiled->answers);
    assert_true(strlen(all) >= length);
    assert_string_equal(
        all + (spoiled->call == open_again ? strlen(all) - length : 0),
        spoiled->answers);
}

static void all_spoil(struct fixture *f, const struct spoiled *list, size_t n)
{
    stand(f);
    for (size_t i = 0; i < n; i++)
        rows_spoil(f, &list[i]);
    must_open(f);
    assert_ok(take_order(f));
    assert_ok(claim_main(f));
}

TEST_SKIPPABLE(ON_ROW, row_that_is_none_to_the_question_is_distrusted)
{
    static const struct spoiled list[] = {
        {open_again, "ooS ooS oo oo oo PPP PP oo"},
        {take_order, ""},
        {take_new, "PPUoo FCC PP"},
        {raise_higher, "PPUoo oCC oCC oCC PP"},
        {raise_guarded, "FF PPUoU oCC oCC oCC PP"},
        {install_next, "PPURo ooo oCC"},
        {claim_main, "PoPU"},
        {claim_new, "PoPU PoPU"},
        {claim_unadded, "PUPU PPU"},
        {claim_many, "PPUoP"},
        {swap_main, "P?o"},
        {swap_new, ""},
        {purge_days, "P?P"},
        {list_two, "PPUU oCC oCC"},
        {tell_time, "PP"},
        {permit, ""}};

    all_spoil(f, list, COUNT(list));
}

TEST_SKIPPABLE(ON_AUTOINC, row_of_autoinc_that_is_none_is_distrusted)
{
    static const struct spoiled list[] = {
        {open_again, "ooS ooS oo oo oo PPP PP oo PP"},
        {take_order, "PoPo PRRP PPU FPCP"},
        {take_new, "PoPo PRPo PooP PRRP PPU FPCP"},
        {raise_higher, "PoPo PRRP PPUoo oCC oCC oCC PP PP"},
        {permit, "PRRP"},
        {permit_new, "PooP"}};

    all_spoil(f, list, COUNT(list));
}

/* --- numbers --- */

static void must_distrust(struct fixture *f)
{
    struct seqb_request request;

    assert_status(take(f, ORDER, 10, &request), SEQB_PROTOCOL);
    changes_id = false;
    more_changed = 0;
    must_open(f);
}

TEST_SKIPPABLE(ON_ROW, number_that_cannot_be_is_not_granted)
{
    static const uint64_t ids[] = {0, 9, (uint64_t)LIMIT + 1, UINT64_MAX};
    int64_t last = 5;

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(ids); i++, last += 10) {
        changes_id = true;
        other_id = ids[i];
        must_distrust(f);
    }
    more_changed = 1;
    must_distrust(f);
    must_take(f, 5, last + 10);
}

TEST_SKIPPABLE(ON_AUTOINC, id_that_cannot_be_is_not_granted)
{
    assert_ok(take_order(f));
    changes_id = true;
    other_id = UINT64_MAX;
    must_distrust(f);
    more_changed = 1;
    must_distrust(f);
    assert_ok(take_order(f));
}

/* --- answers that do not come --- */

/* Each answer of the call fails once; it need not fail itself if it is tried
 * again, of the requests of a call one by one. */
static void fail_each(struct fixture *f,
                      enum seqb_status (*call)(struct fixture *f))
{
    for (int n = 1;; n++) {
        enum seqb_status status;

        answers = 0;
        fails_one = n;
        status = call(f);
        fails_one = 0;
        is_failed = 0;
        if (answers < n) {
            assert_ok(status);
            assert_true(n > 1);
            return;
        }
        if (status != SEQB_OK)
            must_say_why(f);
        if (error == CR_SERVER_LOST &&
            (status == SEQB_OK ||
             strstr(f->err.text, "connection lost") == NULL))
            fail_msg("answer %d: %s", n, f->err.text);
        if (error == CR_SERVER_LOST && f->backend != NULL)
            assert_status(call(f), SEQB_UNREACHABLE);
        else if (f->backend != NULL && call(f) != SEQB_OK)
            assert_status(f->err.status, SEQB_UNREACHABLE);
        must_open(f);
    }
}

static void fail_all(struct fixture *f, unsigned with)
{
    static enum seqb_status (*const calls[])(struct fixture * f) = {
        open_again,   take_order, take_new,  raise_higher, raise_guarded,
        install_next, claim_main, claim_new, claim_many,   swap_main,
        swap_new,     purge_days, list_two,  tell_time,    describe,
        permit,       permit_new};

    stand(f);
    error = with;
    for (size_t i = 0; i < COUNT(calls); i++)
        fail_each(f, calls[i]);
}

TEST_SKIPPABLE(ON_ROW, call_whose_answer_is_lost_fails)
{
    fail_all(f, CR_SERVER_LOST);
}

TEST_SKIPPABLE(ON_AUTOINC, autoinc_call_whose_answer_is_lost_fails)
{
    fail_all(f, CR_SERVER_LOST);
}

TEST_SKIPPABLE(ON_ROW, call_after_a_refused_one_goes_on)
{
    fail_all(f, ER_TABLEACCESS_DENIED_ERROR);
}

TEST_SKIPPABLE(ON_AUTOINC, autoinc_call_after_a_refused_one_goes_on)
{
    fail_all(f, ER_TABLEACCESS_DENIED_ERROR);
}

TEST_BEFORE_ALL(without_sigpipe);

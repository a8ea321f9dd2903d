/* SPDX-License-Identifier: Apache-2.0 */
#include "client_script.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/mysql/server.h"
#include "platform/text.h"
#include "support/wrap.h"

struct client client;

static const struct mysql_origin_sql names = {.store = "STORE",
                                              .claims = "CLAIMS",
                                              .run = "RUN",
                                              .now = "NOW",
                                              .now_of_set = "NOW_OF_SET",
                                              .turn = "TURN"};

static MYSQL handle;
static MYSQL_RES result;
static const struct reply *reply; /* the last one */
static int left;                  /* statements of the packet */
static int row;
static unsigned failure;

void client_begin(struct mysql *mysql)
{
    memset(&client, 0, sizeof client);
    for (size_t i = 0; i < COUNT_OF(client.replies); i++)
        client.replies[i].changed = 1;
    client.now_ms = 5000;
    left = 0;
    failure = 0;
    handle.net.fd = 77;
    *mysql = (struct mysql){.link = {.handle = &handle,
                                     .database = "d",
                                     .where = "here",
                                     .timeout_ms = 1000,
                                     .budget_ms = 1000,
                                     .deadline_ms = 6000,
                                     .pid = getpid(),
                                     .store = "s",
                                     .claims = "c",
                                     .serves = "SERVES",
                                     .closed = "CLOSED",
                                     .sql = &names}};
    mysql->sql.base.ops = &backend_mysql_row;
    mysql->sql.where = mysql->link.where;
    mysql->has_incarnation = true;
}

void client_must_send(const char *packets)
{
    assert_string_equal(client.sent, packets);
    client.sent[0] = '\0';
}

/* --- sending --- */

WRAPPED(int, mysql_send_query, MYSQL *to, const char *text,
        unsigned long length)
{
    assert_ptr_equal(to, &handle);
    assert_int_equal(left, 0);
    assert_true(text_append(client.sent, sizeof client.sent, "%.*s\n",
                            (int)length, text));
    left = 1;
    for (unsigned long i = 0; i < length; i++)
        left += text[i] == ';';
    if (client.sends_fail == 0)
        return 0;
    failure = client.replies[client.taken++].error;
    left = 0;
    return 1;
}

WRAPPED(int, poll, struct pollfd *files, nfds_t n, int timeout)
{
    int answer;

    assert_int_equal(n, 1);
    assert_int_equal(files->events, POLLIN);
    client.poll_ms = timeout;
    assert_int_equal(files->fd, handle.net.fd);
    answer = client.polled < (int)COUNT_OF(client.polls)
                 ? client.polls[client.polled]
                 : 0;
    client.polled++;
    errno = client.poll_error;
    if (answer == TIMES_OUT) {
        client.now_ms += timeout;
        return 0;
    }
    if (answer < 0)
        client.now_ms += 10;
    return answer == 0 ? 1 : answer;
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return client.now_ms;
}

/* --- answers --- */

static int reply_take(void)
{
    static const struct reply usual = {.changed = 1};
    const int i = client.taken++;

    assert_true(left > 0);
    left--;
    row = 0;
    reply = i < (int)COUNT_OF(client.replies) ? &client.replies[i] : &usual;
    failure = reply->error;
    if (failure != 0)
        left = 0;
    return failure != 0;
}

WRAPPED(my_bool, mysql_read_query_result, MYSQL *from)
{
    (void)from;
    return (my_bool)reply_take();
}

WRAPPED(int, mysql_next_result, MYSQL *from)
{
    (void)from;
    return left == 0 ? -1 : reply_take();
}

WRAPPED(my_bool, mysql_more_results, MYSQL *from)
{
    (void)from;
    return (my_bool)(left > 0);
}

WRAPPED(unsigned, mysql_field_count, MYSQL *from)
{
    (void)from;
    return reply->rows > 0 || reply->is_empty ? REPLY_COLUMNS : 0;
}

WRAPPED(MYSQL_RES *, mysql_store_result, MYSQL *from)
{
    (void)from;
    if (client.keeps_rows)
        return NULL;
    assert_int_equal(client.held++, 0);
    return &result;
}

WRAPPED(void, mysql_free_result, MYSQL_RES *rows)
{
    assert_ptr_equal(rows, &result);
    client.held--;
}

WRAPPED(MYSQL_ROW, mysql_fetch_row, MYSQL_RES *rows)
{
    (void)rows;
    return row < reply->rows ? (MYSQL_ROW)reply->cells[row++] : NULL;
}

WRAPPED(unsigned, mysql_num_fields, MYSQL_RES *rows)
{
    (void)rows;
    return REPLY_COLUMNS;
}

WRAPPED(my_ulonglong, mysql_affected_rows, MYSQL *from)
{
    (void)from;
    return reply->changed;
}

WRAPPED(my_ulonglong, mysql_insert_id, MYSQL *from)
{
    (void)from;
    return reply->id;
}

WRAPPED(unsigned, mysql_errno, MYSQL *from)
{
    (void)from;
    return failure;
}

WRAPPED(const char *, mysql_error, MYSQL *from)
{
    (void)from;
    return "why";
}

WRAPPED(unsigned long, mysql_real_escape_string, MYSQL *for_it, char *to,
        const char *from, unsigned long length)
{
    assert_ptr_equal(for_it, &handle);
    memcpy(to, from, length);
    return length;
}

WRAPPED(void, mysql_close, MYSQL *closed)
{
    assert_ptr_equal(closed, &handle);
    assert_int_equal(client.held, 0);
    client.closed++;
}

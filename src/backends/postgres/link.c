/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to PostgreSQL. failure.c has the meaning of an SQLSTATE,
 * postgres.c that of the statements. */
#include "backends/postgres/link.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/postgres/failure.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- waiting --- */

/* Waits for the socket; false when the call's time has passed. */
static bool link_wait(const struct postgres_link *link, short events)
{
    struct pollfd fd = {PQsocket(link->conn), events, 0};
    int64_t rest = link->deadline_ms - clock_now_ms();

    /* An interrupted wait continues for the rest. */
    while (rest > 0 && fd.fd >= 0) {
        const int ready = poll(&fd, 1, (int)rest);

        if (ready > 0)
            return true;
        rest = link->deadline_ms - clock_now_ms();
    }
    return false;
}

/* --- losing the connection --- */

static void child_detach(PGconn *conn)
{
    const int nowhere = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* Otherwise libpq would send the server the end of the parent's session. */
    if (nowhere >= 0) {
        (void)dup3(nowhere, PQsocket(conn), O_CLOEXEC);
        (void)close(nowhere);
    }
}

void postgres_link_close(struct postgres_link *link)
{
    if (link->conn == NULL)
        return;
    if (link->pid != getpid() && PQsocket(link->conn) >= 0)
        child_detach(link->conn);
    PQfinish(link->conn);
    link->conn = NULL;
}

/* Closes the connection after it failed; what was sent may have been
 * executed. */
static enum seqb_status link_lose(struct postgres_link *link, const char *why,
                                  struct seqb_error *err)
{
    const enum seqb_status status =
        link->may_commit ? SEQB_UNCERTAIN : SEQB_UNREACHABLE;
    const bool is_late = clock_now_ms() >= link->deadline_ms;
    struct seqb_error lost;

    /* libpq frees its text with the connection, so it is copied first. */
    if (is_late)
        (void)error_set(&lost, status, "%s: no answer within %d ms",
                        link->where, (int)link->budget_ms);
    else
        (void)error_set(&lost, status, "%s: connection lost: %.*s", link->where,
                        (int)strcspn(why, "\n"), why);
    postgres_link_close(link);
    return error_copy(err, &lost);
}

enum seqb_status postgres_link_distrust(struct postgres_link *link,
                                        const char *asked,
                                        struct seqb_error *err)
{
    postgres_link_close(link);
    return error_set(err, SEQB_PROTOCOL, "%s: the answer to %s makes no sense",
                     link->where, asked);
}

bool postgres_link_blames_row(const struct postgres_link *link)
{
    return link->conn != NULL && postgres_failure_is_of_row(link->state);
}

/* --- connecting --- */

/* Keeps warnings: by default libpq would print them. */
static void link_notice(void *context, const PGresult *result)
{
    struct postgres_link *link = context;
    const char *severity =
        PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (severity != NULL && strcmp(severity, "WARNING") == 0)
        (void)text_copy(link->warning, sizeof link->warning,
                        text != NULL ? text : "a warning");
}

static enum seqb_status connect_fail(struct postgres_link *link,
                                     struct seqb_error *err)
{
    const char *why = PQerrorMessage(link->conn);

    if (clock_now_ms() >= link->deadline_ms)
        return error_set(err, SEQB_UNREACHABLE, "%s: no answer within %d ms",
                         link->where, (int)link->budget_ms);
    return postgres_failure_connect(link->where, why, link->state, err);
}

static PostgresPollingStatusType connect_step(const struct postgres_link *link,
                                              PostgresPollingStatusType last)
{
    if (!link_wait(link, last == PGRES_POLLING_READING ? POLLIN : POLLOUT))
        return PGRES_POLLING_FAILED;
    return PQconnectPoll(link->conn);
}

enum seqb_status postgres_link_connect(struct postgres_link *link,
                                       const char *const *keywords,
                                       const char *const *values,
                                       struct seqb_error *err)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;

    link->pid = getpid();
    link->conn = PQconnectStartParams(keywords, values, 0);
    if (link->conn == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    /* The SQLSTATE of a failed connection is only in the text. */
    (void)PQsetErrorVerbosity(link->conn, PQERRORS_VERBOSE);
    (void)PQsetNoticeReceiver(link->conn, link_notice, link);
    if (PQstatus(link->conn) == CONNECTION_BAD)
        return connect_fail(link, err);
    while (step != PGRES_POLLING_OK) {
        step = connect_step(link, step);
        if (step == PGRES_POLLING_FAILED)
            return connect_fail(link, err);
    }
    if (PQsetnonblocking(link->conn, 1) != 0 ||
        PQenterPipelineMode(link->conn) != 1)
        return connect_fail(link, err);
    return SEQB_OK;
}

/* --- sending --- */

enum seqb_status postgres_link_begin(struct postgres_link *link,
                                     int32_t budget_ms, struct seqb_error *err)
{
    if (link->pid != getpid())
        return error_set(err, SEQB_FORKED, "%s: was opened before fork()",
                         link->where);
    if (link->conn == NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    link->budget_ms = budget_ms;
    link->deadline_ms = clock_now_ms() + budget_ms;
    link->may_commit = false;
    link->warning[0] = '\0';
    link->state[0] = '\0';
    return SEQB_OK;
}

void postgres_link_add(struct postgres_link *link, const char *sql, int n,
                       const char *const *arguments)
{
    if (link->conn != NULL)
        (void)PQsendQueryParams(link->conn, sql, n, NULL, arguments, NULL, NULL,
                                0);
}

void postgres_link_add_commit(struct postgres_link *link)
{
    link->may_commit = true;
    postgres_link_add(link, "COMMIT", 0, NULL);
}

/* Reads answers while it sends: a server that cannot write stops reading. */
static bool link_flush(const struct postgres_link *link)
{
    int rest = PQflush(link->conn);

    while (rest > 0) {
        if (!link_wait(link, POLLIN | POLLOUT) ||
            PQconsumeInput(link->conn) != 1)
            return false;
        rest = PQflush(link->conn);
    }
    return rest == 0;
}

enum seqb_status postgres_link_send(struct postgres_link *link,
                                    struct seqb_error *err)
{
    if (PQpipelineSync(link->conn) == 1 && link_flush(link))
        return SEQB_OK;
    return link_lose(link, PQerrorMessage(link->conn), err);
}

/* --- reading --- */

/* The next result, NULL if libpq has none or the connection is lost. */
static PGresult *link_take(const struct postgres_link *link, bool *is_lost)
{
    *is_lost = false;
    while (PQisBusy(link->conn)) {
        if (!link_wait(link, POLLIN)) {
            *is_lost = true;
            return NULL;
        }
        /* On failure libpq has a result with the reason. */
        if (PQconsumeInput(link->conn) != 1)
            break;
    }
    return PQgetResult(link->conn);
}

/* Whether the server refused one statement and the connection is still good.
 * Anything else that libpq or a pooler reports as an error is a lost
 * connection. */
static bool result_is_refusal(const PGresult *result)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY);
    const char *plain =
        PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (PQresultStatus(result) != PGRES_FATAL_ERROR)
        return false;
    if (plain != NULL)
        severity = plain;
    return severity != NULL && strcmp(severity, "ERROR") == 0;
}

/* The status of an answer that is not the expected one. */
static enum seqb_status result_check(struct postgres_link *link,
                                     const PGresult *result,
                                     struct seqb_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (result_is_refusal(result) && state != NULL) {
        (void)text_copy(link->state, sizeof link->state, state);
        return postgres_failure_set(
            link->where, state,
            PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), err);
    }
    if (PQresultStatus(result) == PGRES_FATAL_ERROR)
        return link_lose(link, PQresultErrorMessage(result), err);
    /* Values of a transaction whose COMMIT may be in progress must not be
     * used. */
    return postgres_link_distrust(link, "a statement", err);
}

enum seqb_status postgres_link_read(struct postgres_link *link,
                                    ExecStatusType expected, PGresult **out,
                                    struct seqb_error *err)
{
    bool is_lost;
    PGresult *result;
    PGresult *end;
    enum seqb_status status = SEQB_OK;

    result = link_take(link, &is_lost);
    if (result == NULL)
        return link_lose(link, PQerrorMessage(link->conn), err);
    if (PQresultStatus(result) != expected)
        status = result_check(link, result, err);
    /* After each statement's answers libpq returns NULL. */
    if (link->conn != NULL) {
        end = link_take(link, &is_lost);
        if (end != NULL || is_lost)
            status = link_lose(link, "an answer too many", err);
        PQclear(end);
    }
    if (status == SEQB_OK)
        *out = result;
    else
        PQclear(result);
    return status;
}

enum seqb_status postgres_link_read_commit(struct postgres_link *link,
                                           struct seqb_error *err)
{
    struct seqb_error why;
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(link, PGRES_COMMAND_OK, &result, &why);
    const bool is_done =
        status == SEQB_OK && strcmp(PQcmdStatus(result), "COMMIT") == 0;

    PQclear(result);
    if (is_done && link->warning[0] == '\0') {
        link->may_commit = false;
        return SEQB_OK;
    }
    if (is_done)
        return error_set(err, SEQB_UNCERTAIN,
                         "%s: committed with a warning: %s", link->where,
                         link->warning);
    if (status == SEQB_OK)
        return postgres_link_distrust(link, "COMMIT", err);
    return error_set(err, SEQB_UNCERTAIN, "%s", why.text);
}

enum seqb_status postgres_link_finish(struct postgres_link *link,
                                      struct seqb_error *err)
{
    ExecStatusType kind = PGRES_EMPTY_QUERY;

    while (kind != PGRES_PIPELINE_SYNC) {
        bool is_lost;
        PGresult *result = link_take(link, &is_lost);

        kind = PQresultStatus(result); /* for NULL: PGRES_FATAL_ERROR */
        PQclear(result);
        if (is_lost || PQstatus(link->conn) != CONNECTION_OK)
            return link_lose(link, PQerrorMessage(link->conn), err);
    }
    return SEQB_OK;
}

bool postgres_link_abandon(struct postgres_link *link)
{
    if (link->conn == NULL || postgres_link_finish(link, NULL) != SEQB_OK)
        return false;
    if (PQtransactionStatus(link->conn) == PQTRANS_IDLE)
        return true;
    postgres_link_add(link, "ROLLBACK", 0, NULL);
    return postgres_link_send(link, NULL) == SEQB_OK &&
           postgres_link_finish(link, NULL) == SEQB_OK;
}

/* --- several statements in one text --- */

/* Reads all answers; keeps the first failure. */
static enum seqb_status run_read(struct postgres_link *link,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (;;) {
        bool is_lost;
        PGresult *result = link_take(link, &is_lost);
        const ExecStatusType kind = PQresultStatus(result);

        if (is_lost)
            return link_lose(link, "", err);
        if (result == NULL)
            return status;
        if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK &&
            status == SEQB_OK)
            status = result_check(link, result, err);
        PQclear(result);
        if (link->conn == NULL)
            return status;
    }
}

enum seqb_status postgres_link_run(struct postgres_link *link, const char *sql,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    if (PQexitPipelineMode(link->conn) != 1 ||
        PQsendQuery(link->conn, sql) != 1 || !link_flush(link))
        return link_lose(link, PQerrorMessage(link->conn), err);
    status = run_read(link, err);
    if (link->conn != NULL && PQenterPipelineMode(link->conn) != 1)
        return link_lose(link, PQerrorMessage(link->conn), err);
    return status;
}

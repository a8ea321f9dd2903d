/* SPDX-License-Identifier: Apache-2.0 */
/* A scripted libpq. Its connections are real ones that were never made. */
#include "unit/pq_script.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "backends/postgres/transaction.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"

#define COLUMNS_MAX 16
#define PRELUDE     "[|||" PQ_STORE "||0|run"
#define PATIENCE    1000 /* whoever waits or reads so often does so forever */
#define SYNC        "sync"
#define ABORTED     "aborted"

struct pq_script pq;

/* What the server has sent: answers, and NULL behind those of a statement. */
static const char *sent[256];
static size_t sent_from;
static size_t sent_to;
static bool is_aborted; /* the rest of the pipeline */
static bool is_lost;
static PGTransactionStatusType transaction;
static PQnoticeReceiver receiver;
static void *receiver_of;

/* The last answer, for what libpq does not tell of a result that it did not
 * read itself. */
static const PGresult *last;
static const char *last_text;

/* A server that knows nothing yet. */
static void script_reset(void)
{
    memset(&pq, 0, sizeof pq);
    pq.now_ms = 1000000;
    sent_from = sent_to = 0;
    is_aborted = is_lost = false;
    transaction = PQTRANS_IDLE;
}

void pq_answers(const char *const *answers)
{
    size_t n = 0;

    memset(pq.answers, 0, sizeof pq.answers);
    pq.answered = 0;
    for (; answers[n] != NULL; n++)
        pq.answers[n] = answers[n];
}

static bool fails(const char *function)
{
    return pq.fails != NULL && strcmp(pq.fails, function) == 0 && --pq.nth == 0;
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return fails("calloc") ? NULL : __real_calloc(n, size);
}

/* --- time --- */

WRAPPED(int64_t, clock_now_ms, void)
{
    return pq.now_ms;
}

WRAPPED(int, poll, struct pollfd *fds, nfds_t n, int ms)
{
    assert_int_equal(n, 1);
    assert_true(++pq.waits < PATIENCE);
    pq.events = fds->events;
    pq.wait_ms = ms;
    (void)text_append(pq.tried, sizeof pq.tried, "%d ms, ", ms);
    if (fails("poll") || (pq.deaf > 0 && pq.deaf-- > 0)) {
        pq.now_ms += ms;
        return 0;
    }
    if (pq.interrupts == 0)
        return 1;
    pq.interrupts--;
    pq.now_ms++;
    return -1;
}

/* --- connections --- */

WRAPPED(PGconn *, PQconnectStartParams, const char *const *keywords,
        const char *const *values, int expand)
{
    assert_int_equal(expand, 0);
    for (size_t i = 0; keywords[i] != NULL; i++) {
        if (strcmp(keywords[i], "hostaddr") == 0 && values[i][0] != '\0')
            (void)text_append(pq.tried, sizeof pq.tried, "%s ", values[i]);
    }
    if (fails("PQconnectStartParams"))
        return NULL;
    pq.connected++;
    is_lost = is_aborted = false;
    sent_from = sent_to = 0;
    transaction = PQTRANS_IDLE;
    return PQconnectStart("port=none");
}

WRAPPED(PostgresPollingStatusType, PQconnectPoll, PGconn *conn)
{
    (void)conn;
    if (fails("PQconnectPoll"))
        return PGRES_POLLING_FAILED;
    if (pq.busy == 0)
        return PGRES_POLLING_OK;
    pq.busy--;
    return PGRES_POLLING_READING;
}

WRAPPED(PQnoticeReceiver, PQsetNoticeReceiver, PGconn *conn,
        PQnoticeReceiver proc, void *arg)
{
    receiver = proc;
    receiver_of = arg;
    return __real_PQsetNoticeReceiver(conn, proc, arg);
}

WRAPPED(int, PQsetnonblocking, PGconn *conn, int arg)
{
    (void)conn;
    return fails("PQsetnonblocking") || arg != 1 ? -1 : 0;
}

WRAPPED(int, PQenterPipelineMode, PGconn *conn)
{
    (void)conn;
    return !fails("PQenterPipelineMode");
}

WRAPPED(int, PQexitPipelineMode, PGconn *conn)
{
    (void)conn;
    return !fails("PQexitPipelineMode");
}

WRAPPED(int, PQserverVersion, const PGconn *conn)
{
    (void)conn;
    return fails("PQserverVersion") ? 119999 : 120000;
}

WRAPPED(int, PQlibVersion, void)
{
    return 150004;
}

WRAPPED(int, PQsocket, const PGconn *conn)
{
    (void)conn;
    return fails("PQsocket") ? -1 : 1000;
}

WRAPPED(ConnStatusType, PQstatus, const PGconn *conn)
{
    (void)conn;
    return is_lost || fails("PQstatus") ? CONNECTION_BAD : CONNECTION_OK;
}

WRAPPED(char *, PQhost, const PGconn *conn)
{
    static char folder[] = "/a";

    (void)conn;
    return folder;
}

WRAPPED(void, PQfinish, PGconn *conn)
{
    pq.finished++;
    __real_PQfinish(conn);
}

WRAPPED(PGTransactionStatusType, PQtransactionStatus, const PGconn *conn)
{
    (void)conn;
    return transaction;
}

/* --- statements --- */

static void send(const char *answer)
{
    assert_true(sent_to < COUNT_OF(sent));
    sent[sent_to++] = answer;
}

static bool starts(const char *sql, const char *word)
{
    return strncmp(sql, word, strlen(word)) == 0;
}

static const char *answer_to(const char *sql)
{
    if (is_aborted)
        return ABORTED;
    if (starts(sql, "BEGIN"))
        return "=BEGIN";
    if (starts(sql, "ROLLBACK"))
        return "=ROLLBACK";
    if (starts(sql, "COMMIT"))
        return pq.commit != NULL ? pq.commit : "=COMMIT";
    if (starts(sql, "SELECT set_config"))
        return pq.prelude != NULL ? pq.prelude : PRELUDE;
    if (pq.answers[pq.answered] == NULL)
        fail_msg("no answer to %s", sql);
    return pq.answers[pq.answered++];
}

static void note(const char *sql, int n, const char *const *arguments)
{
    (void)text_append(pq.said, sizeof pq.said, "%.*s", (int)strcspn(sql, " "),
                      sql);
    for (int i = 0; i < n; i++)
        (void)text_append(pq.said, sizeof pq.said, "%c%s", i == 0 ? ' ' : '|',
                          arguments[i] != NULL ? arguments[i] : "~");
    (void)text_append(pq.said, sizeof pq.said, "\n");
}

/* NOLINTNEXTLINE(readability-function-size): so libpq has it */
WRAPPED(int, PQsendQueryParams, PGconn *conn, const char *sql, int n,
        const Oid *types, const char *const *values, const int *lengths,
        const int *formats, int format)
{
    const char *answer = answer_to(sql);

    (void)conn;
    (void)types;
    (void)lengths;
    (void)formats;
    assert_int_equal(format, 0);
    note(sql, n, values);
    if (answer[0] == '2')
        send("[1");
    send(answer[0] == '2' ? "[1" : answer);
    send(NULL);
    if (starts(sql, "SELECT set_config"))
        pq.begun = sql;
    if (starts(sql, "BEGIN"))
        transaction = PQTRANS_INTRANS;
    if (strchr("!LN", answer[0]) != NULL)
        is_aborted = true;
    if (starts(sql, "COMMIT") && strcmp(answer, "=COMMIT") == 0)
        transaction = PQTRANS_IDLE;
    if (starts(sql, "ROLLBACK"))
        transaction = PQTRANS_IDLE;
    return 1;
}

/* A text of several statements has the answers up to ".". */
WRAPPED(int, PQsendQuery, PGconn *conn, const char *sql)
{
    (void)conn;
    if (fails("PQsendQuery"))
        return 0;
    note(sql, 0, NULL);
    while (strcmp(pq.answers[pq.answered], ".") != 0)
        send(pq.answers[pq.answered++]);
    pq.answered++;
    send(NULL);
    return 1;
}

WRAPPED(int, PQpipelineSync, PGconn *conn)
{
    (void)conn;
    send(SYNC);
    is_aborted = false;
    return !fails("PQpipelineSync");
}

WRAPPED(int, PQflush, PGconn *conn)
{
    (void)conn;
    if (fails("PQflush"))
        return -1;
    return pq.unsent > 0 ? pq.unsent-- > 0 : 0;
}

WRAPPED(int, PQconsumeInput, PGconn *conn)
{
    (void)conn;
    return !fails("PQconsumeInput");
}

WRAPPED(int, PQisBusy, PGconn *conn)
{
    (void)conn;
    return pq.busy > 0 ? pq.busy-- > 0 : 0;
}

/* --- answers --- */

static void column_set(PGresult *result, int row, int column, const char *text,
                       size_t length)
{
    char value[256];
    const bool is_null = length == 1 && text[0] == '~';

    (void)text_format(value, sizeof value, "%.*s", (int)length, text);
    assert_int_equal(PQsetvalue(result, row, column, is_null ? NULL : value,
                                is_null ? -1 : (int)length),
                     1);
}

static PGresult *rows_of(const char *text)
{
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc columns[COLUMNS_MAX];
    int width = 1;

    if (text[0] == ':') {
        width = text[1] - '0';
        text = "";
    }
    for (const char *at = text; *at != '\0' && *at != ';'; at++)
        width += *at == '|';
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < width; i++)
        columns[i].name = (char *)(uintptr_t) "c";
    assert_int_equal(PQsetResultAttrs(result, width, columns), 1);
    for (int row = 0; *text != '\0'; row++) {
        for (int column = 0;; column++) {
            const size_t length = strcspn(text, "|;");

            column_set(result, row, column, text, length);
            text += length;
            if (*text != '|')
                break;
            text++;
        }
        text += *text == ';';
    }
    return result;
}

static PGresult *result_of(const char *text)
{
    if (strcmp(text, SYNC) == 0)
        return PQmakeEmptyPGresult(NULL, PGRES_PIPELINE_SYNC);
    if (strcmp(text, ABORTED) == 0)
        return PQmakeEmptyPGresult(NULL, PGRES_PIPELINE_ABORTED);
    if (text[0] == '[')
        return rows_of(text + 1);
    return PQmakeEmptyPGresult(NULL, text[0] == '=' ? PGRES_COMMAND_OK
                                                    : PGRES_FATAL_ERROR);
}

/* The severity in English: servers before 9.6 have only their own language. */
static const char *severity_of(int field)
{
    if (last_text[0] == 'L' && field == PG_DIAG_SEVERITY_NONLOCALIZED)
        return NULL;
    if (last_text[0] == 'w')
        return pq.is_notice ? "NOTICE" : "WARNING";
    return last_text[0] == 'F' ? "FATAL" : "ERROR";
}

static const char *field_of(int field)
{
    static char state[6];

    if (field == PG_DIAG_MESSAGE_PRIMARY)
        return last_text[0] == 'w' ? pq.warning : "scripted";
    if (field != PG_DIAG_SQLSTATE)
        return severity_of(field);
    (void)text_copy(state, sizeof state, last_text + 1);
    return last_text[0] == 'N' ? NULL : state;
}

WRAPPED(char *, PQresultErrorField, const PGresult *result, int field)
{
    if (result == NULL || result != last || last_text[0] == '?')
        return NULL;
    return (char *)(uintptr_t)field_of(field);
}

static void warn(void)
{
    PGresult *warning = PQmakeEmptyPGresult(NULL, PGRES_NONFATAL_ERROR);

    last = warning;
    last_text = "w";
    receiver(receiver_of, warning);
    PQclear(warning);
}

WRAPPED(PGresult *, PQgetResult, PGconn *conn)
{
    const char *text;
    PGresult *result;

    (void)conn;
    if (fails("PQgetResult") || is_lost) {
        is_lost = true;
        return NULL;
    }
    assert_int_equal(pq.busy, 0); /* else libpq would block */
    if (sent_from == sent_to) {
        assert_true(++pq.vain < PATIENCE);
        return NULL;
    }
    text = sent[sent_from++];
    if (text == NULL)
        return NULL;
    if (strcmp(text, "=COMMIT") == 0 && pq.warning != NULL)
        warn();
    is_lost = text[0] == '?';
    result = result_of(text);
    last = result;
    last_text = text;
    return result;
}

WRAPPED(char *, PQcmdStatus, PGresult *result)
{
    return result == last ? (char *)(uintptr_t)(last_text + 1)
                          : __real_PQcmdStatus(result);
}

WRAPPED(char *, PQcmdTuples, PGresult *result)
{
    const char *number = strrchr(last_text, ' ');

    assert_ptr_equal(result, last);
    return (char *)(uintptr_t)(number != NULL ? number + 1 : "");
}

/* --- a backend --- */

struct seqb_backend *pq_backend;
struct seqb_backend_options pq_options;

void pq_must_have_said(const char *expected)
{
    assert_string_equal(pq.said, expected);
    pq.said[0] = '\0';
}

enum seqb_status pq_open(struct seqb_error *err)
{
    backend_postgres.close(pq_backend);
    pq_backend = NULL;
    return backend_postgres.open(&pq_options, &pq_backend, err);
}

struct postgres_link *pq_link(void)
{
    return &((struct postgres *)pq_backend)->link;
}

int pq_begin(void **state)
{
    (void)state;
    script_reset();
    pq_options = (struct seqb_backend_options){.name = "pg",
                                               .socket_path = "/a",
                                               .timeout_ms = 100,
                                               .connect_timeout_ms = 1000,
                                               .needs_incarnation = true};
    PQ_ANSWERS(PQ_FACTS, PQ_BASE);
    return 0;
}

int pq_begin_open(void **state)
{
    (void)pq_begin(state);
    assert_done(pq_open(&failure), failure);
    pq.said[0] = '\0';
    return 0;
}

int pq_end(void **state)
{
    (void)state;
    backend_postgres.close(pq_backend);
    pq_backend = NULL;
    assert_int_equal(pq.finished, pq.connected);
    return 0;
}

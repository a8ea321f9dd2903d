/* SPDX-License-Identifier: Apache-2.0 */
/* One table from SQLSTATE to status. */
#include "backends/postgres/failure.h"

#include <ctype.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define STATE_LENGTH 5

struct failure {
    const char *state; /* the SQLSTATE or its first characters */
    enum seqb_status status;
    bool is_of_row;
    const char *advice; /* appended to the server's own words */
};

/* The first match counts; the last row matches everything. */
static const struct failure failures[] = {
    {"08", SEQB_UNREACHABLE, false, ""},
    {"22003", SEQB_EXHAUSTED, true, ""}, /* only a raise can overflow */
    {"25006", SEQB_ROLE, false,
     "; it is a standby or read-only: give its primary's address"},
    {"28", SEQB_REFUSED, false, ""},
    {"3D000", SEQB_UNREACHABLE, false, "; make it first"},
    {"40", SEQB_UNREACHABLE, true, ""},
    {"42501", SEQB_REFUSED, false,
     "; sql/postgres.sql says which rights are needed"},
    {"42P01", SEQB_UNREACHABLE, false,
     "; run sql/postgres.sql in this database"},
    {"42", SEQB_CORRUPT, false,
     "; the table is none of ours, see sql/postgres.sql"},
    {"53100", SEQB_REFUSED, false, "; the server's disk is full"},
    {"53", SEQB_UNREACHABLE, false, ""},
    {"55P03", SEQB_UNREACHABLE, true,
     "; another session holds the counter's row"},
    {"57", SEQB_UNREACHABLE, false, ""},
    {"58", SEQB_UNREACHABLE, false, ""}, /* I/O errors */
    {"XX001", SEQB_CORRUPT, true, ""},
    {"XX002", SEQB_CORRUPT, true, ""},
    {"", SEQB_REFUSED, true, ""},
};

static const struct failure *failure_find(const char *state)
{
    const struct failure *at = failures;

    while (strncmp(state, at->state, strlen(at->state)) != 0)
        at++;
    return at;
}

bool postgres_failure_is_of_row(const char *state)
{
    return failure_find(state)->is_of_row;
}

enum seqb_status postgres_failure_set(const char *where, const char *state,
                                      const char *message,
                                      struct seqb_error *err)
{
    const struct failure *failure = failure_find(state);

    return error_set(err, failure->status, "%s: %.300s (SQLSTATE %s)%s", where,
                     message != NULL ? message : "no message", state,
                     failure->advice);
}

static bool is_state(const char *text)
{
    for (int i = 0; i < STATE_LENGTH; i++) {
        if (!isupper((unsigned char)text[i]) &&
            !isdigit((unsigned char)text[i]))
            return false;
    }
    return text[STATE_LENGTH] == ':';
}

/* "...: FATAL:  28P01: password ...": two blanks occur only there, and the
 * severity may be in any language. */
static const char *state_find(const char *text)
{
    for (text = strstr(text, ":  "); text != NULL;
         text = strstr(text + 1, ":  ")) {
        if (is_state(text + 3))
            return text + 3;
    }
    return NULL;
}

/* libpq gives one text for a certificate that has expired, for one of another
 * CA, and for one whose issuer the server does not send. Without a file of CAs
 * it looks in the home of its user, and not where the system has them. */
static const char *advice_of(const char *text)
{
    if (strstr(text, "certificate verify failed") != NULL)
        return "; the server's certificate has expired, it does not send the "
               "intermediate ones, or tls_ca is not its CA";
    if (strstr(text, "root certificate file") != NULL)
        return "; set tls_ca";
    return "";
}

enum seqb_status postgres_failure_connect(const char *where, const char *text,
                                          char state[static 6],
                                          struct seqb_error *err)
{
    const char *found = state_find(text);
    const char *words = text;

    state[0] = '\0';
    if (found == NULL)
        return error_set(err, SEQB_UNREACHABLE, "%s: cannot connect: %.*s%s",
                         where, (int)strcspn(words, "\n"), words,
                         advice_of(text));
    (void)text_format(state, STATE_LENGTH + 1, "%.*s", STATE_LENGTH, found);
    words = found + STATE_LENGTH + 1;
    words += strspn(words, " ");
    return error_set(err, failure_find(state)->status,
                     "%s: cannot connect: %.*s (SQLSTATE %s)%s", where,
                     (int)strcspn(words, "\n"), words, state,
                     failure_find(state)->advice);
}

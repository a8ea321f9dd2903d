/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of statuses, and the flat error struct. */
#include "platform/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    const char *name;
    const char *text;
    enum blame blame;
};

static const struct status_row status_rows[] = {
#define STATUS_ROW(name, blame, text) {#name, text, BLAME_##blame},
    SEQB_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *status_row(enum seqb_status status)
{
    static const struct status_row unknown = {"UNKNOWN", "unknown status",
                                              BLAME_NOBODY};
    const size_t n = sizeof status_rows / sizeof status_rows[0];

    return (size_t)status < n ? &status_rows[status] : &unknown;
}

const char *seqb_status_name(enum seqb_status status)
{
    return status_row(status)->name;
}

const char *seqb_status_text(enum seqb_status status)
{
    return status_row(status)->text;
}

enum blame status_blame(enum seqb_status status)
{
    return status_row(status)->blame;
}

enum seqb_status error_set(struct seqb_error *err, enum seqb_status status,
                           const char *format, ...)
{
    va_list args;

    assert(status != SEQB_OK);
    if (err == NULL)
        return status;
    err->status = status;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

enum seqb_status error_copy(struct seqb_error *to,
                            const struct seqb_error *from)
{
    if (to != NULL && to != from)
        *to = *from;
    return from->status;
}

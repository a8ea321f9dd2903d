/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on one cell, which must succeed. */
#include "contract/sqlite_cell.h"

#include <string.h>

#include "backends/backends.h"
#include "support/test.h"

void sqlite_cell_install(struct seqb_backend *backend, int64_t window)
{
    const struct seqb_window lease = {
        .counter = CELL, .window = window, .size = CELL_SIZE};
    struct seqb_error err;
    int64_t standing;

    assert_done(backend->ops->install(backend, &lease, &standing, &err), err);
    assert_int_equal(standing, window);
}

void sqlite_cell_expect(struct seqb_backend *backend, enum seqb_status status,
                        int64_t first)
{
    struct seqb_request request = {.counter = CELL,
                                   .want = 1,
                                   .limit = CELL_SIZE,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_error err;

    assert_done(backend->ops->reserve(backend, &request, 1, &err), err);
    assert_status(request.status, status);
    if (status == SEQB_OK)
        assert_int_equal(request.block.first, first);
}

void sqlite_cell_use(const struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_cell_install(backend, 1);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_case_close(backend);
}

struct seqb_backend *sqlite_cell_open_known(const struct sqlite_files *files)
{
    struct sqlite_files known = *files;
    struct seqb_backend *backend;

    known.options.needs_incarnation = true;
    backend = sqlite_case_open(&known);
    assert_int_equal(strlen(backend->incarnation), 32);
    return backend;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the sqlite engine share. */
#include "contract/sqlite_case.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"

#define OPEN_MAX 8

static struct seqb_backend *opened[OPEN_MAX]; /* NULL: a free place */

static struct seqb_backend **place_of(const struct seqb_backend *backend)
{
    size_t i = 0;

    while (i < OPEN_MAX && opened[i] != backend)
        i++;
    assert_true(i < OPEN_MAX);
    return &opened[i];
}

int sqlite_case_setup(void **state)
{
    struct sqlite_files *files = calloc(1, sizeof *files);

    *state = files;
    return files != NULL && sqlite_files_init(files) ? 0 : -1;
}

int sqlite_case_teardown(void **state)
{
    for (size_t i = 0; i < OPEN_MAX; i++) {
        backend_sqlite.close(opened[i]);
        opened[i] = NULL;
    }
    sqlite_faults_remove();
    sqlite_files_fini(*state);
    free(*state);
    return 0;
}

struct seqb_backend *sqlite_case_open(const struct sqlite_files *files)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    assert_done(backend_sqlite.open(&files->options, &backend, &err), err);
    *place_of(NULL) = backend;
    return backend;
}

void sqlite_case_close(struct seqb_backend *backend)
{
    *place_of(backend) = NULL;
    backend_sqlite.close(backend);
}

struct seqb_backend *sqlite_case_reopen(const struct sqlite_files *files,
                                        struct seqb_backend *backend)
{
    sqlite_case_close(backend);
    return sqlite_case_open(files);
}

void sqlite_case_open_fails(const struct seqb_backend_options *options,
                            enum seqb_status status, const char *words)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {SEQB_OK, "opened"};

    if (backend_sqlite.open(options, &backend, &err) == SEQB_OK)
        backend_sqlite.close(backend);
    if (err.status != status || strstr(err.text, words) == NULL)
        fail_msg("%s: %s", seqb_status_name(err.status), err.text);
    assert_null(backend);
}

enum seqb_status sqlite_case_reserve(struct seqb_backend *backend,
                                     const char *counter, int64_t want,
                                     struct seqb_request *out)
{
    enum seqb_status status;

    *out =
        (struct seqb_request){.counter = counter, .want = want, .limit = LIMIT};
    status = backend->ops->reserve(backend, out, 1, NULL);
    return status == SEQB_OK ? out->status : status;
}

void sqlite_case_take(struct seqb_backend *backend, int64_t want,
                      int64_t before)
{
    struct seqb_request request;

    assert_ok(sqlite_case_reserve(backend, ORDER, want, &request));
    assert_int_equal(request.block.first, before + 1);
    assert_int_equal(request.block.count, want);
}

int64_t sqlite_case_raise(struct seqb_backend *backend, int64_t gap)
{
    const struct seqb_raise raise = {ORDER, 0, gap,  LIMIT, gap,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_error err;
    int64_t value;

    assert_done(backend->ops->raise(backend, &raise, &value, &err), err);
    return value;
}

bool sqlite_case_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

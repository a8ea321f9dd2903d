/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the sqlite engine share: a state that is a struct sqlite_files
 * whose file does not exist yet, and calls that must succeed. */
#pragma once

#include "contract/sqlite_files.h"
#include "support/test.h"

#define ORDER "main/0/order"
#define LIMIT ((int64_t)1 << 40)

#define SQLITE_CASE                                                            \
    FIXTURE(struct sqlite_files *files, sqlite_case_setup, sqlite_case_teardown)

int sqlite_case_setup(void **state);
int sqlite_case_teardown(void **state);

/* Opens the file, or fails the test. The teardown closes what is still open.
 * sqlite_case_close is for what sqlite_case_open opened. */
struct seqb_backend *sqlite_case_open(const struct sqlite_files *files);
void sqlite_case_close(struct seqb_backend *backend);

/* Closes the backend and opens the file. */
struct seqb_backend *sqlite_case_reopen(const struct sqlite_files *files,
                                        struct seqb_backend *backend);

/* Opening must fail with `status`, and the error must contain `words`. */
void sqlite_case_open_fails(const struct seqb_backend_options *options,
                            enum seqb_status status, const char *words);

/* Reserves from one counter. Returns the call's status or, if that is SEQB_OK,
 * the request's. */
enum seqb_status sqlite_case_reserve(struct seqb_backend *backend,
                                     const char *counter, int64_t want,
                                     struct seqb_request *out);

/* Reserves `want` values of ORDER, which must follow `before`. */
void sqlite_case_take(struct seqb_backend *backend, int64_t want,
                      int64_t before);

/* Raises ORDER, which must succeed. Returns its new value. */
int64_t sqlite_case_raise(struct seqb_backend *backend, int64_t gap);

bool sqlite_case_is_there(const char *path);

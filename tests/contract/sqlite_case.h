/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the sqlite engine share: a state that is a struct
 * sqlite_files with the file not yet made, and calls that must go well. */
#pragma once

#include "contract/sqlite_files.h"
#include "support/test.h"

#define ORDER "main/0/order"
#define LIMIT ((int64_t)1 << 40)

#define SQLITE_CASE                                                            \
    FIXTURE(struct sqlite_files *files, sqlite_case_setup, sqlite_case_teardown)

int sqlite_case_setup(void **state);
int sqlite_case_teardown(void **state);

/* Opens the file; the test fails if it cannot. */
struct seqb_backend *sqlite_case_open(const struct sqlite_files *files);

/* Opening must fail with `status` and say `words`. */
void sqlite_case_open_fails(const struct seqb_backend_options *options,
                            enum seqb_status status, const char *words);

/* Reserves from one counter; the call's status, or else the request's. */
enum seqb_status sqlite_case_reserve(struct seqb_backend *backend,
                                     const char *counter, int64_t want,
                                     struct seqb_request *out);

/* Reserves `want` values of ORDER, which must follow `before`. */
void sqlite_case_take(struct seqb_backend *backend, int64_t want,
                      int64_t before);

/* Raises ORDER, which must succeed; what it is then. */
int64_t sqlite_case_raise(struct seqb_backend *backend, int64_t gap);

bool sqlite_case_is_there(const char *path);

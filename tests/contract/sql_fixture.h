/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database on a server that the tests of a program share, and an open backend
 * on it, for the own tests of the engines on SQL servers. The functions
 * must_... fail the test unless the call succeeds.
 */
#pragma once

#include <seqbroker/backend.h>

#include "support/servers.h"
#include "support/test.h"

#define ORDER    "main/0/order"
#define LIMIT    ((int64_t)1 << 40)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define DATABASE_SIZE 16

struct fixture {
    const struct seqb_backend_ops *ops;
    struct server *server;
    char database[DATABASE_SIZE];
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err;          /* of the last call */
    char standing[SEQB_CLAIM_SIZE]; /* what it found, of a claim or a swap */
};

/* --- opening --- */

/* Closes the backend, and opens it again with the options as they are. */
void fixture_close(struct fixture *f);
enum seqb_status fixture_open(struct fixture *f);
void must_open(struct fixture *f);

/* Opening must fail with `status`; the error must contain `words` and the
 * backend's name, and not the password. */
void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words);

/* Opens another backend on the same database. */
struct seqb_backend *must_open_other(struct fixture *f);

/* --- counters --- */

/* Reserves from one counter. Returns the call's status or, if that is SEQB_OK,
 * the request's. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out);

/* Takes `count` values of ORDER, which must follow `before`. */
void must_take(struct fixture *f, int64_t count, int64_t before);

/* Reserving one value of the counter must fail with `status` for that counter
 * alone. The connection stays usable. */
void must_answer(struct fixture *f, const char *counter,
                 enum seqb_status status);

/* Reserving must fail as a whole with `status`. The backend is not usable
 * afterwards. */
void must_fail(struct fixture *f, enum seqb_status status, const char *words);

/* Raises ORDER; returns its new value. */
int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap);

/* --- counters of days, and purges --- */

#define DAY_MS   INT64_C(86400000)
#define DAY(day) (INT64_C(1793491200000) + ((day)-1) * DAY_MS)

/* The same as take for a value of "<counter>@2026110<day>". */
enum seqb_status take_day(struct fixture *f, const char *counter, int day,
                          struct seqb_request *out);
void must_take_day(struct fixture *f, const char *counter, int day,
                   int64_t value);

/* Of the days before that one. */
enum seqb_status purge(struct fixture *f, const char *counter, int day,
                       int32_t most, int32_t *deleted);
void must_purge(struct fixture *f, const char *counter, int day, int32_t most,
                int32_t deleted);

/* --- claims --- */

enum seqb_status claim(struct fixture *f, const char *name, const char *text);

/* Replaces the claim "worker". */
enum seqb_status swap_worker(struct fixture *f, const char *expected,
                             const char *text);

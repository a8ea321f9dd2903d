/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon over the stub broker and its clients, for the tests of sessions. */
#pragma once

#include "support/dialogue.h"
#include "support/stub_broker.h"

#define PLENTY    1000000000
#define MINUTE_MS 60000
#define WHOLE     ((size_t)1 << 30) /* a piece that holds everything */

/* stub_reset, then dialogue_server. */
struct server *server_over_stub(int64_t stock, enum seqb_status empty,
                                int64_t deadline_ms);

/* A daemon over a stub with PLENTY of numbers. The teardown closes it, and then
 * frees the clients of talker_new. */
int server_setup(void **state);
int server_teardown(void **state);

#define SERVER FIXTURE(struct server *server, server_setup, server_teardown)

/* A client that the teardown frees. */
struct talker *talker_new(struct server *server);

/* A client that talker_init connects. */
struct talker talker_of(struct server *server);

/* Turns the loop until nothing happens any more, while nobody reads. */
void settle_unread(struct server *server);

/* All that it has received must be this. */
void talker_expect(const struct talker *talker, const char *expected);
void talker_expect_script(const struct talker *talker,
                          const struct script *expected);

/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster under Patroni that the tests of a program share, brokers on it, and
 * threads that take numbers of them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "scene.h"
#include "support/server_patroni.h"
#include "support/test.h"

#define MANY      ((size_t)4000)
#define PAST_HELD 400  /* more numbers than a broker holds of a sequence */
#define BRIEF_GAP 1000 /* values of 8 numbers */

/* NULL before the first test. */
extern struct patroni *patroni;

/* Each a sequence, a pool, and a database. */
enum key { KEY_MAIN, KEY_BRIEF, KEY_NEAR, KEYS };

extern const char *const keys[KEYS];

/* Returns the leader. Of tests before there is nothing left in the databases.
 */
size_t cluster_require(void);

/* For TEST_AFTER_ALL. */
int cluster_end(void **state);

/* A broker as of a machine of its own: with a state directory that others do
 * not see, and the node first in its list that it reaches first. */
struct service {
    struct seqb_broker *broker;
    struct seqb_sequence *sequences[KEYS];
};

struct service service_open(const struct scene *scene, size_t first,
                            size_t second);

void service_take(const struct service *service, enum key key,
                  struct numbers *out, size_t count);

/* A thread that takes one number of KEY_MAIN after the other. */
struct taking {
    struct seqb_sequence *sequence;
    struct numbers *out;
    pthread_t thread;
    atomic_bool ends;
    atomic_bool has_failed;
    atomic_llong count;
    /* Read once the thread has ended. */
    int64_t longest_ms; /* between two numbers */
    int64_t jump;       /* values between two numbers */
    struct seqb_error err;
};

void taking_begin(struct taking *taking, const struct service *service,
                  struct numbers *out);

/* Waits for so many more numbers. */
void taking_await(struct taking *taking, long long more);

/* After more numbers than were held when `what` happened. Fails the test if a
 * number was refused. */
void taking_end(struct taking *taking, const char *what);

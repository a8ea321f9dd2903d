/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The etcd engine's link to a cluster: asks one endpoint after the other within
 * the deadline of a call, logs in, and says what a failure means. An answer
 * counts only if it is of the cluster that was asked first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <seqbroker/backend.h>

#include "backends/etcd/http.h"

#define ETCD_ENDPOINTS_MAX 16
#define ETCD_URL_SIZE      320
#define ETCD_TOKEN_SIZE    1024
#define ETCD_ID_SIZE       24 /* a uint64 in decimal */

/* A call that only reads may be asked again, of another endpoint. */
enum etcd_kind { ETCD_READ, ETCD_WRITE };

struct etcd_link {
    struct etcd_http http;
    struct etcd_text body;                             /* of the next call */
    char endpoints[ETCD_ENDPOINTS_MAX][ETCD_URL_SIZE]; /* "http://host:port" */
    size_t count;
    size_t current; /* the one that answered last */
    const char *user;
    const char *password;
    char token[ETCD_TOKEN_SIZE]; /* "" until logged in */
    char cluster[ETCD_ID_SIZE];  /* its id; "" until the first answer */
    char member[ETCD_ID_SIZE];   /* who answered last */
    int64_t term;                /* raft's, of the last answer */
    int64_t deadline_ms;
    int32_t budget_ms;
    char where[128]; /* begins messages: "etcd-a (etcd 10.0.0.3:2379)" */
};

/* The options must outlive it; etcd_link_close is due in any case. */
enum seqb_status etcd_link_open(struct etcd_link *link,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err);

/* A call begins that must end within `budget_ms`. */
void etcd_link_begin(struct etcd_link *link, int32_t budget_ms);

bool etcd_link_is_late(const struct etcd_link *link);

/*
 * Posts link->body to `path`; the answer, a JSON object of this cluster, is the
 * caller's. SEQB_UNREACHABLE: no endpoint answered, nothing was changed.
 * SEQB_UNCERTAIN, only of a write: it may have been carried out, or still will.
 * SEQB_REFUSED: the server refused it, nothing was changed. SEQB_NO_MEMORY,
 * SEQB_PROTOCOL.
 */
enum seqb_status etcd_link_ask(struct etcd_link *link, enum etcd_kind kind,
                               const char *path, json_t **out,
                               struct seqb_error *err);

/* An answer that makes no sense: SEQB_PROTOCOL, or SEQB_UNCERTAIN for a write,
 * which may have been carried out. */
enum seqb_status etcd_link_distrust(const struct etcd_link *link,
                                    enum etcd_kind kind, const char *what,
                                    struct seqb_error *err);

void etcd_link_close(struct etcd_link *link);

/* A 64-bit number that is not negative, which the gateway writes as a text and
 * leaves out if it is 0. */
bool etcd_number_read(const json_t *object, const char *name, int64_t *out);

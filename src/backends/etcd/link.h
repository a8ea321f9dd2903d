/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The etcd engine's link to a cluster. It tries one endpoint after the other
 * within the deadline of a call, logs in, and sets the status of a failure. An
 * answer counts only if it comes from the cluster that answered first.
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

/* A call that only reads may be repeated at another endpoint. */
enum etcd_kind { ETCD_READ, ETCD_WRITE };

struct etcd_link {
    struct etcd_http http;
    struct etcd_text body;                             /* for the next call */
    char endpoints[ETCD_ENDPOINTS_MAX][ETCD_URL_SIZE]; /* "http://host:port" */
    size_t count;
    size_t current; /* the endpoint that answered last */
    const char *user;
    const char *password;
    char token[ETCD_TOKEN_SIZE]; /* "" until logged in */
    char cluster[ETCD_ID_SIZE];  /* the cluster's id; "" until the first
                                    answer */
    char member[ETCD_ID_SIZE];   /* the member that answered last */
    int64_t term;                /* raft's, of the last answer */
    int64_t deadline_ms;
    int32_t budget_ms;
    char where[128]; /* begins messages: "etcd-a (etcd 10.0.0.3:2379)" */
};

/* The options must outlive the link; the caller must call etcd_link_close in
 * any case. */
enum seqb_status etcd_link_open(struct etcd_link *link,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err);

/* Begins a call that must end within `budget_ms`. */
void etcd_link_begin(struct etcd_link *link, int32_t budget_ms);

bool etcd_link_is_late(const struct etcd_link *link);

/*
 * Posts link->body to `path`. The answer, a JSON object of this cluster,
 * belongs to the caller. SEQB_UNREACHABLE: no endpoint answered, nothing was
 * changed. SEQB_UNCERTAIN, only for a write: it may have been carried out, or
 * may still be. SEQB_REFUSED: the server refused it, nothing was changed.
 * SEQB_NO_MEMORY, SEQB_PROTOCOL.
 */
enum seqb_status etcd_link_ask(struct etcd_link *link, enum etcd_kind kind,
                               const char *path, json_t **out,
                               struct seqb_error *err);

/* Answers the status of an invalid answer: SEQB_PROTOCOL, or SEQB_UNCERTAIN for
 * a write, which may have been carried out. */
enum seqb_status etcd_link_distrust(const struct etcd_link *link,
                                    enum etcd_kind kind, const char *what,
                                    struct seqb_error *err);

void etcd_link_close(struct etcd_link *link);

/* Reads a 64-bit number that is not negative. The gateway writes it as a text,
 * and omits it if it is 0. */
bool etcd_number_read(const json_t *object, const char *name, int64_t *out);

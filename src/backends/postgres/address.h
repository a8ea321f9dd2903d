/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a PostgreSQL server: a backend's options as libpq's
 * parameters, one host at a time. Given several hosts, libpq would wait for the
 * first one as long as it hangs; this engine has one deadline for all hosts.
 */
#pragma once

#include <libpq-fe.h>
#include <netdb.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define POSTGRES_PARAMETERS 64 /* libpq has about 40 */
#define POSTGRES_HOST_SIZE  256

struct postgres_address {
    const char *name; /* the backend's */
    int hosts;        /* the number of hosts, at least 1 */
    const char *keywords[POSTGRES_PARAMETERS + 1]; /* for libpq, NULL at the
                                                      end */
    const char *values[POSTGRES_PARAMETERS + 1];

    /* The rest is private to address.c. */
    size_t count;
    PQconninfoOption *parsed;
    const char *host_list;
    const char *hostaddr_list;
    const char *port_list;
    char host[POSTGRES_HOST_SIZE];
    char hostaddr[POSTGRES_HOST_SIZE];
    char port[16];
};

/* SEQB_INVALID, SEQB_NO_MEMORY; no text quotes conninfo, which may contain a
 * password. The strings of `options` must outlive the address. A failure leaves
 * what postgres_address_fini frees. */
enum seqb_status
postgres_address_init(struct postgres_address *address,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err);

/* Sets the parameters to those of the i-th host, and `where` to its name for
 * messages. SEQB_INVALID. */
enum seqb_status postgres_address_choose(struct postgres_address *address,
                                         int i, char *where, size_t size,
                                         struct seqb_error *err);

/*
 * Looks up the name of the chosen host, which libpq would do without a time
 * limit. Free `*out` with freeaddrinfo(3); NULL if there is nothing to look up:
 * a socket, an address, or a host that only libpq knows. SEQB_UNREACHABLE;
 * `where` begins its text.
 */
enum seqb_status
postgres_address_resolve(const struct postgres_address *address,
                         int64_t deadline_ms, const char *where,
                         struct addrinfo **out, struct seqb_error *err);

/* Writes the numeric address; "" if `found` is NULL. */
void postgres_address_text(const struct addrinfo *found, char *out,
                           size_t size);

/* Sets the parameters to one address of the chosen host. The host's name stays,
 * because a certificate must have it. "" changes nothing. */
void postgres_address_pin(struct postgres_address *address,
                          const char *hostaddr);

void postgres_address_fini(struct postgres_address *address);

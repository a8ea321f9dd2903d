/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a server: hosts, and the addresses of their names, are tried in
 * their order. address.c has them, session.c begins the session. */
#include "backends/postgres/primary.h"

#include <string.h>

#include "backends/postgres/address.h"
#include "backends/postgres/session.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* The share of the remaining time for the places after a primary: one part in
 * LOOK_SHARE. */
#define LOOK_SHARE      4
#define TIMELINE_DIGITS 8

/* What a session is opened with. */
struct search {
    struct postgres_link *link;
    struct postgres_address *address;
    struct seqb_backend *base;
    const struct seqb_backend_options *options;
};

/* Whether another host, or another address, may be the primary. */
static bool may_be_elsewhere(enum seqb_status status)
{
    return status == SEQB_ROLE || status == SEQB_UNREACHABLE;
}

/* Sets the deadline of an attempt: the next `left` attempts share the time
 * until `until_ms`. */
static void attempt_begins(struct postgres_link *link, int64_t until_ms,
                           int left)
{
    const int64_t now_ms = clock_now_ms();

    link->budget_ms = (int32_t)((until_ms - now_ms) / left);
    link->deadline_ms = now_ms + link->budget_ms;
}

/* Where a server may be: a host, or one address of its name. */
struct place {
    int host;
    char hostaddr[POSTGRES_HOST_SIZE]; /* "": its name was not looked up */
};

/* A walk over the hosts and the addresses of their names, in their order. */
struct walk {
    struct place here;
    struct addrinfo *found;    /* the addresses of the host; may be NULL */
    const struct addrinfo *at; /* the current one of these; may be NULL */
};

/* Moves to the next place. False after the last one. */
static bool walk_moves(struct walk *walk, int hosts)
{
    if (walk->at != NULL)
        walk->at = walk->at->ai_next;
    if (walk->at != NULL)
        return true;
    if (walk->found != NULL)
        freeaddrinfo(walk->found);
    walk->found = NULL;
    walk->here.host++;
    return walk->here.host < hosts;
}

static void walk_end(struct walk *walk)
{
    if (walk->found != NULL)
        freeaddrinfo(walk->found);
}

static int places_left(const struct walk *walk, int hosts)
{
    int left = hosts - walk->here.host;

    for (const struct addrinfo *at = walk->at; at != NULL; at = at->ai_next)
        left += at->ai_next != NULL;
    return left;
}

static enum seqb_status host_choose(const struct search *search, int host,
                                    struct seqb_error *err)
{
    struct postgres_link *link = search->link;

    return postgres_address_choose(search->address, host, link->where,
                                   sizeof link->where, err);
}

/* A host gets its share of the time that is left for it and the following
 * places, so that one that hangs does not hide a primary after it. */
static enum seqb_status walk_look_up(struct walk *walk,
                                     const struct search *search,
                                     int64_t until_ms, struct seqb_error *err)
{
    struct postgres_link *link = search->link;
    enum seqb_status status = host_choose(search, walk->here.host, err);

    attempt_begins(link, until_ms, places_left(walk, search->address->hosts));
    if (status == SEQB_OK)
        status = postgres_address_resolve(search->address, link->deadline_ms,
                                          link->where, &walk->found, err);
    walk->at = walk->found;
    return status;
}

/* Opens a session at that address of the chosen host. The attempt and the next
 * `left` - 1 ones share the time until `until_ms`. */
static enum seqb_status session_open(const struct search *search,
                                     const char *hostaddr, int64_t until_ms,
                                     int left, struct seqb_error *err)
{
    struct postgres_link *link = search->link;
    enum seqb_status status;

    postgres_address_pin(search->address, hostaddr);
    attempt_begins(link, until_ms, left);
    status = postgres_session_begin(link, search->address, search->base,
                                    search->options, err);
    if (status != SEQB_OK)
        postgres_link_close(link);
    return status;
}

/* Opens a session at the current place. */
static enum seqb_status walk_open(struct walk *walk,
                                  const struct search *search, int64_t until_ms,
                                  struct seqb_error *err)
{
    struct place *here = &walk->here;
    enum seqb_status status = SEQB_OK;

    if (walk->at == NULL)
        status = walk_look_up(walk, search, until_ms, err);
    if (status != SEQB_OK)
        return status;
    postgres_address_text(walk->at, here->hostaddr, sizeof here->hostaddr);
    return session_open(search, here->hostaddr, until_ms,
                        places_left(walk, search->address->hosts), err);
}

static enum seqb_status place_open(const struct place *place,
                                   const struct search *search,
                                   int64_t until_ms, struct seqb_error *err)
{
    const enum seqb_status status = host_choose(search, place->host, err);

    return status == SEQB_OK
               ? session_open(search, place->hostaddr, until_ms, 1, err)
               : status;
}

/* Why there is no primary. */
struct reasons {
    int places;                /* how many were tried */
    struct seqb_error standby; /* SEQB_OK: no place has one */
    struct seqb_error away;    /* the first one of a place that failed */
};

static void reason_note(struct reasons *reasons, const struct seqb_error *why)
{
    struct seqb_error *of =
        why->status == SEQB_ROLE ? &reasons->standby : &reasons->away;

    reasons->places++;
    if (of->status == SEQB_OK)
        *of = *why;
}

/* A standby that answers says more than a place that does not, unless the
 * primary is the one that does not. The error has both. */
static enum seqb_status no_primary(const struct search *search,
                                   const struct reasons *reasons,
                                   struct seqb_error *err)
{
    const struct seqb_error *standby = &reasons->standby;
    const struct seqb_error *away = &reasons->away;
    const bool has_standby = standby->status != SEQB_OK;
    const bool has_both = has_standby && away->status != SEQB_OK;
    const struct seqb_error *first = has_standby ? standby : away;
    const int hosts = search->address->hosts;
    char tried[32];

    if (reasons->places == 1)
        return error_set(err, first->status, "%s%s", first->text,
                         has_standby ? ": give its primary's address" : "");
    if (hosts > 1)
        (void)text_format(tried, sizeof tried, "the %d hosts", hosts);
    else
        (void)text_format(tried, sizeof tried, "its %d addresses",
                          reasons->places);
    return error_set(err, first->status, "%s; none of %s is a primary%s%s",
                     first->text, tried, has_both ? "; " : "",
                     has_both ? away->text : "");
}

/* Walks to the first place with a primary. */
static enum seqb_status primary_find(struct walk *walk,
                                     const struct search *search,
                                     int64_t until_ms, struct seqb_error *err)
{
    struct reasons reasons = {.standby.status = SEQB_OK};

    while (walk_moves(walk, search->address->hosts)) {
        struct seqb_error why;
        const enum seqb_status status = walk_open(walk, search, until_ms, &why);

        if (status == SEQB_OK)
            return SEQB_OK;
        if (!may_be_elsewhere(status))
            return error_copy(err, &why);
        reason_note(&reasons, &why); /* the primary may be next */
    }
    return no_primary(search, &reasons, err);
}

/* Compares "SYSTEM:TIMELINE:...", both of one system. */
static bool timeline_is_later(const char *store, const char *than)
{
    const size_t system = strcspn(store, ":");

    return strncmp(store, than, system + 1) == 0 &&
           strncmp(store + system, than + system, TIMELINE_DIGITS + 1) > 0;
}

/* A primary that was disconnected from its cluster may not know that another
 * one was promoted: of two primaries, the one with the later timeline is
 * valid. So the walk goes on to its end. True if there is a later one. */
static bool latest_find(struct walk *walk, const struct search *search,
                        int64_t until_ms, struct place *out)
{
    struct seqb_backend_options options = *search->options;
    struct postgres_link link = {.conn = NULL};
    struct seqb_backend base = {.fd = -1};
    const struct search look = {&link, search->address, &base, &options};
    const int64_t now_ms = clock_now_ms();
    char latest[SEQB_ORIGIN_SIZE];
    bool is_later = false;

    until_ms = now_ms + (until_ms - now_ms) / LOOK_SHARE;
    options.create = false;
    (void)text_copy(latest, sizeof latest, search->link->store);
    while (walk_moves(walk, search->address->hosts)) {
        struct seqb_error ignored;

        if (walk_open(walk, &look, until_ms, &ignored) != SEQB_OK)
            continue;
        if (timeline_is_later(link.store, latest)) {
            (void)text_copy(latest, sizeof latest, link.store);
            *out = walk->here;
            is_later = true;
        }
        postgres_link_close(&link);
    }
    return is_later;
}

static enum seqb_status places_try(const struct search *search,
                                   struct seqb_error *err)
{
    const int64_t until_ms =
        clock_now_ms() + search->options->connect_timeout_ms;
    struct walk walk = {.here.host = -1};
    struct place latest;
    enum seqb_status status = primary_find(&walk, search, until_ms, err);

    if (status == SEQB_OK && latest_find(&walk, search, until_ms, &latest)) {
        postgres_link_close(search->link);
        status = place_open(&latest, search, until_ms, err);
    }
    walk_end(&walk);
    return status;
}

enum seqb_status
postgres_primary_open(struct postgres_link *link, struct seqb_backend *base,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err)
{
    struct postgres_address address;
    const struct search search = {link, &address, base, options};
    enum seqb_status status = postgres_address_init(&address, options, err);

    if (status == SEQB_OK)
        status = places_try(&search, err);
    postgres_address_fini(&address);
    return status;
}

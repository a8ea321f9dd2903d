/* SPDX-License-Identifier: Apache-2.0 */
/* A tenant's turn at the authority: renew the id or find one, and give it
 * back. */
#include <stdlib.h>
#include <string.h>

#include "ha/tenant.h"
#include "ha/tenant_row.h"
#include "ha/worker_connection.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define REST_MIN_MS 20
#define REST_MAX_MS 1000

/* Between two turns of one that has no id, or whose authority fails. */
static int64_t rest_of(const struct tenant *tenant)
{
    const int64_t rest_ms = tenant->self.lease_ms / 12;

    if (rest_ms < REST_MIN_MS)
        return REST_MIN_MS;
    return rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS;
}

/* An operator's word, or what the store lost, counts for ids, too. */
static enum seqb_status check_authority(const struct tenant *tenant,
                                        struct seqb_error *err)
{
    struct ha_pool *pool = tenant->pool;
    int32_t member = 0;
    enum seqb_partition_state state;

    while (pool->workers[member] != tenant->authority)
        member++;
    pthread_mutex_lock(&pool->lock);
    state = pool->pool.member[member].state;
    pthread_mutex_unlock(&pool->lock);
    if (state != SEQB_PARTITION_DRAINED && state != SEQB_PARTITION_REFUSED &&
        state != SEQB_PARTITION_POISONED)
        return SEQB_OK;
    return error_set(err, SEQB_UNAVAILABLE, "it is %s",
                     seqb_partition_state_name(state));
}

/* What was seen of another history says nothing of this one. */
static void check_origin(struct tenant *tenant)
{
    char origin[SEQB_ORIGIN_SIZE];
    struct seqb_error why;

    (void)text_format(origin, sizeof origin, "%s",
                      tenant->authority->connection.backend->origin);
    if (origin[0] == '\0')
        (void)text_copy(origin, sizeof origin, "-");
    for (char *at = origin; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ')
            *at = '_';
    }
    if (strcmp(origin, tenant->self.origin) == 0)
        return;
    (void)text_copy(tenant->self.origin, sizeof tenant->self.origin, origin);
    tenant->origin_sight = (struct lease_sight){.is_seen = false};
    free(tenant->sights);
    tenant->sights = NULL;
    tenant->sight_count = 0;
    tenant_search_begin(tenant);
    if (tenant->id == TENANT_NOBODY)
        return;
    (void)error_set(&why, SEQB_AGAIN, "authority %s is not what it was",
                    worker_name(tenant->authority));
    tenant_lose(tenant, &why);
}

static enum seqb_status authority_connect(struct tenant *tenant,
                                          struct seqb_error *err)
{
    struct worker *authority = tenant->authority;

    if (check_authority(tenant, err) != SEQB_OK)
        return err->status;
    if (!worker_may_connect(authority, err))
        return err->status;
    if (worker_connect(authority, err) != SEQB_OK)
        return err->status;
    check_origin(tenant);
    return SEQB_OK;
}

/* A call that failed has cost the connection. */
static int64_t turn_fails(struct tenant *tenant, const struct seqb_error *err)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNAVAILABLE, "no worker id: authority %s: %s",
                    worker_name(tenant->authority), err->text);
    tenant_fail(tenant, &why);
    return rest_of(tenant);
}

int64_t tenant_turn(struct tenant *tenant)
{
    const int64_t start_us = clock_now_us();
    int64_t rest_ms = rest_of(tenant);
    struct seqb_error err;
    enum seqb_status status = authority_connect(tenant, &err);

    if (status != SEQB_OK)
        return turn_fails(tenant, &err);
    if (tenant->id != TENANT_NOBODY)
        status = tenant_renew(tenant, &err);
    if (status == SEQB_AGAIN) /* another id will do */
        status = SEQB_OK;
    if (status == SEQB_OK && tenant->id == TENANT_NOBODY)
        status = tenant_open_origin(tenant, &rest_ms, &err);
    if (status == SEQB_OK && tenant->id == TENANT_NOBODY)
        status = tenant_search(tenant, &rest_ms, &err);
    if (status == SEQB_AGAIN)
        tenant_fail(tenant, &err);
    if (status == SEQB_OK || status == SEQB_AGAIN)
        return tenant->id != TENANT_NOBODY ? tenant->self.lease_ms / 3
                                           : rest_ms;
    if (connection_is_open(&tenant->authority->connection))
        worker_fail(tenant->authority, &err, clock_now_us() - start_us);
    return turn_fails(tenant, &err);
}

void tenant_give_back(struct tenant *tenant)
{
    struct seqb_error err;

    if (tenant->id == TENANT_NOBODY ||
        authority_connect(tenant, &err) != SEQB_OK ||
        tenant->id == TENANT_NOBODY)
        return;
    tenant_row_return(tenant);
    tenant->id = TENANT_NOBODY;
}

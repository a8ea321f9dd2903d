/* SPDX-License-Identifier: Apache-2.0 */
/* See etcd_pool.h. */
#include "etcd_pool.h"

#include "platform/text.h"
#include "support/test.h"

void etcd_pool_place(struct server *const members[static ETCD_MEMBERS],
                     char out[static ETCD_PLACE_SIZE])
{
    assert_true(
        text_format(out, ETCD_PLACE_SIZE, "engine = \"etcd\"; endpoints = ["));
    for (int i = 0; i < ETCD_MEMBERS; i++)
        assert_true(text_append(out, ETCD_PLACE_SIZE, "%s \"%s:%d\"",
                                i > 0 ? "," : "", server_address(members[i]),
                                (int)server_port(members[i])));
    assert_true(text_append(out, ETCD_PLACE_SIZE, " ];"));
}

void etcd_pool_save(struct server *const members[static ETCD_MEMBERS])
{
    etcd_snapshot_save(members[0]);
    for (int i = 1; i < ETCD_MEMBERS; i++)
        etcd_snapshot_copy(members[0], members[i]);
}

void etcd_pool_restore(struct server *const members[static ETCD_MEMBERS],
                       const char *token)
{
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_kill(members[i]);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        etcd_snapshot_restore(members[i], token);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_start(members[i]);
}

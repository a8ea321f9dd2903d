/* SPDX-License-Identifier: Apache-2.0 */
/* An etcd of one member, which syncs each write. */
#include "bench/stores.h"

#include "backends/backends.h"
#include "platform/text.h"
#include "support/server_etcd.h"

size_t stores_add_etcd(struct store *out, const char *folder)
{
    const struct server *server = server_etcd(NULL);

    *out = (struct store){
        .ops = &backend_etcd,
        .direct = &direct_etcd,
        .options = {.name = "etcd",
                    .host = "127.0.0.1",
                    .timeout_ms = 20000,
                    .connect_timeout_ms = 20000,
                    .create = true},
        .place = "prefix",
        .suffix = "",
        .port = server_port(server),
    };
    (void)text_format(out->settings, sizeof out->settings,
                      "host = \"127.0.0.1\"; port = %d;", (int)out->port);
    (void)text_copy(out->folder, sizeof out->folder, folder);
    return 1;
}

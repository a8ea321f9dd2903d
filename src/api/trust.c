/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pool and the partition of a backend in a topology. */
#include <string.h>

#include <seqbroker/admin.h>

#include "config/config.h"
#include "offline/offline.h"
#include "platform/error.h"

/* Finds the backend's place. False: it is no partition. */
static bool place_find(const struct store_topology *topology,
                       const char *backend, struct offline_trust *out)
{
    for (size_t i = 0; i < topology->pool_count; i++) {
        const struct layout *layout = topology->layouts[i];

        for (int32_t j = 0; j < 1 << layout->bits; j++) {
            const struct store_options *store =
                &topology->backends[layout->partitions[j]];

            if (strcmp(store->options.name, backend) != 0)
                continue;
            out->pool = i;
            out->partition = j;
            return true;
        }
    }
    return false;
}

enum seqb_status seqb_trust(const char *topology, const char *backend,
                            const struct seqb_trust_options *options,
                            struct seqb_error *err)
{
    const struct config_request request = {.path = topology,
                                           .engines = options->engines};
    struct offline_trust trust = {.dry_run = options->dry_run,
                                  .report = options->report,
                                  .context = options->context};
    struct config *config = NULL;
    enum seqb_status status = config_open(&request, &config, err);

    if (status != SEQB_OK)
        return status;
    trust.topology = &config_topology(config)->stores;
    if (place_find(trust.topology, backend, &trust))
        status = offline_trust(&trust, err);
    else
        status = error_set(err, SEQB_INVALID,
                           "no partition has the backend '%.80s'", backend);
    config_close(config);
    return status;
}

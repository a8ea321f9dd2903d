/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a seqbrokerd for /metrics, as Prometheus does. What fails ends the
 * program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct scrape {
    int64_t ns;   /* from connecting to the end of the answer */
    size_t bytes; /* of the answer, its head included */
};

/* Once, over a connection of its own. */
void scrape(int http_port, struct scrape *out);

struct scraper;

/* Scrapes at once, and then at this interval, on a thread of its own. */
struct scraper *scraper_start(int http_port, double every_s);

/* Frees it. The server must still be there. */
void scraper_stop(struct scraper *scraper);

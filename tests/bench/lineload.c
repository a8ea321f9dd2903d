/* SPDX-License-Identifier: Apache-2.0 */
/* The client that saturates a server, by hand. Prints requests a second, and
 * how long a batch took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/saturate.h"

static const char usage[] =
    "usage: lineload tcp:PORT|tls:PORT|unix:PATH CONNECTIONS PIPELINE SECONDS\n"
    "                [KEY [COUNT]]\n"
    "Sends INCR KEY (lineload) to a server on this machine; with a COUNT\n"
    "above 1 SEQ.NEXT KEY COUNT, which seqbrokerd alone knows.\n";

int main(int argc, char **argv)
{
    struct saturate_options options = {.key = "lineload", .numbers = 1};
    struct saturated out;

    if (argc >= 5) {
        options.address = argv[1];
        options.connections = (int)strtol(argv[2], NULL, 10);
        options.pipeline = (int)strtol(argv[3], NULL, 10);
        options.seconds = strtod(argv[4], NULL);
    }
    if (argc >= 6)
        options.key = argv[5];
    if (argc == 7)
        options.numbers = (int)strtol(argv[6], NULL, 10);
    if (argc > 7 || options.connections < 1 || options.pipeline < 1 ||
        options.seconds <= 0 || options.numbers < 1 ||
        strlen(options.key) > 64) {
        fputs(usage, stderr);
        return 2;
    }
    out = saturate(&options);
    printf("%.0f requests/s, %.0f numbers/s, a batch took us: p50 %.0f "
           "p99 %.0f p99.9 %.0f\n",
           out.requests_s, out.requests_s * options.numbers, out.p50_us,
           out.p99_us, out.p999_us);
    return EXIT_SUCCESS;
}

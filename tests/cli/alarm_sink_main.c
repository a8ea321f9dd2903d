/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm_sink FILE ANSWER [CERTIFICATE KEY]: a server of HTTP, or of HTTPS, that
 * answers 200 with ANSWER. It prints its port, and appends what is posted to it
 * to FILE, a line each. Ended by a signal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/alarm_sink.h"

int main(int argc, char **argv)
{
    const struct sink_options options = {
        .answer = argc > 2 ? argv[2] : NULL,
        .certificate = argc > 4 ? argv[3] : NULL,
        .key = argc > 4 ? argv[4] : NULL,
    };
    struct sink *sink = argc > 2 ? sink_open(&options) : NULL;

    if (sink == NULL) {
        fputs("alarm_sink: cannot serve\n", stderr);
        return EXIT_FAILURE;
    }
    printf("%d\n", sink_port(sink));
    fflush(stdout);
    for (size_t count = 1;; count++) {
        const char *body = sink_wait(sink, count);
        FILE *file = fopen(argv[1], "a");

        if (file == NULL || fprintf(file, "%s\n", body) < 0 ||
            fclose(file) != 0)
            return EXIT_FAILURE;
    }
}

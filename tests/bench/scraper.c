/* SPDX-License-Identifier: Apache-2.0 */
/* One answer for each connection; see scraper.h. */
#include "bench/scraper.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/wire.h"
#include "platform/text.h"

struct scraper {
    int http_port;
    int every_ms;
    int ends[2]; /* of a pipe that is closed to stop it */
    pthread_t thread;
};

/* Reads until the server closes the connection. */
static size_t answer_read(int fd)
{
    static const char good[] = "HTTP/1.1 200 ";
    const size_t begin = sizeof good - 1;
    char input[16384];
    size_t bytes = begin;
    ssize_t got;

    if (recv(fd, input, begin, MSG_WAITALL) != (ssize_t)begin ||
        memcmp(input, good, begin) != 0)
        die_of_errno("/metrics was not answered");
    while ((got = read(fd, input, sizeof input)) > 0)
        bytes += (size_t)got;
    if (got < 0)
        die_of_errno("/metrics");
    return bytes;
}

void scrape(int http_port, struct scrape *out)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\n"
                                  "Host: localhost\r\n"
                                  "Connection: close\r\n\r\n";
    const ssize_t size = sizeof request - 1;
    const int64_t begin_ns = now_ns();
    char address[32];
    int fd;

    (void)text_format(address, sizeof address, "tcp:%d", http_port);
    fd = wire_dial(address);
    if (write(fd, request, (size_t)size) != size)
        die_of_errno("/metrics");
    out->bytes = answer_read(fd);
    out->ns = now_ns() - begin_ns;
    close(fd);
}

static void *scraper_run(void *context)
{
    const struct scraper *scraper = context;
    struct pollfd stop = {.fd = scraper->ends[0], .events = POLLIN};
    struct scrape ignored;

    do
        scrape(scraper->http_port, &ignored);
    while (poll(&stop, 1, scraper->every_ms) == 0);
    return NULL;
}

struct scraper *scraper_start(int http_port, double every_s)
{
    struct scraper *scraper = calloc(1, sizeof *scraper);

    if (scraper == NULL)
        die_of_errno("scraper");
    scraper->http_port = http_port;
    scraper->every_ms = (int)(every_s * 1e3);
    if (pipe2(scraper->ends, O_CLOEXEC) != 0 ||
        pthread_create(&scraper->thread, NULL, scraper_run, scraper) != 0)
        die_of_errno("scraper");
    return scraper;
}

void scraper_stop(struct scraper *scraper)
{
    close(scraper->ends[1]);
    pthread_join(scraper->thread, NULL);
    close(scraper->ends[0]);
    free(scraper);
}

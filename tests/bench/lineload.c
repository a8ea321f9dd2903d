/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load client that saturates a server whose replies are one line each: so
 * many connections, so many requests in flight on each, one epoll thread that
 * only counts line ends. Prints requests a second and how long a batch took.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 128
#define INPUT_SIZE (256 * 1024)

/* Latencies are counted by size: 16 steps to each doubling. */
#define STEP_BITS 4
#define STEPS     (1 << STEP_BITS)
#define BUCKETS   (64 * STEPS)

static const char usage[] =
    "usage: lineload tcp:PORT|unix:PATH CONNECTIONS PIPELINE SECONDS [KEY]\n"
    "Sends INCR KEY (lineload) to a server on this machine.\n";

struct connection {
    int fd;
    int replies; /* of the batch in flight */
    int64_t sent_ns;
};

struct load {
    const char *address;
    const char *key;
    int connections;
    int pipeline;
    double seconds;
    struct connection *all;
    char *batch; /* the requests of one pipeline */
    size_t batch_size;
    int epoll;
    int64_t requests;
    int64_t batches;
    int64_t latencies[BUCKETS]; /* batches, by ns */
    char input[INPUT_SIZE];
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "lineload: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* The upper STEP_BITS + 1 bits, and how many are below them. */
static int bucket_of(int64_t ns)
{
    int octave = 0;

    while (ns >> (octave + STEP_BITS + 1) > 0)
        octave++;
    return octave * STEPS + (int)(ns >> octave);
}

static double bucket_us(int bucket)
{
    int octave = bucket < 2 * STEPS ? 0 : bucket / STEPS - 1;

    return (double)((int64_t)(bucket - octave * STEPS) << octave) / 1000;
}

static double load_percentile(const struct load *load, double share)
{
    int64_t wanted = (int64_t)((double)load->batches * share);
    int bucket = 0;

    while (bucket < BUCKETS - 1 && wanted >= load->latencies[bucket])
        wanted -= load->latencies[bucket++];
    return bucket_us(bucket);
}

static int dial_tcp(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_port = htons((uint16_t)strtol(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int dial_local(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die(path);
    return fd;
}

static int load_dial(const struct load *load)
{
    if (strncmp(load->address, "tcp:", 4) == 0)
        return dial_tcp(load->address + 4);
    if (strncmp(load->address, "unix:", 5) == 0)
        return dial_local(load->address + 5);
    fputs(usage, stderr);
    exit(2);
}

static void load_make_batch(struct load *load)
{
    char request[256];
    int size =
        snprintf(request, sizeof request, "*2\r\n$4\r\nINCR\r\n$%zu\r\n%s\r\n",
                 strlen(load->key), load->key);

    load->batch_size = (size_t)size * (size_t)load->pipeline;
    load->batch = malloc(load->batch_size);
    if (load->batch == NULL)
        die("batch");
    for (int i = 0; i < load->pipeline; i++)
        memcpy(load->batch + (size_t)i * (size_t)size, request, (size_t)size);
}

static void load_connect(struct load *load)
{
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->all = calloc((size_t)load->connections, sizeof *load->all);
    if (load->epoll < 0 || load->all == NULL)
        die("start");
    for (int i = 0; i < load->connections; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        event.data.ptr = &load->all[i];
        load->all[i].fd = load_dial(load);
        if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->all[i].fd, &event))
            die("epoll");
    }
}

/* Batches are small against a socket's buffer, which is empty now. */
static void connection_send(struct connection *connection,
                            const struct load *load, int64_t at_ns)
{
    connection->replies = 0;
    connection->sent_ns = at_ns;
    if (write(connection->fd, load->batch, load->batch_size) !=
        (ssize_t)load->batch_size)
        die("write");
}

/* Counts the line ends of what has come; true when the batch is whole. */
static bool connection_receive(struct connection *connection, struct load *load)
{
    ssize_t got = read(connection->fd, load->input, sizeof load->input);
    const char *at = load->input;
    const char *end = load->input + got;

    if (got <= 0)
        die("read");
    if (connection->replies == 0 && *at == '-') {
        fprintf(stderr, "lineload: the server answered %.*s", (int)got, at);
        exit(EXIT_FAILURE);
    }
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        connection->replies++;
        at++;
    }
    return connection->replies >= load->pipeline;
}

static int64_t load_turn(struct load *load)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(load->epoll, events, EVENTS_MAX, 1000);

    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        int64_t at_ns = 0;

        if (!connection_receive(connection, load))
            continue;
        at_ns = now_ns();
        load->requests += load->pipeline;
        load->batches++;
        load->latencies[bucket_of(at_ns - connection->sent_ns)]++;
        connection_send(connection, load, at_ns);
    }
    return now_ns();
}

static void load_run(struct load *load)
{
    int64_t start_ns = now_ns();
    int64_t end_ns = start_ns + (int64_t)(load->seconds * 1e9);
    int64_t at_ns = start_ns;

    for (int i = 0; i < load->connections; i++)
        connection_send(&load->all[i], load, start_ns);
    while (at_ns < end_ns)
        at_ns = load_turn(load);
    printf("%.0f requests/s, a batch took us: p50 %.0f p99 %.0f p99.9 %.0f\n",
           (double)load->requests / ((double)(at_ns - start_ns) / 1e9),
           load_percentile(load, 0.5), load_percentile(load, 0.99),
           load_percentile(load, 0.999));
}

int main(int argc, char **argv)
{
    static struct load load;

    if (argc < 5 || argc > 6) {
        fputs(usage, stderr);
        return 2;
    }
    load.address = argv[1];
    load.connections = (int)strtol(argv[2], NULL, 10);
    load.pipeline = (int)strtol(argv[3], NULL, 10);
    load.seconds = strtod(argv[4], NULL);
    load.key = argc == 6 ? argv[5] : "lineload";
    if (load.connections < 1 || load.pipeline < 1 || load.seconds <= 0 ||
        strlen(load.key) > 64) {
        fputs(usage, stderr);
        return 2;
    }
    load_make_batch(&load);
    load_connect(&load);
    load_run(&load);
    free(load.batch);
    free(load.all);
    return EXIT_SUCCESS;
}

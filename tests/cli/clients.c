/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that take numbers while a test restarts what is behind an address:
 *   clients ADDR:PORT|PATH SHORT LONG
 * SHORT of them connect for each number; LONG of them stay connected, and
 * connect again when their connection ends. At SIGTERM each finishes its
 * number, and the program prints: refused   connections that could not be made
 *   failed    answers that are no number
 *   cut       connections for one number that ended without an answer
 *   ended     connections of those that stay connected that ended
 *   repeats   numbers that came twice
 *   numbers   all that came
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 64
#define LINE_SIZE   256
#define HANG_S      60 /* no verdict, but the end of a hang */

static atomic_bool is_over;

struct counts {
    size_t refused, failed, cut, ended;
};

struct client {
    pthread_t thread;
    const char *address;
    bool is_long;
    int fd; /* -1: not connected */
    struct counts counts;
    int64_t *numbers;
    size_t count, capacity;
};

static int open_socket(const char *address)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in tcp = {.sin_family = AF_INET};
    char host[INET_ADDRSTRLEN] = "";
    const bool is_local = address[0] == '/';
    const struct sockaddr *to = is_local ? (const struct sockaddr *)&local
                                         : (const struct sockaddr *)&tcp;
    const struct timeval hang = {.tv_sec = HANG_S};
    const int fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    if (!is_local) {
        snprintf(host, sizeof host, "%.*s", (int)strcspn(address, ":"),
                 address);
        tcp.sin_port =
            htons((uint16_t)strtol(address + strlen(host) + 1, NULL, 10));
        if (inet_pton(AF_INET, host, &tcp.sin_addr) != 1)
            abort();
    }
    snprintf(local.sun_path, sizeof local.sun_path, "%s", address);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &hang, sizeof hang);
    if (connect(fd, to, is_local ? sizeof local : sizeof tcp) == 0)
        return fd;
    close(fd);
    return -1;
}

static void disconnect(struct client *client)
{
    close(client->fd);
    client->fd = -1;
}

/* A line of the answer; false if the connection ended before. */
static bool line_read(int fd, char line[LINE_SIZE])
{
    size_t length = 0;

    while (length < LINE_SIZE - 1 &&
           (length == 0 || line[length - 1] != '\n')) {
        if (recv(fd, line + length, 1, 0) != 1)
            return false;
        length++;
    }
    line[length] = '\0';
    return true;
}

static void number_add(struct client *client, int64_t number)
{
    if (client->count == client->capacity) {
        client->capacity = client->capacity * 2 + 1024;
        client->numbers = realloc(client->numbers,
                                  client->capacity * sizeof *client->numbers);
        if (client->numbers == NULL)
            abort();
    }
    client->numbers[client->count++] = number;
}

static void take(struct client *client)
{
    static const char request[] = "INCR order\r\n";
    char line[LINE_SIZE];

    if (send(client->fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0 ||
        !line_read(client->fd, line)) {
        *(client->is_long ? &client->counts.ended : &client->counts.cut) += 1;
        disconnect(client);
    } else if (line[0] == ':') {
        number_add(client, strtoll(line + 1, NULL, 10));
    } else {
        client->counts.failed++;
        fprintf(stderr, "%s", line);
    }
}

static void *run(void *argument)
{
    struct client *client = argument;

    while (!atomic_load(&is_over)) {
        if (client->fd < 0)
            client->fd = open_socket(client->address);
        if (client->fd < 0) {
            client->counts.refused++;
            usleep(1000); /* else a restart is counted a million times */
            continue;
        }
        take(client);
        if (!client->is_long && client->fd >= 0)
            disconnect(client);
    }
    if (client->fd >= 0)
        disconnect(client);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static size_t repeats_count(struct client *all)
{
    size_t repeats = 0;

    if (all->numbers == NULL)
        return 0;
    qsort(all->numbers, all->count, sizeof *all->numbers, compare);
    for (size_t i = 1; i < all->count; i++)
        repeats += all->numbers[i] == all->numbers[i - 1];
    return repeats;
}

static void gather(struct client *all, const struct client *client)
{
    all->counts.refused += client->counts.refused;
    all->counts.failed += client->counts.failed;
    all->counts.cut += client->counts.cut;
    all->counts.ended += client->counts.ended;
    for (size_t i = 0; i < client->count; i++)
        number_add(all, client->numbers[i]);
    free(client->numbers);
}

static void print(struct client *all)
{
    printf("refused=%zu failed=%zu cut=%zu repeats=%zu ended=%zu numbers=%zu\n",
           all->counts.refused, all->counts.failed, all->counts.cut,
           repeats_count(all), all->counts.ended, all->count);
    free(all->numbers);
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS_MAX];
    struct client all = {.fd = -1};
    const size_t brief = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    const size_t count = argc == 4 ? brief + strtoul(argv[3], NULL, 10) : 0;
    sigset_t term;
    int number = 0;

    if (count == 0 || count > CLIENTS_MAX) {
        fprintf(stderr, "usage: clients ADDR:PORT|PATH SHORT LONG\n");
        return 2;
    }
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    for (size_t i = 0; i < count; i++) {
        clients[i] = (struct client){
            .address = argv[1], .is_long = i >= brief, .fd = -1};
        if (pthread_create(&clients[i].thread, NULL, run, &clients[i]) != 0)
            return 1;
    }
    sigwait(&term, &number);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < count; i++) {
        pthread_join(clients[i].thread, NULL);
        gather(&all, &clients[i]);
    }
    print(&all);
    return 0;
}

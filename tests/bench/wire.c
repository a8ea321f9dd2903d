/* SPDX-License-Identifier: Apache-2.0 */
/* Dialling, requests, and counting the lines of replies. */
#include "bench/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <openssl/ssl.h>

#include "bench/die.h"

static int dial_tcp(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int on = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_port = htons((uint16_t)strtol(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die_of_errno("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int dial_local(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die_of_errno(path);
    return fd;
}

int wire_dial(const char *address)
{
    if (strncmp(address, "tcp:", 4) == 0 || strncmp(address, "tls:", 4) == 0)
        return dial_tcp(address + 4);
    if (strncmp(address, "unix:", 5) == 0)
        return dial_local(address + 5);
    return -1;
}

SSL *wire_secure(const char *address, int fd)
{
    SSL_CTX *context = NULL;
    SSL *ssl = NULL;

    if (strncmp(address, "tls:", 4) != 0)
        return NULL;
    context = SSL_CTX_new(TLS_client_method());
    ssl = context == NULL ? NULL : SSL_new(context);
    SSL_CTX_free(context);
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
        die_of_errno("handshake");
    return ssl;
}

bool wire_request_make(const char *key, int numbers, struct wire_request *out)
{
    const size_t length = strlen(key);
    char count[16];
    int size;

    snprintf(count, sizeof count, "%d", numbers);
    out->numbers = numbers;
    out->lines = numbers == 1 ? 1 : numbers + 1; /* an array has a head */
    if (numbers == 1)
        size = snprintf(out->text, sizeof out->text,
                        "*2\r\n$4\r\nINCR\r\n$%zu\r\n%s\r\n", length, key);
    else
        size = snprintf(out->text, sizeof out->text,
                        "*4\r\n$8\r\nSEQ.NEXT\r\n$%zu\r\n%s\r\n"
                        "$5\r\nCOUNT\r\n$%zu\r\n%s\r\n",
                        length, key, strlen(count), count);
    out->size = (size_t)size;
    return numbers > 0 && out->size < sizeof out->text;
}

char *wire_batch_new(const struct wire_request *request, size_t count)
{
    char *batch = malloc(request->size * count);

    if (batch == NULL)
        die_of_errno("batch");
    for (size_t i = 0; i < count; i++)
        memcpy(batch + i * request->size, request->text, request->size);
    return batch;
}

/* No number holds a '-', so that any is an error's. */
int wire_count_lines(const char *input, size_t size)
{
    const char *at = input;
    const char *end = input + size;
    int lines = 0;

    if (*at == '-') {
        fprintf(stderr, "wire: the server answered %.*s", (int)size, input);
        exit(EXIT_FAILURE);
    }
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

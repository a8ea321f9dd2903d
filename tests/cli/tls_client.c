/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_client PORT CA_FILE COUNT [end|stay|renew]: sends COUNT times INCR in one
 * stream, reads the answers meanwhile, and prints how many came. "end": it says
 * that it sends no more, and reads on. "stay": it waits for the server's end.
 * With either the last word says how the server ended: "told", by a message of
 * TLS, or "cut". "renew": first it asks for new keys, and reads none of the
 * answers, until nothing more can be sent, or the server has taken thousands.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>

#define COMMAND "INCR tls\r\n"

enum { INPUT_SIZE = 65536, RENEWALS = 50000 };

struct client {
    SSL *ssl;
    char *text; /* all commands */
    size_t length;
    size_t sent;
    long lines; /* of answers */
    int waits;  /* for what of poll */
    bool is_over;
    const char *end;
};

static void die(const char *what)
{
    fprintf(stderr, "tls_client: %s failed\n", what);
    exit(1);
}

static SSL *dial(int port, const char *ca_file)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = NULL;

    if (fd < 0 || context == NULL ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE);
    if (SSL_CTX_load_verify_file(context, ca_file) != 1)
        die(ca_file);
    ssl = SSL_new(context);
    SSL_CTX_free(context);
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
        die("handshake");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return ssl;
}

static void client_prepare(struct client *client, long count)
{
    const size_t size = strlen(COMMAND);

    client->length = size * (size_t)count;
    client->text = malloc(client->length + 1);
    if (client->text == NULL)
        die("malloc");
    for (long i = 0; i < count; i++)
        memcpy(client->text + size * (size_t)i, COMMAND, size);
}

/* OpenSSL goes no further: it waits, or the server has ended. */
static void client_stop(struct client *client, int result, int waits)
{
    const int why = SSL_get_error(client->ssl, result);

    client->waits |= waits;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return;
    client->is_over = true;
    client->end = why == SSL_ERROR_ZERO_RETURN ? "told" : "cut";
}

static void client_renew(struct client *client)
{
    long count = 0;

    while (count < RENEWALS &&
           SSL_key_update(client->ssl, SSL_KEY_UPDATE_REQUESTED) == 1 &&
           SSL_do_handshake(client->ssl) == 1)
        count++;
    if (count < 1000)
        die("renewal");
}

static void client_send(struct client *client)
{
    while (client->sent < client->length) {
        const int put = SSL_write(client->ssl, client->text + client->sent,
                                  (int)(client->length - client->sent));

        if (put <= 0) {
            client_stop(client, put, POLLOUT);
            return;
        }
        client->sent += (size_t)put;
    }
}

static void client_receive(struct client *client)
{
    static char input[INPUT_SIZE];

    for (;;) {
        const int got = SSL_read(client->ssl, input, sizeof input);

        if (got <= 0) {
            client_stop(client, got, POLLIN);
            return;
        }
        for (int i = 0; i < got; i++)
            client->lines += input[i] == '\n';
    }
}

int main(int argc, char **argv)
{
    const long count = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    const bool ends = argc > 4 && strcmp(argv[4], "end") == 0;
    const bool stays = ends || (argc > 4 && strcmp(argv[4], "stay") == 0);
    bool has_ended = false;
    struct client client = {.end = "cut"};

    if (argc < 4)
        die("usage");
    client.ssl = dial((int)strtol(argv[1], NULL, 10), argv[2]);
    client_prepare(&client, count);
    if (argc > 4 && strcmp(argv[4], "renew") == 0)
        client_renew(&client);
    while (!client.is_over && (stays || client.lines < count)) {
        struct pollfd wait = {.fd = SSL_get_fd(client.ssl)};

        client.waits = 0;
        client_send(&client);
        if (client.sent == client.length && ends && !has_ended)
            has_ended = SSL_shutdown(client.ssl) >= 0;
        client_receive(&client);
        wait.events = (short)client.waits;
        if (!client.is_over && (stays || client.lines < count) &&
            poll(&wait, 1, 60000) != 1)
            die("wait");
    }
    printf("%ld%s%s\n", client.lines, stays ? " " : "",
           stays ? client.end : "");
    SSL_free(client.ssl);
    free(client.text);
    return 0;
}

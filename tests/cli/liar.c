/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A false daemon: liar SOCKET ANSWER [on]. Listens on a unix socket and gives
 * the answer, in which "\n", "\r", "\e" and "\\" are what printf makes of them,
 * to whatever is asked, until SIGTERM. With `on`, it goes on with zeros until
 * the client hangs up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static char escaped(char letter)
{
    switch (letter) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'e':
        return '\033';
    default:
        return letter;
    }
}

/* In place. */
static size_t unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0')
            *to++ = escaped(*++from);
        else
            *to++ = *from;
    }
    return (size_t)(to - text);
}

static void send_on(int client)
{
    static const char zeros[1 << 20];

    while (send(client, zeros, sizeof zeros, MSG_NOSIGNAL) > 0)
        ;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    char aside[sizeof address.sun_path];
    char words[4096];
    size_t length;

    if (argc < 3 || argc > 4 || strlen(argv[1]) + 1 >= sizeof address.sun_path)
        die("usage: liar SOCKET ANSWER [on]");
    length = unescape(argv[2]);
    /* Who sees the socket can connect. */
    snprintf(aside, sizeof aside, "%s~", argv[1]);
    memcpy(address.sun_path, aside, strlen(aside) + 1);
    if (bind(listener, (const struct sockaddr *)&address, sizeof address) !=
            0 ||
        listen(listener, 8) != 0 || rename(aside, argv[1]) != 0)
        die("liar");
    for (;;) {
        const int client = accept(listener, NULL, NULL);

        while (client >= 0 && read(client, words, sizeof words) > 0) {
            (void)!write(client, argv[2], length);
            if (argc == 4)
                send_on(client);
        }
        (void)close(client);
    }
}

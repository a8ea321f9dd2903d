/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol: what a client gets while calls of the daemon fail. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "served.h"
#include "support/test.h"

#define ADVANCE 1000
#define LOGIN   "AUTH " SERVED_USER " " SERVED_PASSWORD "\r\n"

static int64_t highest;  /* number of order that came */
static int64_t asked;    /* of an advance */
static int64_t advanced; /* all numbers of order come above it */
static size_t events;    /* lines of the log that were listed */
static bool is_in;       /* logged in, while connected */
static bool is_reloaded; /* a reload is said to be applied */

/* Where the reply ends that begins there. NULL: more of it is to come. */
static const char *reply_end(const char *at)
{
    const char *line_end = strstr(at, "\r\n");
    long count;

    if (line_end == NULL)
        return NULL;
    count = strtol(at + 1, NULL, 10);
    line_end += 2;
    switch (*at) {
    case '+':
    case '-':
    case ':':
        return line_end;
    case '$':
        if (strlen(line_end) < (size_t)count + 2)
            return NULL;
        if (strncmp(line_end + count, "\r\n", 2) != 0)
            sweep_fail("'%s' does not end where it says", at);
        return line_end + count + 2;
    case '*':
        for (at = line_end; at != NULL && count > 0; count--)
            at = reply_end(at);
        return at;
    default:
        sweep_fail("'%s' is no reply", at);
    }
}

/* --- what is right --- */

static bool is_ok(struct served *served)
{
    return strcmp(served->heard, "+OK\r\n") == 0;
}

static bool is_login(struct served *served)
{
    is_in = is_ok(served);
    return is_in;
}

static bool is_refused(struct served *served)
{
    return strncmp(served->heard, "-WRONGPASS ", 11) == 0;
}

/* As many integers, or texts that end in one. Returns the highest; 0: not so
 * many. */
static int64_t numbers_of(struct served *served, const char *key, char before,
                          int count)
{
    const char *at = served->heard;
    int64_t most = 0;

    for (int i = 0; i < count; i++) {
        int64_t number;
        char *end;

        at = strchr(at, before);
        if (at == NULL)
            return 0;
        number = strtoll(at + 1, &end, 10);
        if (number <= 0 || *end != '\r')
            return 0;
        sweep_note(served->sweep, key, &number, 1);
        most = number > most ? number : most;
        at = end;
    }
    return strchr(at, before) == NULL ? most : 0;
}

static bool has_orders(struct served *served, int count)
{
    const int64_t most = numbers_of(served, "order", ':', count);

    if (most > 0 && most <= advanced)
        sweep_fail("%" PRId64 " came after an advance to %" PRId64, most,
                   advanced);
    highest = most > highest ? most : highest;
    return most > 0;
}

static bool has_one(struct served *served)
{
    return has_orders(served, 1);
}

static bool has_three(struct served *served)
{
    return has_orders(served, 3);
}

static bool has_texts(struct served *served)
{
    return numbers_of(served, "bill", 'B', 2) > 0;
}

static bool has_status(struct served *served)
{
    static const char *const words[] = {
        "\r\nbackend\r\n$1\r\na\r\n", "\r\nbackend\r\n$1\r\nb\r\n",
        "\r\nkey\r\n$5\r\norder\r\n", "\r\nkey\r\n$4\r\nbill\r\n"};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strstr(served->heard, words[i]) == NULL)
            return false;
    return true;
}

static bool has_partitions(struct served *served)
{
    return strncmp(served->heard, "*2\r\n", 4) == 0;
}

static bool is_rescued(struct served *served)
{
    return is_ok(served) || strstr(served->heard, "needs no rescue") != NULL;
}

static bool has_events(struct served *served)
{
    const size_t before = events;

    if (*served->heard != '*')
        return false;
    events = strtoul(served->heard + 1, NULL, 10);
    return events >= before;
}

/* Whether the audit's file has the line of the last advance. */
static bool is_in_audit(const struct served *served)
{
    char path[128];
    char line[1024];
    char after[64];
    bool is_in_it = false;
    FILE *file;

    (void)text_format(path, sizeof path, "%s/" SERVED_AUDIT,
                      served->sweep->folder);
    (void)text_format(after, sizeof after, " after=%" PRId64 " ", asked);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        is_in_it |= strstr(line, "event=order ") != NULL &&
                    strstr(line, " command=SEQ.ADVANCE ") != NULL &&
                    strstr(line, after) != NULL;
    if (file != NULL)
        (void)fclose(file);
    return is_in_it;
}

/* Nothing takes an advance back: it has its line, or the audit counts it as
 * lost. */
static bool is_advanced(struct served *served)
{
    if (*served->heard == '-')
        return false;
    advanced = asked;
    if (!is_in_audit(served) &&
        (served->is_strict || served->server->daemon.access.audit.lost == 0))
        sweep_fail("an advance to %" PRId64 " is not in the audit", asked);
    return true;
}

static bool has_reloaded(struct served *served)
{
    is_reloaded = *served->heard != '-';
    return is_reloaded;
}

static bool has_late(struct served *served)
{
    return !is_reloaded || numbers_of(served, "late", ':', 1) > 0;
}

/* --- what may be answered instead --- */

static bool is_true_error(const struct served *served)
{
    static const char *const begins[] = {
        "-NOMEMORY ",         "-UNAVAILABLE ",
        "-TIMEOUT ",          "-AGAIN ",
        "-STATEDIR ",         "-UNREACHABLE ",
        "-UNCERTAIN ",        "-ERR out of memory",
        "-ERR another order", /* of a connection that was closed */
    };

    for (size_t i = 0; i < COUNT_OF(begins); i++)
        if (strncmp(served->heard, begins[i], strlen(begins[i])) == 0)
            return true;
    /* Of a topology that cannot be read. */
    return served->sweep->kind == FAULTS_CALLS &&
           strncmp(served->heard, "-CONFIG ", 8) == 0;
}

struct step {
    const char *say;
    bool (*is_right)(struct served *served);
};

/* Sends a command and waits for its answer; false if the daemon closed the
 * connection. */
static bool ask(struct served *served, const char *command)
{
    const char *end = NULL;

    is_in &= served->fd >= 0;
    if (!served_say(served, command))
        return false;
    while ((end = reply_end(served->heard)) == NULL)
        if (!served_hear(served)) {
            served_close(served);
            return false;
        }
    if (*end != '\0')
        sweep_fail("one answer too many: %s", served->heard);
    return true;
}

/* Further each time, since one that failed may have moved some partitions. */
static void say_advance(char *out, size_t size)
{
    asked = (asked > highest ? asked : highest) + ADVANCE;
    (void)text_format(out, size, "SEQ.ADVANCE order %" PRId64 "\r\n", asked);
}

static bool do_step(struct served *served, const struct step *step)
{
    if (!ask(served, step->say)) {
        if (served->is_strict)
            sweep_fail("the connection is closed after %s", step->say);
        return true;
    }
    if (step->is_right(served))
        return true;
    if (!is_true_error(served))
        sweep_fail("%s is answered: %.300s", step->say, served->heard);
    return false;
}

static void talk(struct served *served)
{
    static char advance[64];
    static const struct step login = {LOGIN, is_login};
    static const struct step steps[] = {
        {"AUTH " SERVED_USER " wrong\r\n", is_refused},
        {LOGIN, is_login},
        {"INCR order\r\n", has_one},
        {"SEQ.NEXT order COUNT 3\r\n", has_three},
        {"SEQ.NUMBER bill COUNT 2\r\n", has_texts},
        {"SEQ.STATUS\r\n", has_status},
        {"SEQ.SHOW EVENTS\r\n", has_events},
        {"SEQ.SHOW ERRORS\r\n", has_partitions},
        {"SEQ.PARTITION RESCUE main/0\r\n", is_rescued},
        {advance, is_advanced},
        {"INCR order\r\n", has_one},
        {"SEQ.RELOAD\r\n", has_reloaded},
        {"INCR late\r\n", has_late},
    };

    is_reloaded = false;
    (void)served_topology(served->sweep, ", { key = \"late\"; deadline = $; }");
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        int tries = 0;

        if (i > 1 && !(is_in && served->fd >= 0) &&
            !(do_step(served, &login) && is_in))
            continue;
        do {
            say_advance(advance, sizeof advance);
        } while (!do_step(served, &steps[i]) && served_again(served, tries++));
    }
}

static void serve(struct sweep *sweep)
{
    served_run(sweep, false, talk);
}

static const struct sweep_scene scene = {
    .before = serve, .during = serve, .after = serve, .places = 24};

/* All of the few places. */
static const struct sweep_scene whole = {
    .before = serve, .during = serve, .after = serve, .places = 64};

TEST(memory_of_a_client)
{
    sweep_run(&scene, FAULTS_MEMORY);
}

TEST(calls_of_a_client)
{
    sweep_run(&scene, FAULTS_CALLS);
}

TEST(memory_of_the_loop_with_a_client)
{
    sweep_run(&whole, FAULTS_LOOP_MEMORY);
}

TEST(memory_of_sqlite_with_a_client)
{
    sweep_run(&scene, FAULTS_SQLITE_MEMORY);
}

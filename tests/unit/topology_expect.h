/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies in few words, and what is told of them. */
#pragma once

#include <stddef.h>

#include "config/config.h"
#include "support/test.h"

/* The parts of a sound topology, a line each. */
#define BACKEND "backends=({name=\"a\";engine=\"sqlite\";path=\"a.db\";});\n"
#define POOL    "pools=({name=\"p\";partitions=[\"a\"];});\n"
#define KEY     "sequences=({key=\"k\";});\n"

/* A backend or pool of one line, for lists of them. */
#define SQLITE(name)                                                           \
    "{name=\"" name "\";engine=\"sqlite\";path=\"" name ".db\";}"
#define REDIS(more) "{name=\"r\";engine=\"redis\";" more "}"
#define WINDOWED                                                               \
    "backends=(" REDIS("") "," SQLITE(                                         \
        "a") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"r\"];authority=\"a\";});\n"

struct topology_wrong {
    const char *text;
    const char *lines; /* all that is told */
};

/* Parses and compares all lines that are told; "" if it is sound. */
void topology_expect(const char *text, const char *expected);

void topology_expect_all(const struct topology_wrong *cases, size_t count);

/* It is sound, and these are its notes and its warnings, a line each. */
void topology_expect_notes(const char *text, const char *notes,
                           const char *warnings);

/* Opens a topology file that must be sound. */
struct config *topology_open_sound(const char *path);

/* A group set-up: the state directory of these topologies is /state. */
int topology_setup(void **state);

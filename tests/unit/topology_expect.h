/* SPDX-License-Identifier: Apache-2.0 */
/* Short topologies, and checks of what is reported about them. */
#pragma once

#include <stddef.h>

#include "config/config.h"
#include "support/test.h"

/* Parts of a valid topology, a line each. */
#define BACKEND "backends=({name=\"a\";engine=\"sqlite\";path=\"a.db\";});\n"
#define POOL    "pools=({name=\"p\";partitions=[\"a\"];});\n"
#define KEY     "sequences=({key=\"k\";});\n"

/* A backend or pool on one line, for lists. */
#define SQLITE(name)                                                           \
    "{name=\"" name "\";engine=\"sqlite\";path=\"" name ".db\";}"
#define REDIS(more) "{name=\"r\";engine=\"redis\";" more "}"
#define WINDOWED                                                               \
    "backends=(" REDIS("") "," SQLITE(                                         \
        "a") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"r\"];authority=\"a\";});\n"

struct topology_wrong {
    const char *text;
    const char *lines; /* all lines reported */
};

/* Parses a topology, and compares all lines reported; "" if it is valid. */
void topology_expect(const char *text, const char *expected);

void topology_expect_all(const struct topology_wrong *cases, size_t count);

/* The topology must be valid, with these notes (NULL: any) and warnings, a line
 * each. */
void topology_expect_notes(const char *text, const char *notes,
                           const char *warnings);

/* A topology, which must be valid, of a file (NULL: the default one) or as a
 * text of its own. It stays until the program ends. */
const struct config_topology *topology_of_file(const char *path);
const struct config_topology *topology_of_text(const char *text);

/* A group set-up: sets the state directory to /state. */
int topology_setup(void **state);

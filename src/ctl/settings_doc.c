/* SPDX-License-Identifier: Apache-2.0 */
/* The words around the table of settings, which the library owns. */
#include "ctl/settings_doc.h"

#include <stdbool.h>
#include <string.h>

#include <seqbroker/admin.h>

struct section_doc {
    const char *name;
    const char *text;
};

static const struct section_doc sections[] = {
    {"broker", "One group, may be left out: `broker = { ... };`"},
    {"backends",
     "A list of groups, one a store: `backends = ( { ... }, { ... } );` "
     "Each must stand in a pool. A setting that the engine does not use is a "
     "mistake."},
    {"pools", "A list of groups: `pools = ( { ... } );` A pool's 2^n "
              "partitions look like one source of numbers."},
    {"sequences",
     "A list of groups, one a key: `sequences = ( { ... } );` May be left out "
     "if there is `auto_sequences`."},
    {"auto_sequences",
     "One group, may be left out: keys that are in no `sequences` but match "
     "its pattern make their sequence by themselves."},
    {"ids", "A group inside one of `sequences`, or in `auto_sequences`: "
            "`ids = { ... };` All of it is part of the layout. See time.md."},
};

static const char intro[] =
    "# Configuration\n"
    "\n"
    "<!-- Made by scripts/make-config-docs from the table of settings. -->\n"
    "\n"
    "A *topology* is a text file in the format of libconfig. It says which\n"
    "backends there are, how they stand in pools, and which sequences there\n"
    "are. `seqctl check FILE` tells every mistake in it, each with file and\n"
    "line, and touches no backend. Without a file the embedded default is\n"
    "used, which stands at the end.\n"
    "\n"
    "## How it is written\n"
    "\n"
    "```\n"
    "# a comment, as are // and /* ... */\n"
    "broker = { name = \"orders\"; };        # a group\n"
    "backends = ( { ... }, { ... } );      # a list of groups\n"
    "partitions = [ \"a\", \"b\" ];            # a list of names\n"
    "timeout = \"200ms\";                    # a duration, in quotes\n"
    "max_unused = 100000;                  # an integer\n"
    "prefetch = false;                     # a boolean: true or false\n"
    "@include \"backends.conf\"              # at the start of a line\n"
    "```\n"
    "\n"
    "- **Durations** are a whole number and a unit: `ms`, `s`, `m`, `h`, `d`.\n"
    "  A number without a unit is a mistake.\n"
    "- **Integers** may be decimal or `0x...`, up to 64 bits, with or without\n"
    "  libconfig's suffix `L`.\n"
    "- **Included files** are looked up in the folder of the file that names\n"
    "  them. A topology is at most 1 MiB, includes and all.\n"
    "- **Unknown names** are mistakes, with the nearest known one as a hint.\n"
    "\n"
    "## Where files are\n"
    "\n"
    "| file | is looked up in |\n"
    "|---|---|\n"
    "| the topology | the working directory |\n"
    "| an included file | the folder of the file that includes it |\n"
    "| `path` of an sqlite backend | the state directory |\n"
    "| `password_file`, `tls_ca`, `tls_cert`, `tls_key` | the folder of the "
    "topology file |\n"
    "| `state_dir` | the working directory |\n"
    "\n"
    "The **state directory** is the first of these that is set:\n"
    "\n"
    "1. the environment's `SEQBROKER_STATE_DIR`,\n"
    "2. `state_dir` in the topology,\n"
    "3. `$XDG_STATE_HOME/seqbroker`,\n"
    "4. `$HOME/.local/state/seqbroker`.\n"
    "\n"
    "A broker makes it, with mode 0700, where it is absent.\n"
    "\n"
    "## Secrets\n"
    "\n"
    "A password comes from one of three places:\n"
    "\n"
    "| setting | the password is |\n"
    "|---|---|\n"
    "| `password_file` | the one line of that file |\n"
    "| `password_env` | in that variable of the broker's environment |\n"
    "| `password` | in the topology itself |\n"
    "\n"
    "What holds one (the password file; the topology, or the file included by\n"
    "it, in which `password`, or a `conninfo` with a password in it, stands)\n"
    "must not be readable by group and others: `chmod 600`. No message, log\n"
    "line or status holds a password.\n"
    "\n"
    "## What cannot be changed later\n"
    "\n"
    "A pool's name, the number and order of its partitions, its authority, "
    "its\n"
    "`window_bits`, and of a sequence its `memory_bits`, `period`,\n"
    "`year_starts`, `ids`, `time_zone`, and the base and the key of its\n"
    "template's `shuffle` are the *layout*. The first broker writes it into "
    "every backend; one "
    "that\n"
    "comes with another layout refuses to start and says what differs, since\n"
    "it would hand out old numbers again. Another name of a pool is not "
    "noticed\n"
    "where no partition is direct and the others have lost their data: never\n"
    "rename a pool. A value has 63 bits:\n"
    "\n"
    "```\n"
    "direct:    counter | n partition bits | memory bits\n"
    "windowed:  window | window bits | n partition bits | memory bits\n"
    "```\n"
    "\n"
    "At least 8 bits must be left for the window's number, 20 for a direct\n"
    "counter.\n"
    "\n"
    "The counter of a sequence with `ids` has the bits that they give it:\n"
    "partition, memory and window bits come out of these, and at least 8 must\n"
    "be left. A snowflake's time, worker and counter bits and those of\n"
    "partition and memory are 63 together.\n";

static const struct section_doc *find_section(const char *name)
{
    static const struct section_doc unknown = {"", ""};

    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(sections[i].name, name) == 0)
            return &sections[i];
    }
    return &unknown;
}

/* A bar would end the cell. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
    (void)fputs(" |", out);
}

static void print_code(FILE *out, const char *text)
{
    if (*text == '\0')
        (void)fputs(" |", out);
    else
        (void)fprintf(out, " `%s` |", text);
}

static void print_row(FILE *out, const struct seqb_setting *setting)
{
    const bool is_required = strcmp(setting->initial, "required") == 0;

    (void)fputc('|', out);
    print_code(out, setting->name);
    (void)fputc(' ', out);
    print_cell(out, setting->type);
    (void)fputc(' ', out);
    print_cell(out, setting->range);
    if (is_required)
        (void)fputs(" required |", out);
    else
        print_code(out, setting->initial);
    (void)fputc(' ', out);
    print_cell(out, setting->help);
    (void)fputc('\n', out);
}

static void print_heading(FILE *out, const char *section)
{
    (void)fprintf(out,
                  "\n## %s\n\n%s\n\n"
                  "| setting | type | range | default | meaning |\n"
                  "|---|---|---|---|---|\n",
                  section, find_section(section)->text);
}

void settings_doc_print(FILE *out)
{
    size_t count;
    const struct seqb_setting *settings = seqb_settings(&count);
    const char *section = "";

    (void)fputs(intro, out);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].section, section) != 0) {
            section = settings[i].section;
            print_heading(out, section);
        }
        print_row(out, &settings[i]);
    }
    (void)fprintf(out, "\n## The embedded default\n\n```\n%s```\n",
                  seqb_embedded_topology());
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing topologies, and opening brokers on them. */
#include "bench/topology.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/die.h"
#include "platform/text.h"
#include "support/folder.h"

#define TEXT_SIZE 16384

void topology_write(struct topology *topology, const char *text)
{
    FILE *file;

    (void)text_copy(topology->folder, sizeof topology->folder,
                    "/tmp/seqbroker-bench-XXXXXX");
    if (mkdtemp(topology->folder) == NULL)
        die("no folder can be made under /tmp");
    (void)text_format(topology->path, sizeof topology->path, "%s/bench.conf",
                      topology->folder);
    file = fopen(topology->path, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        die(topology->path);
}

void topology_sqlite(struct topology *topology, int partitions,
                     const char *rest)
{
    char text[TEXT_SIZE] = "broker = { name = \"bench\"; };\nbackends = (";
    bool fits = true;

    for (int i = 0; i < partitions; i++)
        fits &= text_append(text, sizeof text,
                            "%s\n  { name = \"s%d\"; engine = \"sqlite\"; "
                            "path = \"%d.db\"; }",
                            i == 0 ? "" : ",", i, i);
    fits &= text_append(text, sizeof text,
                        " );\npools = ( { name = \"main\"; partitions = [");
    for (int i = 0; i < partitions; i++)
        fits &=
            text_append(text, sizeof text, "%s \"s%d\"", i == 0 ? "" : ",", i);
    fits &= text_append(text, sizeof text, " ]; } );\n%s\n", rest);
    if (!fits)
        die("too long");
    topology_write(topology, text);
}

void topology_list(const struct topology *topology, int sequences, int taken,
                   const char *rest)
{
    FILE *file = fopen(topology->path, "we");

    if (file == NULL)
        die(topology->path);
    fputs("broker = { name = \"bench\"; };\nbackends = (", file);
    for (int i = 0; i < 4; i++)
        fprintf(file,
                "%s { name = \"s%d\"; engine = \"sqlite\"; "
                "path = \"%d.db\"; }",
                i == 0 ? "" : ",", i, i);
    fputs(
        " );\npools = ( { name = \"main\"; timeout = \"20s\";\n  partitions = "
        "[ \"s0\", \"s1\", \"s2\", \"s3\" ]; } );\nsequences = (",
        file);
    for (int i = 0; i < sequences; i++)
        fprintf(file, "%s { key = \"k%d\"; %s }\n", i == 0 ? "" : ",", i,
                i == taken ? "memory_bits = 10; deadline = \"60s\";"
                           : "memory_bits = 3;");
    if (fprintf(file, " );\n%s\n", rest) < 0 || fclose(file) != 0)
        die(topology->path);
}

void topology_remove(struct topology *topology)
{
    folder_remove(topology->folder);
}

struct seqb_broker *topology_open(const struct topology *topology)
{
    struct seqb_broker *broker = NULL;
    struct seqb_error err;

    if (setenv("SEQBROKER_STATE_DIR", topology->folder, 1) != 0)
        die("out of memory");
    if (seqb_open(topology->path, &broker, &err) != SEQB_OK)
        die(err.text);
    return broker;
}

struct seqb_sequence *sequence_of(struct seqb_broker *broker, const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;

    if (seqb_get_sequence(broker, key, &sequence, &err) != SEQB_OK)
        die(err.text);
    return sequence;
}

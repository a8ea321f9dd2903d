/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says what is wrong: of a pool of 64 partitions, most of which
 * are drained, each is in it, or is counted. */
#include <string.h>

#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define PARTITIONS 64
#define DRAINED    60
#define ENTRY      "is drained: drained by an operator"

static void write_topology(struct scene *scene)
{
    static char text[4 * SCENE_TEXT_SIZE];

    (void)text_copy(text, sizeof text,
                    "broker = { open_timeout = \"60s\"; };\nbackends = (");
    for (int i = 0; i < PARTITIONS; i++)
        (void)text_append(text, sizeof text,
                          "%s{ name = \"b%d\"; engine = \"sqlite\"; path = "
                          "\"b%d.db\"; connect_timeout = \"60s\"; }",
                          i == 0 ? "" : ",", i, i);
    (void)text_append(text, sizeof text,
                      ");\npools = ({ name = \"main\"; timeout = \"60s\"; "
                      "authority = \"none\"; partitions = [");
    for (int i = 0; i < PARTITIONS; i++)
        (void)text_append(text, sizeof text, "%s\"b%d\"", i == 0 ? "" : ", ",
                          i);
    assert_true(
        text_append(text, sizeof text,
                    "]; });\nsequences = ({ key = \"order\"; deadline = "
                    "\"60s\"; });\n"));
    scene_open(scene, scene_write(scene, "t.conf", text));
}

static void read_line(struct scene *scene, char *line, size_t size)
{
    enum seqb_health health = SEQB_HEALTH_UNKNOWN;
    struct seqb_error err = {.text = ""};

    assert_ok(seqb_get_health(scene->broker, &health, line, size, &err));
    assert_int_equal(health, SEQB_HEALTH_DEGRADED);
}

/* Entries that are whole: "partition 3 (b3) is drained: ...". */
static size_t count_entries(const char *line)
{
    size_t count = 0;

    for (int i = 0; i < DRAINED; i++) {
        char entry[128];

        (void)text_format(entry, sizeof entry, "partition %d (b%d) " ENTRY, i,
                          i);
        count += strstr(line, entry) != NULL;
    }
    return count;
}

TEST_WITH(SCENE, each_partition_that_is_down_is_told_or_counted)
{
    static const size_t sizes[] = {256, 512, 513, 514, 515, 560, 1024, 2048};
    struct seqb_error err = {.text = ""};
    char line[SEQB_HEALTH_SIZE];

    write_topology(scene);
    for (int32_t i = 0; i < DRAINED; i++)
        assert_ok(
            seqb_command(scene->broker, "main", i, SEQB_ORDER_DRAIN, &err));
    read_line(scene, line, sizeof line);
    assert_int_equal(count_entries(line), DRAINED);
    assert_null(strstr(line, "more"));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char more[64];
        size_t entries;

        read_line(scene, line, sizes[i]);
        entries = count_entries(line);
        (void)text_format(more, sizeof more, ENTRY "; and %zu more",
                          DRAINED - entries);
        if (entries == 0 || strlen(line) < strlen(more) ||
            strcmp(line + strlen(line) - strlen(more), more) != 0)
            fail_msg("of %zu bytes: %s", sizes[i], line);
    }
}

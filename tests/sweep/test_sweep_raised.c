/* SPDX-License-Identifier: Apache-2.0 */
/* The file of what was raised: a raise that was noted without a word in the log
 * is known at the next start. */
#include <stdatomic.h>
#include <string.h>

#include "ha/raised.h"
#include "platform/text.h"
#include "support/test.h"
#include "sweep.h"

#define NOTES 4

static const char *path_of(const struct sweep *sweep)
{
    static char path[64];

    (void)text_format(path, sizeof path, "%s/raised", sweep->folder);
    return path;
}

static int64_t noted;       /* the highest that must be known */
static atomic_bool is_told; /* that a note is not on the disk */

static void hear(void *context, enum seqb_log_level level, const char *line)
{
    (void)context;
    (void)level;
    if (strstr(line, "raise") != NULL)
        atomic_store(&is_told, true);
}

static void note(struct sweep *sweep)
{
    struct raised *raised = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    const int64_t begin = noted;

    seqb_set_logger(hear, NULL);
    atomic_store(&is_told, false);
    if (!sweep_expect(sweep, raised_open(path_of(sweep), &raised, &err), &err,
                      "open"))
        return;
    for (int64_t i = 1; i <= NOTES; i++) {
        atomic_store(&is_told, false);
        raised_note(raised, "a", "order", begin + i);
        if (!atomic_load(&is_told))
            noted = begin + i;
    }
    raised_close(raised);
}

static void find(struct sweep *sweep)
{
    struct raised *raised = NULL;
    struct seqb_error err = {SEQB_OK, ""};

    (void)sweep_expect(sweep, raised_open(path_of(sweep), &raised, &err), &err,
                       "open");
    if (raised_find(raised, "a", "order") < noted)
        sweep_fail("a raise is lost");
    raised_close(raised);
}

static const struct sweep_scene raises = {
    .before = note, .during = note, .after = find};

TEST(memory_of_raises)
{
    sweep_run(&raises, FAULTS_MEMORY);
}

TEST(calls_of_raises)
{
    sweep_run(&raises, FAULTS_CALLS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The files of what was raised and of what was granted: what was noted without
 * a word in the log is known at the next start. */
#include <stdatomic.h>
#include <string.h>

#include "ha/raised.h"
#include "platform/text.h"
#include "store/granted.h"
#include "support/test.h"
#include "sweep.h"

#define NOTES 4

static const char *path_of(const struct sweep *sweep, const char *name)
{
    static char path[64];

    (void)text_format(path, sizeof path, "%s/%s", sweep->folder, name);
    return path;
}

static int64_t noted;       /* the highest that must be known */
static atomic_bool is_told; /* that a note is not on the disk */

static void hear(void *context, enum seqb_log_level level, const char *line)
{
    (void)context;
    (void)level;
    if (strstr(line, "raise") != NULL || strstr(line, "grant") != NULL)
        atomic_store(&is_told, true);
}

static void note(struct sweep *sweep)
{
    struct raised *raised = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    const int64_t begin = noted;

    seqb_set_logger(hear, NULL);
    atomic_store(&is_told, false);
    if (!sweep_expect(sweep,
                      raised_open(path_of(sweep, "raised"), &raised, &err),
                      &err, "open"))
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

    (void)sweep_expect(sweep,
                       raised_open(path_of(sweep, "raised"), &raised, &err),
                       &err, "open");
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

/* --- grants --- */

static const struct granted_counter order = {"a", "order", GRANTED_FOREVER};

/* A broker says once that notes fail. */
static void note_grants(struct sweep *sweep)
{
    struct granted *granted = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    const int64_t begin = noted;
    uint32_t line = 0;

    seqb_set_logger(hear, NULL);
    atomic_store(&is_told, false);
    if (!sweep_expect(sweep,
                      granted_open(path_of(sweep, "granted"), &granted, &err),
                      &err, "open"))
        return;
    (void)granted_find(granted, &order, &line);
    for (int64_t i = 1; i <= NOTES && !atomic_load(&is_told); i++) {
        granted_note(granted, &order, begin + i, &line);
        if (!atomic_load(&is_told))
            noted = begin + i;
    }
    granted_close(granted);
}

static void find_grants(struct sweep *sweep)
{
    struct granted *granted = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    uint32_t line = 0;

    (void)sweep_expect(sweep,
                       granted_open(path_of(sweep, "granted"), &granted, &err),
                       &err, "open");
    if (granted_find(granted, &order, &line) < noted)
        sweep_fail("a grant is lost");
    granted_close(granted);
}

static const struct sweep_scene grants = {
    .before = note_grants, .during = note_grants, .after = find_grants};

TEST(memory_of_grants)
{
    sweep_run(&grants, FAULTS_MEMORY);
}

TEST(calls_of_grants)
{
    sweep_run(&grants, FAULTS_CALLS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes paths absolute. Of src/config, only this file reads the environment. */
#include "config/build/build.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/error.h"

/* "a//b/./c" becomes "a/b/c". ".." stays, because a symbolic link may be before
 * it. */
static void simplify(char *path)
{
    char *to = path;

    for (const char *from = path; *from != '\0';) {
        if (from[0] == '/' && from[1] == '/')
            from++;
        else if (from[0] == '/' && from[1] == '.' &&
                 (from[2] == '/' || from[2] == '\0'))
            from += 2;
        else
            *to++ = *from++;
    }
    *to = '\0';
}

char *path_join(struct arena *arena, const char *folder, const char *path)
{
    char *joined = *path == '/' ? arena_format(arena, "%s", path)
                                : arena_format(arena, "%s/%s", folder, path);

    if (joined != NULL)
        simplify(joined);
    return joined;
}

const char *path_variable(const char *name)
{
    const char *value = getenv(name);

    return value == NULL || *value == '\0' ? NULL : value;
}

static const char *wanted_state_dir(struct arena *arena, const char *configured)
{
    const char *own = path_variable("SEQBROKER_STATE_DIR");
    const char *xdg = path_variable("XDG_STATE_HOME");
    const char *home = path_variable("HOME");

    if (own != NULL)
        return own;
    if (configured != NULL)
        return configured;
    if (xdg != NULL)
        return arena_format(arena, "%s/seqbroker", xdg);
    if (home != NULL)
        return arena_format(arena, "%s/.local/state/seqbroker", home);
    return NULL;
}

enum seqb_status path_state_dir(struct arena *arena, const char *configured,
                                const char **out, struct seqb_error *err)
{
    const char *wanted = wanted_state_dir(arena, configured);
    char here[PATH_MAX] = "";

    if (arena->is_out_of_memory)
        return error_set(err, SEQB_NO_MEMORY, "topology: out of memory");
    if (wanted == NULL)
        return error_set(err, SEQB_STATE_DIR,
                         "no state directory: set SEQBROKER_STATE_DIR, "
                         "state_dir in the topology, XDG_STATE_HOME or HOME");
    if (*wanted != '/' && getcwd(here, sizeof here) == NULL)
        return error_set(err, SEQB_STATE_DIR,
                         "the state directory %s is relative to a folder that "
                         "cannot be found: %s; make it absolute",
                         wanted, strerror(errno));
    *out = path_join(arena, here, wanted);
    if (*out == NULL)
        return error_set(err, SEQB_NO_MEMORY, "topology: out of memory");
    return SEQB_OK;
}

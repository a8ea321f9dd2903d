/* SPDX-License-Identifier: Apache-2.0 */
#include "store_file.h"

#include <sqlite3.h>

#include "support/test.h"

int store_file_edit(const struct scene *scene, const char *name,
                    const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    int changes;

    assert_int_equal(sqlite3_open(scene_state_path(scene, name), &db),
                     SQLITE_OK);
    (void)sqlite3_busy_timeout(db, SCENE_PATIENCE_MS);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    changes = sqlite3_changes(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return changes;
}

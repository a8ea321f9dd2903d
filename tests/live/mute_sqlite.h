/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations whose SQLite files do not list the keys of the old pool: a key
 * that nobody names is left out.
 */
#pragma once

#include <seqbroker/admin.h>

#include "scene.h"

/* As seqb_migrate; `options` may be NULL. From the main thread only.
 * migrate_mute: the engine has no `list`. migrate_forgetting: the files have
 * lost their claims and the counters of generation 1, as far as a list shows.
 */
enum seqb_status migrate_mute(struct scene *scene, const char *from,
                              const char *to,
                              const struct seqb_migrate_options *options,
                              struct seqb_error *err);
enum seqb_status migrate_forgetting(struct scene *scene, const char *from,
                                    const char *to, struct seqb_error *err);

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are in another file than the list of tables. */
#pragma once

#include "status/status.h"

#define MEMBER(type, member)                                                   \
    .offset = offsetof(struct type, member),                                   \
    .size = sizeof(((struct type *)NULL)->member)

/* daemon_rows.c; each ends with a row without a name. */
extern const struct status_field event_fields[];
extern const struct status_field client_fields[];
extern const struct status_field stats_fields[];
extern const struct status_field config_fields[];
extern const struct status_field setting_fields[];
extern const struct status_field errors_fields[];
extern const struct status_field limit_fields[];

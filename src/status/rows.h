/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of fields that are not in the file of the list of tables. */
#pragma once

#include "status/status.h"

#define MEMBER(type, member)                                                   \
    .offset = offsetof(struct type, member),                                   \
    .size = sizeof(((struct type *)NULL)->member)

/* Of daemon_rows.c. Each ends with a row without a name. */
extern const struct status_field event_fields[];
extern const struct status_field client_fields[];
extern const struct status_field stats_fields[];
extern const struct status_field config_fields[];
extern const struct status_field setting_fields[];
extern const struct status_field errors_fields[];
extern const struct status_field limit_fields[];

/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of SN-@{date, format=%Y%m%d}-@{seq, width=6}-@{check,
 * algorithm=damm} as a service would write them that has no templates: what
 * bench_number measures templates against. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BY_HAND_SIZE 48 /* bytes of a text, with its final 0 */
#define BY_HAND_DATE 9  /* bytes of its date, likewise */

/* The date of that moment, in the process's time zone, by localtime_r and
 * strftime. */
void by_hand_date(int64_t begins_ms, char out[BY_HAND_DATE]);

/* The text by snprintf, its check digit by a loop over the table. */
void by_hand_write(const char *date, int64_t number, char out[BY_HAND_SIZE]);

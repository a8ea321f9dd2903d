/* SPDX-License-Identifier: Apache-2.0 */
/* The one error of all engines for a name that is too long. */
#include "backends/name.h"

#include "platform/error.h"

enum seqb_status name_refuse(const char *where, const char *name,
                             struct seqb_error *err)
{
    return error_set(err, SEQB_INVALID, "%s: the name %.64s... is too long",
                     where, name);
}

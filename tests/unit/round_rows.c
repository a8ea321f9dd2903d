/* SPDX-License-Identifier: Apache-2.0 */
/* Zones that set their clocks back, years that begin in April, ids with and
 * without shards; and fields of unit/custom_fields.h in every place. */
#include "unit/round_rows.h"
#include "support/test.h"

#define BERLIN "Europe/Berlin"
#define APIA   "Pacific/Apia" /* had no 30th of December 2011 */

static const struct round_kind none = {.key = "order"};
static const struct round_kind any = {.zone = BERLIN};
static const struct round_kind second = {
    .key = "order", .unit = PERIOD_SECOND, .zone = BERLIN};
static const struct round_kind minute = {
    .key = "order", .unit = PERIOD_MINUTE, .zone = APIA};
static const struct round_kind hour = {
    .key = "order", .unit = PERIOD_HOUR, .zone = BERLIN};
static const struct round_kind day = {
    .key = "order", .unit = PERIOD_DAY, .zone = APIA};
static const struct round_kind week = {
    .key = "order", .unit = PERIOD_WEEK, .zone = BERLIN};
static const struct round_kind month = {.key = "order", .unit = PERIOD_MONTH};
static const struct round_kind quarter = {"order", PERIOD_QUARTER, BERLIN,
                                          .year_month = 4, .year_day = 6};
static const struct round_kind year = {"order", PERIOD_YEAR, APIA,
                                       .year_month = 4, .year_day = 6};
static const struct round_kind ids = {
    .key = "order", .unit = PERIOD_SECOND, .ids = &round_ids};
static const struct round_kind ids_alone = {.unit = PERIOD_MINUTE,
                                            .ids = &round_ids_alone};
static const struct round_kind ids_hour = {
    .key = "order", .unit = PERIOD_HOUR, .ids = &round_ids_hour};

const struct round_row round_rows[] = {
    {&none, "@{seq}"},
    {&none, "QJ@{seq, width=6}"},
    {&none, "@{seq, width=6, overflow=refuse}"},
    {&none, "@{seq, width=19, overflow=refuse}"},
    {&none, "@{seq, width=32}@@{x}"},
    {&none, "@{seq, base=16, width=4}-@{seq, width=3}"},
    {&none, "@{seq, base=32, width=13}@{check, algorithm=iso7064-mod37}"},
    {&none, "@{seq, base=36}@{check, algorithm=luhn-36, over=seq}"},
    {&none, "@{seq, base=58}"},
    {&none, "0@{seq, base=62, width=2}."},
    {&none, "SN-@{seq, width=8}-@{check, algorithm=jd}"},
    {&none, "@{check, algorithm=luhn}@{seq, width=3, overflow=refuse}"},
    {&none, "@{shuffle, width=5}"},
    {&none, "@{shuffle, width=1, base=62}"},
    {&none, "@{shuffle, width=3, base=16, overflow=refuse}/@{seq}"},
    {&none, "@{shuffle, width=12, base=32}@{check, algorithm=iso7064-mod97}"},
    {&none, "@{date}@{seq, width=4}"},
    {&none, "@{date, format=%G-W%V-%u %H%M%S}/@{seq}/@{date, format=%j}"},
    {&none, "@{param, name=area, max=5}-@{seq, width=5}"},
    {&none, "@{param, name=a, width=3, alphabet=digits}@{seq, width=4}"
            "@{check, algorithm=gs1}"},
    {&none, "@{seq, width=4}x@{param, name=b, max=64, alphabet=digits}"
            "@{check, algorithm=damm}"},
    {&none, "@{param, name=a, max=4, alphabet=alpha}@{seq, width=3, "
            "overflow=refuse}@{check, algorithm=verhoeff, over=digits}"},
    {&none,
     "@{param, name=a, alphabet=upper, default=Q}1@{seq}-"
     "@{param, name=b, width=64, alphabet=upnum}.@{param, name=c, max=1}"},
    {&none, "@{any0}@{seq}@{any9}"},
    {&none, "@{fix0}@{seq, width=4}-@{var0}@{fix3}@{check, algorithm=luhn}"
            "@{fix5}@{fix9}"},
    {&none, "@{var9}@{fix3}-@{var5}.@{seq, width=7}@{check, algorithm=damm}"},
    {&any, "@{key}/@{seq}"},
    {&any, "@{seq}/@{key}@{check, algorithm=verhoeff, over=seq}"},
    {&any, "@{date, format=%y%m%d}@{seq, width=5}/@{var3}/@{key}"},
    {&second, "@{date, format=%y%m%d%H%M%S}@{seq, width=2}"},
    {&minute, "@{date}@{seq, width=4}@{check, algorithm=iso7064-mod97}"},
    {&hour, "@{date, format=%Y%j}@{shuffle, width=4}@{date, format=%H}"},
    {&hour, "@{var0}.@{date}@{fix3}@{shuffle, width=2, base=36}"},
    {&day, "SN-@{date, format=%Y%m%d}-@{seq, width=6}-"
           "@{check, algorithm=damm}"},
    {&day, "@{date, format=%y%m%d}@{shuffle, width=5, overflow=refuse}"},
    {&day, "@{date, format=%d.%m.%Y}@{seq, width=3}@{date, format=(%u)}"},
    {&day, "@{date, format=%g%V%u}@{param, name=shop, max=6}-@{seq}"
           "@{check, algorithm=luhn}@{check, algorithm=damm, over=seq}"},
    {&week, "@{date}@{seq, width=5}@{fix5}@{check, algorithm=gs1}"},
    {&week, "@{seq, width=3}/@{date, format=KW%V %g}"},
    {&month, "@{date, format=%y%m}@{shuffle, width=4, base=36}"
             "@{check, algorithm=luhn-36}"},
    {&quarter, "@{date}@{seq, width=4}"},
    {&quarter, "Q@{date, format=%q}/@{date, format=%y}-@{seq}"},
    {&year, "@{check, algorithm=luhn-36, over=digits}@{key}@{date}-@{seq}"},
    {&ids, "@{date}@{shard, width=4}@{seq, width=6}"},
    {&ids, "@{date}@{seq, width=6}@{shard, base=36, width=3}@{fix3}"
           "@{check, algorithm=iso7064-mod37}"},
    {&ids, "@{shard}-@{shuffle, width=5}-@{date}"},
    {&ids_alone, "@{date}@{seq, base=58, width=5}"},
    {&ids_alone, "@{fix3}@{date, format=%Y%m%d-%H%M}-@{seq}"},
    {&ids_hour, "@{param, name=a, width=2}@{date, format=%y%j%H}"
                "@{shard, base=32}:@{var0}:@{shuffle, width=6, base=32}"},
};

const size_t round_row_count = COUNT_OF(round_rows);

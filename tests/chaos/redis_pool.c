/* SPDX-License-Identifier: Apache-2.0 */
/* See redis_pool.h. */
#include "redis_pool.h"

#include "platform/text.h"
#include "support/test.h"

/* A window has a few grants only, so that most of what goes back is found in
 * one that is in use. */
#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"redis-a\"; engine = \"redis\"; %s },"                        \
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"windows.db\"; }"  \
    ");"                                                                       \
    "pools = ( { name = \"main\"; partitions = [ \"redis-a\" ];"               \
    "            authority = \"authority\"; window_bits = 12;"                 \
    "            timeout = \"2s\"; rescue_after = \"100ms\"; } );"             \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

void redis_pool_set(struct chaos *chaos,
                    void (*set)(struct chaos *chaos, const char *text),
                    const char *place)
{
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, TOPOLOGY, place));
    set(chaos, text);
}

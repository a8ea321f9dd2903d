/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum is the one that its name says. */

#include "platform/checksum.h"
#include "support/test.h"

/* The check value of CRC-64/XZ in every catalogue of such sums. */
TEST(known_text_has_its_known_sum)
{
    assert_true(checksum_of("123456789", 9) == UINT64_C(0x995dc9bbdf1939fa));
    assert_true(checksum_of("", 0) == 0);
}

static void flip(char *bytes, size_t bit)
{
    bytes[bit / 8] = (char)((unsigned char)bytes[bit / 8] ^ 1u << bit % 8);
}

TEST(every_flipped_bit_changes_the_sum)
{
    char text[] = "block 4096 128\nblock 8192 64\n";
    const uint64_t sum = checksum_of(text, sizeof text);

    for (size_t i = 0; i < sizeof text * 8; i++) {
        flip(text, i);
        assert_true(checksum_of(text, sizeof text) != sum);
        flip(text, i);
    }
    assert_true(checksum_of(text, sizeof text) == sum);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which states of a Galera node let it be used, and which two nodes are of one
 * component. A server shows one reason at a time seldom. */
#include "backends/mysql/galera/node.h"

#include "support/test.h"

TEST(node_is_used_only_if_it_is_ready_synced_and_of_the_primary_component)
{
    static const struct {
        struct node_state state;
        bool is_usable;
    } cases[] = {
        {{.ready = "ON", .local = "4", .status = "Primary"}, true},
        {{.ready = "OFF", .local = "4", .status = "Primary"}, false},
        {{.ready = "ON", .local = "2", .status = "Primary"}, false},
        {{.ready = "ON", .local = "4", .status = "non-Primary"}, false},
        {{.ready = "ON", .local = "4", .status = "Disconnected"}, false},
        {{.ready = "", .local = "", .status = ""}, false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (mysql_node_is_usable(&cases[i].state) != cases[i].is_usable)
            fail_msg("%s, %s, %s", cases[i].state.ready, cases[i].state.local,
                     cases[i].state.status);
    }
}

/* Two halves of a cluster may each have made themselves primary, by hand. */
TEST(nodes_of_two_components_vouch_for_nothing)
{
    const struct node_state node = {
        .status = "Primary", .cluster = "a", .view = "7"};
    struct node_state other = node;

    assert_true(mysql_node_is_with(&node, &other));
    other.view[0] = '8';
    assert_false(mysql_node_is_with(&node, &other));
    other = node;
    other.cluster[0] = 'b';
    assert_false(mysql_node_is_with(&node, &other));
    other = node;
    other.status[0] = 'n';
    assert_false(mysql_node_is_with(&node, &other));
    assert_false(mysql_node_is_with(&other, &node));
}

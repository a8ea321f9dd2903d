/* SPDX-License-Identifier: Apache-2.0 */
/* Takes numbers: c++ -std=c++17 hello.cpp $(pkg-config --cflags --libs
 * seqbroker) */
#include <cstdio>
#include <iostream>

#include <seqbroker/seqbroker.hpp>

int main()
{
    try {
        const seqbroker::broker broker; /* closes itself */
        const seqbroker::sequence orders = broker.get_sequence("order");
        std::int64_t number = 0;

        std::cout << orders.next() << '\n';
        for (const std::int64_t n : orders.take(3))
            std::cout << n << '\n';
        if (orders.try_next(number, nullptr) == SEQB_AGAIN) /* throws nothing */
            std::cout << "none is at hand\n";
    } catch (const seqbroker::error &e) {
        std::fprintf(stderr, "%s: %s\n", seqb_status_name(e.details.status),
                     e.what());
        return 1;
    }
}

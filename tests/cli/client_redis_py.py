# SPDX-License-Identifier: Apache-2.0
"""redis-py as a client by TLS: takes numbers one by one and in pipelines.

Usage: client_redis_py.py PORT CA_FILE [user NAME | certificate CRT KEY]
A user's password is in $CLIENT_PASSWORD. Prints the numbers, a line each, or
the class and the text of the error.
"""
import os
import sys

import redis

ONE_BY_ONE = 10
PIPELINES = 5
IN_A_PIPELINE = 100


def options(kind=None, *words):
    if kind == "user":
        return {"username": words[0], "password": os.environ["CLIENT_PASSWORD"]}
    if kind == "certificate":
        return {"ssl_certfile": words[0], "ssl_keyfile": words[1]}
    return {}


def numbers(client):
    for _ in range(ONE_BY_ONE):
        yield client.incr("order")
    for _ in range(PIPELINES):
        with client.pipeline(transaction=False) as pipeline:
            for _ in range(IN_A_PIPELINE):
                pipeline.incr("order")
            yield from pipeline.execute()


def main(port, ca_file, *words):
    client = redis.Redis(
        host="localhost",
        port=int(port),
        ssl=True,
        ssl_ca_certs=ca_file,
        ssl_check_hostname=True,
        **options(*words),
    )
    try:
        for number in numbers(client):
            print(number)
    except redis.RedisError as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(1)


main(*sys.argv[1:])

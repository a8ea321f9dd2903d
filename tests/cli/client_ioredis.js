// SPDX-License-Identifier: Apache-2.0
// ioredis as a client by TLS: see client_redis_py.py, whose arguments and
// output are the same.
'use strict';

const fs = require('fs');
const Redis = require('ioredis');

const ONE_BY_ONE = 10;
const PIPELINES = 5;
const IN_A_PIPELINE = 100;

const [port, caFile, kind, ...words] = process.argv.slice(2);
const options = {
    host: 'localhost',
    port: Number(port),
    tls: {ca: fs.readFileSync(caFile)},
    lazyConnect: true,
    retryStrategy: () => null,
};
if (kind === 'user') {
    options.username = words[0];
    options.password = process.env.CLIENT_PASSWORD;
} else if (kind === 'certificate') {
    options.tls.cert = fs.readFileSync(words[0]);
    options.tls.key = fs.readFileSync(words[1]);
}

async function main() {
    const client = new Redis(options);
    let why = null;

    client.on('error', (error) => {
        why = error;
    });
    try {
        await client.connect();
        for (let i = 0; i < ONE_BY_ONE; i++)
            console.log(await client.incr('order'));
        for (let i = 0; i < PIPELINES; i++) {
            const pipeline = client.pipeline();
            for (let j = 0; j < IN_A_PIPELINE; j++)
                pipeline.incr('order');
            for (const [error, number] of await pipeline.exec()) {
                if (error)
                    throw error;
                console.log(number);
            }
        }
        await client.quit();
    } catch (error) {
        console.log(`${error.name}: ${(why || error).message}`);
        process.exitCode = 1;
        client.disconnect();
    }
}

main();

#!/usr/bin/env node
// Tells how much is stored in the ConfigMaps it is shown. Listens on the port in PORT, 8787 without it.
import { createServer } from 'node:http';

const port = Number(process.env.PORT ?? 8787);

/** What the operator shall do for one request. */
function outcomeOf({ contexts }) {
  const counted = contexts.at(-1)?.snapshots?.counted ?? [];
  const bytes = counted.reduce((sum, { filterResult }) => sum + filterResult, 0);
  return {
    valuesPatch: [{ op: 'add', path: '/size/stored', value: { count: counted.length, bytes } }],
    metrics: [{ name: 'size_stored_bytes', action: 'set', value: bytes }],
  };
}

/** Keys of the requests that were told of, so that a repeated one is not told of again. A real server would store them. */
const told = new Set();

function tellOnce(key, { hook, module, contexts }) {
  if (told.has(key)) return;
  told.add(key);
  console.log(`${module} ${hook}: ${contexts.map(({ binding }) => binding).join(', ')}`);
}

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function handle(request, response) {
  if (request.method !== 'POST' || request.url !== '/size')
    return reply(response, 404, { message: 'there is only POST /size' });
  try {
    const chunks = await request.toArray();
    const body = JSON.parse(Buffer.concat(chunks).toString());
    tellOnce(request.headers['idempotency-key'], body);
    reply(response, 200, outcomeOf(body));
  } catch (error) {
    reply(response, 400, { message: String(error) });
  }
}

createServer((request, response) => void handle(request, response)).listen(port, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${port}/size`),
);

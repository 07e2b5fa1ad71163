#!/usr/bin/env node
// Gives modules host names, and takes them back when the modules go. Listens on the port in PORT, 8789 without it.
import { createServer } from 'node:http';

const port = Number(process.env.PORT ?? 8789);
/** Which module has a name. A real server would store them. */
const modules = new Map();

/** Every object learns the name, one more object holds it, and it shows in the status of the module. */
function preReconcile({ object, children }) {
  const { name } = object.metadata;
  const host = `${name}.example.com`;
  modules.set(host, name);
  const named = Object.entries(children).map(([key, child]) => {
    const annotations = { ...child.metadata.annotations, 'example.com/host': host };
    return [key, { ...child, metadata: { ...child.metadata, annotations } }];
  });
  const address = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-address` },
    data: { host },
  };
  return {
    object: { ...object, status: { ...object.status, host } },
    children: { ...Object.fromEntries(named), address },
  };
}

function finalize({ object }) {
  for (const [host, name] of modules) {
    if (name !== object.metadata.name) continue;
    modules.delete(host);
    console.log(`${host} is free again`);
  }
  return {};
}

const phases = { 'pre-reconcile': preReconcile, finalize };

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

async function handle(request, response) {
  if (request.method === 'GET') return reply(response, 200, { names: [...modules.keys()] });
  if (request.url !== '/v1')
    return reply(response, 404, { message: 'there is only POST /v1', permanent: true });
  try {
    const chunks = await request.toArray();
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const act = phases[body.phase];
    if (act === undefined)
      return reply(response, 400, { message: `what is ${body.phase}?`, permanent: true });
    reply(response, 200, act(body));
  } catch (error) {
    reply(response, 400, { message: String(error) });
  }
}

createServer((request, response) => void handle(request, response)).listen(port, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${port}/v1`),
);

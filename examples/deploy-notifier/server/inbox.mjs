#!/usr/bin/env node
// Stands for a chat: takes messages by POST, lists them for GET. Listens on the port in PORT, 8788 without it.
import { createServer } from 'node:http';

const port = Number(process.env.PORT ?? 8788);
const texts = [];

async function handle(request, response) {
  if (request.method === 'GET') return response.end(texts.map((text) => `${text}\n`).join(''));
  const chunks = await request.toArray();
  const { text } = JSON.parse(Buffer.concat(chunks).toString());
  texts.push(text);
  console.log(text);
  response.writeHead(204).end();
}

createServer((request, response) => void handle(request, response)).listen(port, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${port}/`),
);

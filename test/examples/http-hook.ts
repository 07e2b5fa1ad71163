import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { Backend } from '../support/world.ts';
import { exampleDirectory, exampleWorld, SOON } from './example-world.ts';

/** The server of the example on a port of its own, and the modules with that port in the address. */
async function startServer() {
  const [port = 0] = await freePorts(1);
  const directory = await mkdtemp(join(tmpdir(), 'http-hook-'));
  await cp(exampleDirectory('http-hook', 'modules'), directory, { recursive: true });
  const file = join(directory, '001-size/hooks/size.http.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('127.0.0.1:8787', `127.0.0.1:${port}`));
  const server = execa(process.execPath, [exampleDirectory('http-hook', 'server/server.mjs')], {
    env: { PORT: String(port) },
    reject: false,
  });
  const said: string[] = [];
  server.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await expect.poll(() => said.join(''), SOON).toContain(`listening on http://127.0.0.1:${port}/size`);
  return {
    modules: directory,
    said: () => said.join(''),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server;
      await rm(directory, { recursive: true });
    },
  };
}

export function httpHookTests(backend: () => Backend): void {
  test('http-hook: the chart and the metric follow the responses of the server', apiIndependent, async () => {
    await using server = await startServer();
    await using world = await exampleWorld(backend(), 'http-hook', {
      directories: { modules: server.modules },
    });
    await world.converge();
    const one = { metadata: { name: 'one', labels: { example: 'counted' } }, data: { a: '1' } };
    await world.create('configmaps', one);
    const stored = async (): Promise<string> => JSON.stringify(await world.get('configmaps', 'size'));
    await expect.poll(stored, SOON).toContain(String.raw`{\"bytes\":9,\"count\":1}`);
    const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
    expect(await metrics.text()).toContain('size_stored_bytes{hook="hooks/size.http.yaml",module="size"} 9');
    expect(server.said()).toContain('size hooks/size.http.yaml: beforeHelm\n');
    expect(server.said()).toContain('size hooks/size.http.yaml: counted\n');
  });
}

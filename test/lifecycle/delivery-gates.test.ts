import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeliveryWorld, expectNothingRemoved } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { revisionsOf } from '../support/release-revisions.ts';
import { runInWorld } from '../support/world-command.ts';
import type { FileTree } from '../support/world-files.ts';

const { signal } = new AbortController();
const POLL = { timeout: 60_000, interval: 200 };

/** Responds to every query with one value, or with no series. */
class StubPrometheus implements AsyncDisposable {
  value: string | undefined;
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (_request, response) => {
      const result = this.value === undefined ? [] : [{ metric: {}, value: [0, this.value] }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
  }

  static async start(): Promise<StubPrometheus> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new StubPrometheus(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** A Job that is suspended starts on no API server, with or without nodes. */
const NEVER_READY: FileTree = {
  'templates/job.yaml': `apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Chart.Name }}}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: none}]}}}
`,
};

describeRegistries('gates of versions from a registry', () => {
  describeLifecycle((backend) => {
    test('a version that never gets ready is replaced by the last good one, once, also after a restart', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      const url = registry.url('platform');
      const good = await lab.push(url, name, '1.0.0');
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, {
        source: name,
        version: { channel: 'stable' },
        gates: [{ ready: '20s' }],
        onFailure: { rollback: true, after: '2m' },
      });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { version: '1.0.0', digest: good } });
      const bad = await lab.push(url, name, '1.1.0', { files: NEVER_READY });
      lab.passInterval();
      await lab.untilRuns(name, '1.1.0');
      const status = await lab.untilObserved(name, {
        installed: { version: '1.0.0', digest: good },
        failed: [{ version: '1.1.0', digest: bad }],
        pending: { reason: 'Failed' },
      });
      await lab.untilRuns(name, '1.0.0');
      expect(JSON.stringify(status['failed'])).toContain('Job');
      const revisions = await revisionsOf(world, name);
      expect(revisions.map(({ number, version }) => `${number} ${version}`)).toEqual([
        '1 1.0.0',
        '2 1.1.0',
        '3 1.0.0',
      ]);
      const logged = world.log.records.filter((each) => each['msg'] === 'delivery of a module');
      expect(logged.map((each) => each['event'])).toEqual([
        'VersionInstalled',
        'VersionInstalled',
        'UpdateFailed',
        'RolledBack',
        'UpdatePending',
      ]);
      const runs = (await readFile(join(world.directory, 'runs'), 'utf8')).trim().split('\n');
      expect(runs.at(-1)).toMatch(/^1\.0\.0 /u);

      // Neither in ten minutes, nor by a restart.
      const calls = (await world.helmCalls()).length;
      for (let round = 0; round < 60; round += 1) lab.passInterval();
      await world.stop();
      await world.converge();
      lab.passInterval();
      await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'True', 'Failed');
      await lab.untilRuns(name, '1.0.0');
      expect((await world.helmCalls()).slice(calls).join('\n')).not.toContain('1.1.0');
      await lab.push(url, name, '1.1.1');
      lab.passInterval();
      await lab.untilRuns(name, '1.1.1');
      await lab.untilObserved(name, { lastGood: { version: '1.1.1' } });
      await expectNothingRemoved(world);
    });

    test('a bad value brings the last good version back, and what cannot be measured decides nothing; others wait', async () => {
      const names = [uniqueName(), uniqueName()] as const;
      const [measured, other] = names;
      await using registry = await FaultRegistry.start(signal);
      await using prometheus = await StubPrometheus.start();
      await using lab = await DeliveryWorld.create(backend(), names, { flags: { 'update-failures': '1' } });
      const { world } = lab;
      const url = registry.url('platform');
      const gate = (address: string) => ({ query: { url: address, promql: 'errors', max: 1 } });
      for (const name of names) await lab.push(url, name, '1.0.0');
      prometheus.value = '0';
      await world.converge();
      await lab.create('ModuleSource', measured, { url, interval: '10s' });
      for (const name of names)
        await lab.create('ModuleInstall', name, {
          source: measured,
          version: { channel: 'stable' },
          gates: [gate(prometheus.url)],
          onFailure: { rollback: true, after: '2m' },
        });
      for (const name of names) {
        await lab.untilRuns(name, '1.0.0');
        await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });
      }

      // Neither a query without data nor a server that is away is a failure, however long.
      prometheus.value = undefined;
      await lab.push(url, measured, '1.1.0');
      lab.passInterval();
      await lab.untilRuns(measured, '1.1.0');
      for (const address of [prometheus.url, 'http://127.0.0.1:9']) {
        await lab.patch('ModuleInstall', measured, { gates: [gate(address)] });
        await lab.untilCondition('ModuleInstall', measured, 'Ready', 'False', 'Updating');
        world.clock.jump(600_000);
        await expect
          .poll(async () => (await runInWorld(world, 'module', 'versions', measured)).stdout, POLL)
          .toMatch(address === prometheus.url ? /observed .*no data/u : /observed .*cannot be queried/u);
        const status = await lab.status('ModuleInstall', measured);
        expect(status).toMatchObject({ installed: { version: '1.1.0' }, lastGood: { version: '1.0.0' } });
        expect(status).not.toHaveProperty('failed');
      }
      await lab.patch('ModuleInstall', measured, { gates: [gate(prometheus.url)] });
      prometheus.value = '5';
      const { failed } = await lab.untilObserved(measured, {
        installed: { version: '1.0.0' },
        failed: [{ version: '1.1.0' }],
      });
      expect(JSON.stringify(failed)).toContain('errors is 5, more than 1');
      await lab.untilRuns(measured, '1.0.0');

      await lab.push(url, other, '1.1.0');
      lab.passInterval();
      const held = await lab.untilCondition(
        'ModuleInstall',
        other,
        'UpdatePending',
        'True',
        'UpdateFailures',
      );
      expect(held).toContain(measured);
      await lab.untilRuns(other, '1.0.0');
    });
  });
});

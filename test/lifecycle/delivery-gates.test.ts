import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeliveryWorld } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import type { FileTree } from '../support/world-files.ts';

const { signal } = new AbortController();

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
      const runs = (await readFile(join(world.directory, 'runs'), 'utf8')).trim().split('\n');
      expect(runs.at(-1)).toMatch(/^1\.0\.0 /u);

      // Neither by time, nor by a restart.
      const calls = (await world.helmCalls()).length;
      for (let round = 0; round < 12; round += 1) lab.passInterval();
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
      await lab.expectNothingRemoved();
    });
  });
});

import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import type { ReleaseObjects } from '../../src/status/release-objects.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { under } from '../support/world-files.ts';

const OBJECTS = `{{- range until 200 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "web-{{ . }}"}
data: {a: "1"}
{{- end }}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: secret-word}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: []
`;
const WAIT = { timeout: 30_000, interval: 100 };

async function read({ directory }: World): Promise<{ readonly body: string } & ReleaseObjects> {
  const socketPath = join(directory, 'debug.socket');
  const { body } = await requestDebug({ socketPath, path: '/api/v1/modules/web/objects' }, systemClock);
  return { body, ...(fieldsOf(parseJson(body)) as unknown as ReleaseObjects) };
}

describeLifecycle((backend) => {
  test('the objects of a release are shown with state, drift and Events, never with their data', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', {
          'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
          'module.yaml': 'drift: {mode: warn}\n',
          'templates/objects.yaml': OBJECTS,
        }),
      },
    });
    await world.converge();
    const all = await read(world);
    expect(all.objects).toHaveLength(202);
    expect(new Set(all.objects.map(({ state }) => state))).toEqual(new Set(['ready']));
    expect(all.eventsProblem).toBe('');
    expect(all.body).not.toMatch(/secret-word|c2VjcmV0LXdvcmQ/);

    await world.expect({
      method: 'PATCH',
      path: `${world.path('configmaps', 'web-8')}?fieldManager=kubectl-edit`,
      contentType: 'application/merge-patch+json',
      body: { data: { a: '2' } },
    });
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const event = {
      metadata: { name: 'web.1' },
      involvedObject: { apiVersion: 'v1', kind: 'Secret', name: 'web', namespace: world.namespace },
      type: 'Warning',
      reason: 'Odd',
      message: 'look here',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 2,
    };
    await world.create('events', event);
    await vi.waitFor(async () => {
      const { objects } = await read(world);
      const secret = objects.find(({ kind }) => kind === 'Secret');
      expect(secret?.events).toMatchObject([
        { type: 'Warning', reason: 'Odd', message: 'look here', count: 2 },
      ]);
      expect(objects.find(({ name }) => name === 'web-8')?.drift).toEqual(['/data/a']);
    }, WAIT);
    const { stdout } = await runInWorld(world, 'module', 'objects', 'web');
    expect(stdout).toMatch(/^STATE +KIND +NAMESPACE +NAME +REASON\n/);
    expect(stdout.split('\n')).toHaveLength(204);
  });
});

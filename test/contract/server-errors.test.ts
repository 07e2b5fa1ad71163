import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const PRELOADED = `--import=${pathToFileURL(join(import.meta.dirname, '../support/fail-servers-on-signal.ts')).href}`;

const WEBHOOKS = shHook(
  `
kubernetesValidating:
- name: deny.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
kubernetesCustomResourceConversion:
- name: widgets
  crdName: widgets.example.com
  conversions: [{fromVersion: example.com/v1, toVersion: example.com/v2}]`,
  ':',
);

const IN_PROCESS = `
import { defineHook } from 'addon-operator/sdk';
export default defineHook({ onStartup: 1 }, () => console.log('in-process hook runs'));
`;

test('a daemon logs the errors of its servers and continues, when connections cannot be accepted', async () => {
  await using backend = await sandboxBackend();
  await using world = await World.create(backend, {
    globalHooks: { 'webhooks.sh': WEBHOOKS, 'in-process.mjs': IN_PROCESS },
  });
  const [debug = 0] = await freePorts(1);
  const tokenFile = join(world.directory, 'token');
  await world.write('modules', { '../token': 'a-token-of-a-test' });
  await using daemon = DaemonProcess.start(
    world,
    {
      'webhook-url': 'https://127.0.0.1:1',
      'validating-webhook-listen-port': '0',
      'conversion-webhook-listen-port': '0',
      'debug-http-addr': `127.0.0.1:${debug}`,
      'debug-http-token-file': tokenFile,
    },
    { NODE_OPTIONS: PRELOADED },
  );
  await daemon.untilConverged();
  process.kill(daemon.pid, 'SIGUSR2');
  const { servers } = await daemon.record('planted errors');
  // The probes, both debug endpoints, both webhook servers, and the lines to the threads of in-process hooks.
  expect(servers).toBe(6);
  const lost = daemon.log.records.filter(({ msg }) =>
    String(msg).endsWith('lost a connection and continues'),
  );
  expect(lost).toMatchObject(lost.map(() => ({ level: 'warn', error: 'accept EMFILE' })));
  expect(lost.map(({ path, address }) => String(path ?? address)).toSorted()).toEqual(
    [join(world.directory, 'debug.socket'), '127.0.0.1', '127.0.0.1', '0.0.0.0', '0.0.0.0'].toSorted(),
  );
  expect(await daemon.status('/healthz')).toBe(200);
  expect((await fetch(`http://127.0.0.1:${debug}/`)).status).toBe(401);
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
});

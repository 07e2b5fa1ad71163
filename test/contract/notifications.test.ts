import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { sandboxBackend } from '../support/backends.ts';
import { type LoopbackServer, startLoopbackServer } from '../support/loopback-server.ts';
import { World } from '../support/world.ts';
import { shHook, under } from '../support/world-files.ts';

const SECRET = 'a-secret-of-the-receiver';
const PASSWORD = 'correct-horse-battery';
/** How long the sender waits for a response, before its first two retries, and the operator between two looks. */
const [TIMEOUT_MS, FIRST_MS, SECOND_MS, LOOK_MS] = [10_000, 900, 1_800, 1_000];

/** A receiver that says 500, then nothing, and then accepts. */
class Receiver implements AsyncDisposable {
  readonly #server: LoopbackServer;
  #waiting: (() => void)[];

  private constructor(server: LoopbackServer, waiting: (() => void)[]) {
    this.#server = server;
    this.#waiting = waiting;
  }

  static async start(): Promise<Receiver> {
    const waiting: (() => void)[] = [];
    const statuses = [500, undefined];
    const respond = (_request: object, response: ServerResponse): void => {
      const status = statuses.length === 0 ? 202 : statuses.shift();
      if (status !== undefined) response.writeHead(status).end();
      for (const notify of waiting.splice(0)) notify();
    };
    return new Receiver(await startLoopbackServer(respond), waiting);
  }

  get url(): string {
    return this.#server.url;
  }

  get requests() {
    return this.#server.requests;
  }

  async until(requests: number): Promise<void> {
    while (this.requests.length < requests) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}

test('a receiver that fails and hangs gets each change of a module, signed and in order, and the operator does not wait for it', async () => {
  await using receiver = await Receiver.start();
  await using backend = await sandboxBackend();
  await using world = await World.create(backend, {
    env: (directory) => ({ ADDON_OPERATOR_NOTIFY_CONFIG: `${directory}/notify.yaml` }),
    flags: { 'cluster-name': 'prod', 'secret-references': '*' },
    modules: {
      'values.yaml': 'webEnabled: true\ntestWebEnabled: true\n',
      ...under('001-test-web', { 'hooks/a.sh': shHook('beforeHelm: 1', 'true') }),
      ...under('002-web', {
        'values.yaml': 'web: {password: {valueFrom: {secretKeyRef: {name: web, key: password}}}}\n',
        'hooks/a.sh': shHook(
          'beforeHelm: 1',
          `[ -e "$WORLD/repaired" ] || { echo "no ${PASSWORD}" >&2; exit 1; }`,
        ),
      }),
      '../hmac': `${SECRET}\n`,
      '../notify.yaml': `
sinks:
  - name: pager
    webhook: {url: '${receiver.url}/hook?token=of-the-address', secretFrom: {file: hmac}}
    modules: ['*', '!test-*']
`,
    },
  });
  await world.create('secrets', {
    kind: 'Secret',
    stringData: { password: PASSWORD },
    metadata: { name: 'web' },
  } as Parameters<World['create']>[1]);
  await world.start();
  await world.untilDelayed();
  // No time passes for the operator: its queue waits while the notification is sent again.
  await world.clock.untilSleep(LOOK_MS);
  world.clock.wakeSleeps(LOOK_MS);
  await receiver.until(1);
  await world.clock.untilSleep(FIRST_MS);
  world.clock.wakeSleeps(FIRST_MS);
  await receiver.until(2);
  world.clock.wakeSleeps(TIMEOUT_MS);
  await world.clock.untilSleep(SECOND_MS);
  world.clock.wakeSleeps(SECOND_MS);
  await receiver.until(3);
  await world.write('modules', { '../repaired': '' });
  await world.passDelay();
  await world.daemon.firstConverge;
  while (receiver.requests.length < 4) {
    await world.clock.untilSleep(LOOK_MS);
    world.clock.wakeSleeps(LOOK_MS);
    await new Promise(setImmediate);
  }
  const events = receiver.requests.map(({ body }) => fieldsOf(parseJson(body)));
  expect(events.map(({ type }) => type)).toEqual([
    ...Array.from({ length: 3 }, () => 'io.addon-operator.module.problem'),
    'io.addon-operator.module.resolved',
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  expect(receiver.requests.slice(0, 3).map(({ body }) => body)).toEqual(
    Array.from({ length: 3 }, () => receiver.requests[0]?.body),
  );
  expect(events[2]).toMatchObject({
    specversion: '1.0',
    subject: 'web',
    source: `/clusters/prod/namespaces/${world.namespace}/addon-operator`,
    data: {
      module: 'web',
      status: 'failing',
      cluster: 'prod',
      message: expect.stringContaining("'hooks/a.sh' failed: no ***"),
    },
  });
  for (const { body, headers } of receiver.requests) {
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=UTF-8');
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    expect(headers['x-signature']).toBe(`sha256=${signature}`);
    expect(body).not.toContain(PASSWORD);
  }
  const metrics = await (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
  for (const [result, count] of Object.entries({ failed: 2, sent: 2 }))
    expect(metrics).toContain(
      `addon_operator_notifications_total{sink="pager",result="${result}"} ${count}\n`,
    );
  const records = world.log.records.filter(({ logger }) => logger === 'addon-operator.notify');
  expect(records.map(({ level, sink }) => [level, sink])).toEqual([
    ['warn', 'pager'],
    ['info', 'pager'],
  ]);
  expect(world.log.dump()).not.toMatch(/of-the-address|a-secret-of-the-receiver/u);
});

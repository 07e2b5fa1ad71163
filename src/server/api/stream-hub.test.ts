import type { StreamSink } from '@addon-operator/http-server/response';
import { LogTail } from '@addon-operator/logging/log-tail';
import { Redactor } from '@addon-operator/masking/redactor';
import { array, assert, asyncProperty, constant, nat, oneof, record } from 'fast-check';
import { expect, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { RUN_START } from '../../../test/support/run-start.ts';
import { Journal } from '../../journal/journal.ts';
import type { ModuleSummary } from '../../status/module-explanation.ts';
import type { TaskQueueView } from '../../status/task-queues.ts';
import { apiResponse } from './api-handler.ts';
import { trustedRequester } from './requester.ts';
import { HEARTBEAT_MS, MAX_STREAMS, StreamHub, TICK_MS, TOPICS } from './stream-hub.ts';

const START = { ...RUN_START, taskId: 'main/1', module: '', eventId: '' };

const MODULE: ModuleSummary = {
  module: 'web',
  status: 'ready',
  since: '2026-01-01T00:00:00.000Z',
  isEnabled: true,
  source: 'default',
  reason: 'enabled',
  waitsFor: [],
  version: null,
  revision: null,
  lastError: null,
  nextTryAt: null,
  paused: null,
};

/** A daemon whose queues and runs a test changes. */
class Daemon {
  readonly clock = new FakeClock();
  readonly journal = new Journal({ clock: this.clock });
  readonly lengths = new Map<string, number>();
  readonly hub: StreamHub;

  constructor() {
    const view = daemonView({
      journal: this.journal,
      taskQueues: () => [...this.lengths].map(([name, length]) => this.#queue(name, length)),
      stateKey: () => `${this.journal.revision} ${JSON.stringify([...this.lengths])}`,
    });
    this.hub = new StreamHub({ view, identity: NO_COMMANDS.identity, clock: this.clock });
  }

  get state() {
    return {
      queues: Object.fromEntries(this.lengths),
      runs: Object.fromEntries(
        this.journal.list({ limit: 10_000 }).runs.map(({ id, result }) => [id, result]),
      ),
    };
  }

  run(module: string): void {
    const started = this.journal.begin({ ...START, taskId: `main/${module}`, module });
    if (module !== '3') this.journal.end(started, { result: 'success' });
  }

  #queue(name: string, length: number): TaskQueueView {
    return { name, length, keys: 0, status: { type: 'idle', since: null, until: null }, tasks: [] };
  }
}

/** A client that keeps what it received over cuts, as a page does. */
class Client implements StreamSink {
  unsentBytes = 0;
  isDropped = false;
  received = '';
  readonly events: string[] = [];
  readonly queues = new Map<string, number>();
  readonly runs = new Map<string, string>();
  #lastEventId: string | undefined;
  #connection: AbortController | undefined;
  readonly #daemon: Daemon;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  get state() {
    return { queues: Object.fromEntries(this.queues), runs: Object.fromEntries(this.runs) };
  }

  connect(): void {
    this.#connection?.abort();
    this.#connection = new AbortController();
    const request = { topics: TOPICS, lastEventId: this.#lastEventId };
    void this.#daemon.hub.serve(this, request, this.#connection.signal);
  }

  cut(): void {
    this.#connection?.abort();
  }

  drop(): void {
    this.isDropped = true;
    this.cut();
  }

  write(text: string): void {
    this.received += text;
    for (const block of text
      .split('\n\n')
      .filter((part) => part.startsWith('id:') || part.startsWith('event:')))
      this.#take(Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2))));
  }

  #take({ id, event = '', data = '' }: Readonly<Record<string, string>>): void {
    const value = JSON.parse(data) as Readonly<Record<string, never>>;
    this.events.push(event);
    if (id !== undefined) this.#lastEventId = id;
    if (event === 'snapshot') this.#takeSnapshot(value['topic'] ?? '', value['data'] ?? {});
    if (event === 'queue') this.queues.set(value['name'] ?? '', value['length'] ?? 0);
    if (event === 'queue-removed') this.queues.delete(value['name'] ?? '');
    if (event === 'run') this.runs.set(value['id'] ?? '', value['result'] ?? '');
  }

  #takeSnapshot(
    topic: string,
    data: { queues?: TaskQueueView[]; runs?: { id: string; result: string }[] },
  ): void {
    if (topic === 'queues') this.queues.clear();
    for (const { name, length } of data.queues ?? []) this.queues.set(name, length);
    for (const { id, result } of data.runs ?? []) this.runs.set(id, result);
  }
}

const step = oneof(
  record({ do: constant('queue' as const), queue: nat({ max: 3 }), length: nat({ max: 3 }) }),
  record({ do: constant('run' as const), module: nat({ max: 3 }) }),
  record({ do: constant('cut' as const) }),
  record({ do: constant('connect' as const) }),
  record({ do: constant('wait' as const), ms: nat({ max: 1_000 }) }),
);

test('a stream that is cut again and again loses nothing', async () => {
  await assert(
    asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
      const daemon = new Daemon();
      const client = new Client(daemon);
      client.connect();
      for (const what of steps) {
        if (what.do === 'queue' && what.length === 0) daemon.lengths.delete(`q${what.queue}`);
        else if (what.do === 'queue') daemon.lengths.set(`q${what.queue}`, what.length);
        else if (what.do === 'run') daemon.run(String(what.module));
        else if (what.do === 'cut') client.cut();
        else if (what.do === 'connect') client.connect();
        else await daemon.clock.advance(what.ms);
        await settle();
      }
      client.connect();
      await daemon.clock.advance(1_000);
      expect(client.state).toEqual(daemon.state);
      client.cut();
      await daemon.clock.advance(1_000);
    }),
    { numRuns: 50, interruptAfterTimeLimit: 30_000 },
  );
}, 120_000);

test('a client gets hello, snapshots and ready, then only what is different', async () => {
  const daemon = new Daemon();
  const client = new Client(daemon);
  daemon.lengths.set('main', 1);
  client.connect();
  expect(client.events.splice(0)).toEqual(['hello', ...TOPICS.map(() => 'snapshot'), 'ready']);
  daemon.lengths.set('main', 2);
  daemon.lengths.set('main', 3);
  await daemon.clock.advance(TICK_MS);
  expect(client.events.splice(0)).toEqual(['queue']);
  await daemon.clock.advance(HEARTBEAT_MS);
  expect(client.events).toEqual([]);
  expect(client.received).toContain(': heartbeat\n\n');
});

test('a client that comes back gets only what it missed, or all after too much', async () => {
  const daemon = new Daemon();
  const [client, other] = [new Client(daemon), new Client(daemon)];
  client.connect();
  other.connect();
  client.cut();
  daemon.run('1');
  await daemon.clock.advance(TICK_MS);
  client.events.splice(0);
  client.connect();
  expect(client.events.splice(0)).toEqual(['hello', 'run', 'ready']);
  client.cut();
  for (let number = 0; number < 5_000; number += 1) daemon.run('1');
  await daemon.clock.advance(TICK_MS);
  client.connect();
  expect(client.events.splice(0)).toEqual(['hello', ...TOPICS.map(() => 'snapshot'), 'ready']);
});

test('a client that does not read is dropped, and others go on', async () => {
  const daemon = new Daemon();
  const [slow, quick] = [new Client(daemon), new Client(daemon)];
  slow.connect();
  quick.connect();
  slow.unsentBytes = 2 * 1024 * 1024;
  daemon.run('1');
  await daemon.clock.advance(TICK_MS);
  expect([slow.isDropped, quick.isDropped]).toEqual([true, false]);
  expect(quick.state).toEqual(daemon.state);
});

test('a stream takes a limited number of clients', async () => {
  const daemon = new Daemon();
  const clients = Array.from({ length: MAX_STREAMS }, () => new Client(daemon));
  for (const client of clients) client.connect();
  expect(daemon.hub.isFull).toBe(true);
  clients[0]?.cut();
  await settle();
  expect(daemon.hub.isFull).toBe(false);
});

test('the sentence about everything is sent when it is another one, with the time from which it counts', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock, redact: (text) => text });
  let text = 'all is well';
  let state = 0;
  const status = () =>
    ({ level: 'well', text, problems: [text, 'b'], details: [], modules: {}, tasks: 0 }) as const;
  const view = daemonView({ journal, status, stateKey: () => String(state) });
  let second = 0;
  const identity = { ...NO_COMMANDS.identity, nowIso: () => `2026-01-01T00:00:0${second}Z` };
  const redactor = new Redactor();
  redactor.add('hunter2');
  const hub = new StreamHub({ view, identity, clock, redactor });
  const client = new Recorder();
  const end = new AbortController();
  const served = hub.serve(client, { topics: ['headline'], lastEventId: undefined }, end.signal);
  const headline = { level: 'well', text, problems: [text, 'b'], details: [], more: 0 };
  expect(client.take().slice(0, 2)).toEqual([
    ['hello', expect.objectContaining({ at: '2026-01-01T00:00:00Z' })],
    ['snapshot', { topic: 'headline', data: { at: '2026-01-01T00:00:00Z', ...headline } }],
  ]);
  second = 1;
  state = 1;
  await clock.advance(TICK_MS);
  expect(client.take()).toEqual([]);
  text = 'main waits for hunter2';
  state = 2;
  await clock.advance(TICK_MS);
  const shown = 'main waits for ***';
  expect(client.take()).toEqual([
    [
      'headline',
      {
        at: '2026-01-01T00:00:01Z',
        level: 'well',
        text: shown,
        problems: [shown, 'b'],
        details: [],
        more: 0,
      },
    ],
  ]);
  end.abort();
  await served;
  await clock.advance(TICK_MS);
});

test('snapshots are what the API returns, in its order also after that has changed', async () => {
  const clock = new FakeClock();
  let names = ['b', 'a'];
  const module = (name: string) => ({ ...MODULE, module: name });
  const view = daemonView({
    journal: new Journal({ clock }),
    modules: () => names.map(module),
    taskQueues: () => [
      { name: 'main', length: 0, keys: 0, status: { type: 'idle', since: null, until: null }, tasks: [] },
    ],
    next: () => [
      { at: '', kind: 'recheck', text: 'module a is checked', module: 'a', hook: '', crontab: '' },
    ],
  });
  const parts = { view, identity: NO_COMMANDS.identity, parameters: { list: () => [] } };
  const hub = new StreamHub({ ...parts, clock });
  const topics = ['queues', 'modules', 'next'] as const;
  for (const order of [
    ['b', 'a'],
    ['a', 'c', 'b'],
  ]) {
    names = order;
    const client = new Recorder();
    const end = new AbortController();
    const served = hub.serve(client, { topics, lastEventId: undefined }, end.signal);
    const snapshots = client.take().filter(([event]) => event === 'snapshot');
    const responses = await Promise.all(
      topics.map(async (topic) => {
        const request = { method: 'GET', path: `/api/v1/${topic}`, query: new URLSearchParams() };
        const { body } = await apiResponse(parts, request, trustedRequester('test'), end.signal);
        return ['snapshot', { topic, data: JSON.parse(body) as unknown }];
      }),
    );
    expect(snapshots).toEqual(responses);
    end.abort();
    await served;
    await clock.advance(TICK_MS);
  }
});

test('a client that comes back after a secret became known gets nothing that was sent before that', async () => {
  const clock = new FakeClock();
  let reason = 'all is well';
  const view = daemonView({
    journal: new Journal({ clock }),
    modules: () => [{ ...MODULE, reason }],
    stateKey: () => 'the same',
  });
  const redactor = new Redactor();
  const hub = new StreamHub({ view, identity: NO_COMMANDS.identity, clock, redactor });
  const [client, other] = [new Recorder(), new Recorder()];
  const end = new AbortController();
  const request = { topics: ['modules'], lastEventId: undefined } as const;
  const served = hub.serve(client, request, end.signal);
  const { lastId } = client;
  client.take();
  reason = 'the password hunter2 is wrong';
  await clock.advance(10_000 + TICK_MS);
  expect(client.take()).toMatchObject([['module', { reason }]]);
  redactor.add('hunter2');
  await clock.advance(TICK_MS);
  expect(client.take()).toMatchObject([['module', { reason: 'the password *** is wrong' }]]);
  const back = hub.serve(other, { ...request, lastEventId: lastId }, end.signal);
  expect(other.text).not.toContain('hunter2');
  expect(other.take().map(([event]) => event)).toEqual(['hello', 'snapshot', 'ready']);
  end.abort();
  await Promise.all([served, back]);
  await clock.advance(TICK_MS);
});

/** The messages sent to a client, as pairs of event and data. */
class Recorder implements StreamSink {
  readonly unsentBytes = 0;
  text = '';

  write(text: string): void {
    this.text += text;
  }

  drop(): void {
    this.text += 'dropped';
  }

  get lastId(): string | undefined {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
  }

  take(): readonly (readonly [string, unknown])[] {
    const found = [...this.text.matchAll(/^event: (\S+)\ndata: (.*)$/gm)];
    this.text = '';
    return found.map(([, event = '', data = 'null']) => [event, JSON.parse(data) as unknown]);
  }
}

test('log lines and outputs of hooks are sent as they come, to those who follow them', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock, redact: (text) => text.replaceAll('hunter2', '***') });
  const log = new LogTail(clock, () => 'info');
  const view = daemonView({ journal });
  const hub = new StreamHub({ view, identity: NO_COMMANDS.identity, clock, log });
  const begin = () => journal.begin({ ...START, hook: 'a.sh' });
  const [one, other] = [begin(), begin()];
  journal.print(one, 'before');
  log.add({ level: 'info', message: 'first', fields: {} });
  const end = new AbortController();
  const [all, single, none] = [new Recorder(), new Recorder(), new Recorder()];
  const lastEventId = undefined;
  const clients = [
    hub.serve(all, { topics: ['log', 'output'], lastEventId }, end.signal),
    hub.serve(single, { topics: ['output'], run: '2', lastEventId }, end.signal),
    hub.serve(none, { topics: ['queues'], lastEventId }, end.signal),
  ];
  expect(all.take().slice(1)).toEqual([
    ['snapshot', { topic: 'log', data: { lines: [expect.objectContaining({ message: 'first' })] } }],
    ['snapshot', { topic: 'output', data: { output: null } }],
    ['ready', {}],
  ]);
  expect(single.take()[1]).toEqual([
    'snapshot',
    { topic: 'output', data: { output: { head: '', tail: '', cut: 0 } } },
  ]);
  none.take();
  journal.print(one, 'token hunter2');
  journal.print(one, 'next');
  journal.print(other, 'x'.repeat(20_000));
  for (let index = 0; index < 150; index += 1) log.add({ level: 'info', message: `${index}`, fields: {} });
  await clock.advance(TICK_MS);
  await settle();
  const large = { runId: '2', text: `${'x'.repeat(16 * 1024 - 1)}\n`, cut: 20_001 - 16 * 1024 };
  const [logged, ...outputs] = all.take();
  expect(logged).toEqual(['log', { lines: expect.any(Array), dropped: 50 }]);
  expect(outputs).toEqual([
    ['output', { runId: '1', text: 'token ***\nnext\n', cut: 0 }],
    ['output', large],
  ]);
  expect(single.take()).toEqual([['output', large]]);
  expect(none.take()).toEqual([]);
  end.abort();
  await Promise.all(clients);
  await clock.advance(TICK_MS);
});

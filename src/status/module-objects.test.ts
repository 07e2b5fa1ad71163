import { isObject } from '@addon-operator/json';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { MODULE_API_VERSION, MODULE_CRD } from './module-crd.ts';
import type { ModuleFacts } from './module-facts.ts';
import { HOOK_FINALIZER, OPERATOR_ANNOTATION } from './module-object.ts';
import { ModuleObjects, type ModuleSource } from './module-objects.ts';
import { moduleStatus } from './module-status.ts';

const MODULES = '/apis/addon-operator.io/v1alpha1/modules';
const MINUTE_MS = 60_000;

function factsOf(module: string): ModuleFacts {
  return {
    explanation: {
      module,
      status: 'ready',
      since: '2026-01-01T00:00:00.000Z',
      isEnabled: true,
      source: null,
      reason: 'so',
      position: { place: 1, of: 1, order: 1 },
      path: '/',
      version: null,
      deletionPolicy: 'delete',
      requires: [],
      phase: 'Succeeded',
      step: 'ready',
      waitsFor: [],
      causes: [],
      failure: null,
      lastRun: null,
      nextReconcileAt: null,
      pause: null,
      drift: null,
    },
    release: undefined,
    isDeployed: true,
    progress: 'none',
    reconciledAtMs: undefined,
    hookRuns: [],
  };
}

/** An API server that keeps nothing: it says yes, or what a test wants it to refuse. */
class Lab implements AsyncDisposable {
  readonly clock = new FakeClock(0);
  readonly log = new CapturedLog(this.clock);
  readonly requests: string[] = [];
  readonly unfinished: string[] = [];
  isTooEarly = false;
  mayRemove = true;
  /** The objects that the watch finds; to be set before the first await. */
  staged: readonly KubeObject[] = [];
  facts: readonly ModuleFacts[] = [factsOf('web')];
  refuse: (request: KubeRequest) => number | undefined = () => undefined;
  /** When the API server responds. */
  responding: (request: KubeRequest) => Promise<void> = () => Promise.resolve();
  readonly #stop = new AbortController();
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;
  readonly objects: ModuleObjects;

  constructor(refuse: Lab['refuse'] = () => undefined) {
    this.refuse = refuse;
    const kube: KubeClient = {
      request: async (request) => {
        const response = this.#response(request);
        await this.responding(request);
        return response;
      },
      stream: () => Promise.reject(new Error('the reflector watches')),
    };
    const reflectors: SharedReflectors = {
      subscribe: async (_selection, sink) => {
        this.#response({ method: 'GET', path: MODULES });
        await sink.stage(this.staged);
        sink.commit();
      },
    };
    const { clock } = this;
    this.objects = new ModuleObjects({
      kube,
      reflectors,
      clock,
      log: this.log.logger,
      namespace: 'ns',
      configMapName: 'cm',
      redact: (text) => text.replaceAll('hunter22', '***'),
    });
    const source: ModuleSource = {
      facts: () => this.facts,
      mayRemove: () => this.mayRemove,
      finishDeletion: async (module) => {
        this.unfinished.push(module);
        return this.isTooEarly ? 'too early' : 'done';
      },
    };
    this.#ended = this.objects.run(source, this.#ending.signal, this.#stop.signal).catch(() => undefined);
  }

  #response(request: KubeRequest): unknown {
    const { method, path, body } = request;
    this.requests.push(`${method} ${path}`);
    const status = this.refuse(request);
    if (status !== undefined) throw new KubeApiError(`status ${status}`, { status, reason: '' });
    if (method === 'GET') return MODULE_CRD;
    const object = isObject(body) ? body : {};
    const staged = this.staged.find(({ metadata: { name } }) => path.includes(`/${name}/`));
    const finalizers = staged?.metadata['finalizers'];
    const marks = { annotations: { 'addon-operator.io/operator': 'ns/cm' }, uid: 'u', finalizers };
    const metadata = isObject(object['metadata']) ? object['metadata'] : {};
    return { ...object, metadata: { ...metadata, ...marks, resourceVersion: String(this.requests.length) } };
  }

  /** Lets everything happen that happens by itself within a time. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await this.clock.advance(1_000);
      await settle();
    }
  }

  /** The operator ends; resolves when nothing more will be written. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  sent(text: string): number {
    return this.requests.filter((request) => request.includes(text)).length;
  }

  get warnings(): readonly unknown[] {
    return this.log.records.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }
}

test('a status is written once, however often it is looked at', async () => {
  await using lab = new Lab();
  await lab.pass(MINUTE_MS);
  expect(lab.sent(`POST ${MODULES}`)).toBe(1);
  expect(lab.sent(`PATCH ${MODULES}/web/status`)).toBe(1);
});

test('many changes within a second are one write, and times of runs wait for half a minute', async () => {
  await using lab = new Lab();
  await lab.pass(5_000);
  const before = lab.sent('/status');
  const run = (result: 'success' | 'failure', second: number): ModuleFacts => {
    const facts = factsOf('web');
    const hookRun = { hook: 'a', binding: 'schedule', startedAtMs: second, durationMs: 1 };
    return { ...facts, hookRuns: [{ ...hookRun, error: result === 'failure' ? 'broken' : undefined }] };
  };
  for (let second = 1; second <= 60; second += 1) {
    lab.facts = [run('success', second)];
    for (let change = 0; change < 10; change += 1) lab.objects.changed();
    await lab.pass(1_000);
  }
  expect(lab.sent('/status') - before).toBe(2);
  lab.facts = [run('failure', 61)];
  lab.objects.changed();
  await lab.pass(2_000);
  expect(lab.sent('/status') - before).toBe(3);
});

test('what changed a moment ago is written when the operator ends, at once', async () => {
  await using lab = new Lab();
  await lab.pass(5_000);
  const hookRun = { hook: 'a', binding: 'schedule', startedAtMs: 1, durationMs: 1, error: undefined };
  lab.facts = [{ ...factsOf('web'), hookRuns: [hookRun] }];
  lab.objects.changed();
  await lab.end();
  expect(lab.sent(`PATCH ${MODULES}/web/status`)).toBe(2);
});

test('statuses of several modules are written at the same time, and their Events after all of them', async () => {
  await using lab = new Lab();
  lab.facts = Array.from({ length: 100 }, (_, index) => factsOf(`m${index}`));
  await lab.pass(1_000);
  expect(lab.sent('/status')).toBe(100);
  const statuses = lab.requests.findLastIndex((request) => request.endsWith('/status'));
  expect(lab.requests.findIndex((request) => request.endsWith('/events'))).toBeGreaterThan(statuses);
  const responded = Promise.withResolvers<void>();
  lab.responding = () => responded.promise;
  lab.facts = withReason(lab.facts, 'another');
  lab.objects.changed();
  await lab.pass(2_000);
  expect(lab.sent('/status')).toBe(116);
  responded.resolve();
  await lab.pass(1_000);
  expect(lab.sent('/status')).toBe(200);
});

function withReason(facts: readonly ModuleFacts[], reason: string): readonly ModuleFacts[] {
  return facts.map(({ explanation, ...rest }) => ({ ...rest, explanation: { ...explanation, reason } }));
}

test('ModuleObjects writes the last state of modules once, when they change while others are written', async () => {
  const responded = Promise.withResolvers<void>();
  await using lab = new Lab();
  lab.responding = ({ path }) => (path.endsWith('/status') ? responded.promise : Promise.resolve());
  lab.facts = Array.from({ length: 100 }, (_, index) => factsOf(`m${index}`));
  await lab.pass(2_000);
  lab.facts = withReason(lab.facts, 'another');
  lab.objects.changed();
  await lab.pass(2_000);
  responded.resolve();
  await lab.pass(MINUTE_MS);
  // Only those whose requests were under way are written again.
  expect(lab.sent('/status')).toBe(116);
});

test('ModuleObjects writes statuses, when Events of earlier ones are not written yet', async () => {
  const responded = Promise.withResolvers<void>();
  await using lab = new Lab();
  lab.responding = ({ path }) => (path.endsWith('/events') ? responded.promise : Promise.resolve());
  lab.facts = Array.from({ length: 100 }, (_, index) => factsOf(`m${index}`));
  await lab.pass(2_000);
  lab.facts = withReason(lab.facts, 'another');
  lab.objects.changed();
  await lab.pass(5_000);
  expect(lab.sent('/status')).toBe(200);
  responded.resolve();
  await lab.end();
  expect(lab.sent('/events')).toBe(100);
});

test('an operator that ends writes nothing, when nothing changed since the last write', async () => {
  await using lab = new Lab();
  lab.facts = Array.from({ length: 20 }, (_, index) => factsOf(`m${index}`));
  await lab.pass(5_000);
  const before = lab.requests.length;
  await lab.end();
  expect(lab.requests).toHaveLength(before);
});

test('an operator that ends before its objects are set up sets them up, and does not wait for a refusal to pass', async () => {
  await using quick = new Lab();
  await quick.end();
  expect(quick.sent(`PATCH ${MODULES}/web/status`)).toBe(1);
  await using refused = new Lab(() => 403);
  await refused.pass(1_000);
  await refused.end();
  expect(refused.sent('/status')).toBe(0);
});

test.each([
  ['may not list them', ({ method, path }: KubeRequest) => method === 'GET' && path === MODULES],
  ['may not write them', ({ method, path }: KubeRequest) => method !== 'GET' && path.startsWith(MODULES)],
  ['may do nothing at all', () => true],
])('who %s is warned once and tries again every five minutes', async (_name, isRefused) => {
  await using lab = new Lab((request) => (isRefused(request) ? 403 : undefined));
  await lab.pass(14 * MINUTE_MS);
  expect(lab.warnings).toEqual(['cannot update Module objects; modules continue to run']);
  expect(lab.requests.length).toBeLessThan(10);
  lab.refuse = () => undefined;
  await lab.pass(5 * MINUTE_MS);
  expect(lab.sent(`PATCH ${MODULES}/web/status`)).toBe(1);
});

test('without the definition, which may not be made either, there is one warning', async () => {
  await using lab = new Lab(({ path, method }) =>
    path.includes('customresourcedefinitions') && method !== 'GET' ? 403 : 404,
  );
  await lab.pass(4 * MINUTE_MS);
  expect(lab.warnings).toHaveLength(1);
  expect(lab.requests).toHaveLength(2);
});

test('an object that another client changes at the same time is written a little later', async () => {
  let conflicts = 2;
  await using lab = new Lab(({ path }) => {
    if (!path.endsWith('/status') || conflicts === 0) return undefined;
    conflicts -= 1;
    return 409;
  });
  await lab.pass(MINUTE_MS);
  expect(lab.sent(`PATCH ${MODULES}/web/status`)).toBe(3);
  expect(lab.warnings).toEqual([]);
});

test('while a new daemon has decided nothing, what was written before stays', async () => {
  await using lab = new Lab();
  await lab.pass(5_000);
  const { explanation, ...facts } = factsOf('web');
  lab.facts = [{ ...facts, explanation: { ...explanation, status: 'undecided' } }];
  lab.objects.changed();
  await lab.pass(2_000);
  expect(lab.sent('/status')).toBe(1);
});

test('ModuleObjects writes with the first look after the start, when only times of runs are new since the last operator', async () => {
  await using lab = new Lab();
  const [before] = lab.facts;
  const status =
    before && moduleStatus(before, { nowMs: 0, operator: 'ns/cm', generation: 1, before: undefined });
  const metadata = { name: 'web', annotations: { [OPERATOR_ANNOTATION]: 'ns/cm' } };
  lab.staged = [{ apiVersion: MODULE_API_VERSION, kind: 'Module', metadata, status }];
  const hookRun = { hook: 'a', binding: 'onStartup', startedAtMs: 1, durationMs: 1, error: undefined };
  lab.facts = lab.facts.map((facts) => ({ ...facts, hookRuns: [hookRun] }));
  lab.objects.changed();
  await lab.pass(7_000);
  expect(lab.requests).toHaveLength(2);
  await lab.pass(MINUTE_MS);
  expect(lab.requests).toHaveLength(3);
  expect(lab.sent(`PATCH ${MODULES}/web/status`)).toBe(1);
});

test('the object of a module that is gone is removed, that very one', async () => {
  await using lab = new Lab();
  await lab.pass(5_000);
  lab.facts = [];
  lab.objects.changed();
  await lab.pass(2_000);
  expect(lab.sent(`DELETE ${MODULES}/web`)).toBe(1);
});

test('the object of a module that is gone stays until it is known which modules are left', async () => {
  await using lab = new Lab();
  await lab.pass(5_000);
  lab.facts = [];
  lab.mayRemove = false;
  lab.objects.changed();
  await lab.pass(2_000);
  expect(lab.sent(`DELETE ${MODULES}/web`)).toBe(0);
});

function heldObject(name: string): KubeObject {
  const annotations = { [OPERATOR_ANNOTATION]: 'ns/cm' };
  return {
    metadata: { name, uid: name, annotations, finalizers: [HOOK_FINALIZER], deletionTimestamp: 'then' },
  };
}

test.each([
  ['without a module', 'gone', false],
  ['of a disabled module', 'web', false],
  ['of a module that is deleted', 'web', true],
])(
  'an object %s that waits for an HTTP hook is reported every five minutes',
  async (_case, name, isDeleted) => {
    await using lab = new Lab();
    const { explanation } = factsOf('web');
    const status = isDeleted ? 'deleting' : 'disabled';
    lab.facts = [{ ...factsOf('web'), explanation: { ...explanation, isEnabled: false, status } }];
    lab.staged = [heldObject(name)];
    lab.isTooEarly = !isDeleted;
    await lab.pass(15_000);
    lab.isTooEarly = false;
    await lab.pass(MINUTE_MS);
    const asked = isDeleted ? 0 : lab.unfinished.length;
    expect(lab.unfinished).toHaveLength(asked);
    await lab.pass(5 * MINUTE_MS);
    expect(lab.unfinished.slice(asked)).toEqual(isDeleted ? [] : [name]);
    expect(lab.sent('DELETE')).toBe(0);
  },
);

test('the deletion of the object of an enabled module is explained once', async () => {
  await using lab = new Lab();
  lab.staged = [heldObject('web')];
  await lab.pass(MINUTE_MS);
  expect(lab.sent('/events')).toBe(2);
  expect(lab.unfinished).toEqual([]);
});

test('isKept() is known as soon as the cluster has responded, and follows it', async () => {
  const { signal } = new AbortController();
  let isAllowed = false;
  await using lab = new Lab(() => (isAllowed ? undefined : 403));
  expect(await lab.objects.isKept(signal)).toBe(false);
  isAllowed = true;
  await lab.pass(6 * MINUTE_MS);
  expect(await lab.objects.isKept(signal)).toBe(true);
});

test('record() shows no content of a Secret, with any message of the server of a module', async () => {
  const { signal } = new AbortController();
  const messages: unknown[] = [];
  await using lab = new Lab(({ path, body }) => {
    if (path.endsWith('/events') && isObject(body)) messages.push(body['message']);
    return undefined;
  });
  await lab.pass(5_000);
  messages.length = 0;
  const message = 'pre-reconcile: the password hunter22 is refused';
  await lab.objects.record('web', { type: 'Warning', reason: 'HookFailed', message }, signal);
  expect(messages).toEqual(['pre-reconcile: the password *** is refused']);
});

test.each([[400], [413], [422], [500]])(
  'an object that is refused with %s keeps no other from being written, and is tried again later',
  async (status) => {
    await using lab = new Lab(({ path }) => (path.endsWith('/bad/status') ? status : undefined));
    lab.facts = [factsOf('bad'), factsOf('web')];
    await lab.pass(60_000);
    const writes = (module: string) =>
      lab.requests.filter((line) => line === `PATCH ${MODULES}/${module}/status`);
    expect([writes('bad').length, writes('web').length]).toEqual([1, 1]);
    await lab.pass(5 * MINUTE_MS);
    expect(writes('bad').length).toBe(2);
    expect(lab.log.records).toContainEqual(expect.objectContaining({ module: 'bad', level: 'warn' }));
  },
);

import { KubeApiError, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { HookedModules, type HookedModulesOptions } from './hooked-modules.ts';
import { HOOK_ANNOTATION, HOOK_FINALIZER, OPERATOR_ANNOTATION } from './module-object.ts';

const never = new AbortController().signal;
const OWN = { [OPERATOR_ANNOTATION]: 'ns/cm' };

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly finalizers?: readonly string[];
  };
}

/** An API server with at most one object, `web`; each request may be refused once. */
class Lab {
  readonly log = new CapturedLog(new FakeClock());
  readonly requests: string[] = [];
  readonly refusals: { readonly method: string; readonly status: number; readonly meanwhile?: Stored }[] = [];
  object: Stored | undefined;
  readonly modules: HookedModules;

  constructor(object?: Stored, options: Partial<HookedModulesOptions> = {}) {
    this.object = object;
    this.modules = new HookedModules({
      kube: { request: async (request) => this.#response(request) },
      log: this.log.logger,
      namespace: 'ns',
      operator: 'ns/cm',
      isOn: true,
      isKept: async () => true,
      statusOf: () => ({ phase: 'Progressing' }),
      ...options,
    });
  }

  #response({ method, path, body }: KubeRequest): unknown {
    this.requests.push(`${method} ${path.replace('/apis/addon-operator.io/v1alpha1/', '')}`);
    const refusal = this.refusals.find((one) => one.method === method);
    if (refusal !== undefined) {
      this.refusals.splice(this.refusals.indexOf(refusal), 1);
      this.object = refusal.meanwhile ?? this.object;
      throw new KubeApiError('no', { status: refusal.status, reason: 'No' });
    }
    if (method === 'GET' && this.object === undefined)
      throw new KubeApiError('none', { status: 404, reason: 'NotFound' });
    // What the tests send is of this shape.
    const { metadata } = (body ?? { metadata: {} }) as { readonly metadata: Partial<Stored['metadata']> };
    if (method === 'POST') this.object = { metadata: { name: 'web', ...metadata } };
    if (method === 'PATCH' && this.object !== undefined)
      this.object = { ...this.object, metadata: { ...this.object.metadata, ...metadata } };
    return this.object;
  }

  get warnings() {
    return this.log.records.filter(({ level }) => level === 'warn');
  }
}

test('read() creates a missing object, and takes one that was created at the same time', async () => {
  const lab = new Lab();
  expect(await lab.modules.read('web', never)).toMatchObject({
    metadata: { annotations: OWN },
    status: { phase: 'Progressing' },
  });
  const slow = new Lab();
  const meanwhile = { metadata: { name: 'web', annotations: OWN, uid: 'theirs' }, status: {} };
  slow.refusals.push({ method: 'POST', status: 409, meanwhile });
  expect(await slow.modules.read('web', never)).toEqual(meanwhile);
});

test.each<[string, Stored | undefined, Partial<HookedModulesOptions>]>([
  ['Modules are not kept', undefined, { isKept: async () => false }],
  [
    'it belongs to another operator',
    { metadata: { name: 'web', annotations: { [OPERATOR_ANNOTATION]: 'x/y' } } },
    {},
  ],
])('read() makes an object up when %s, and nothing is written', async (_case, object, options) => {
  const { modules, requests, warnings } = new Lab(object, options);
  const made = await modules.read('web', never);
  expect(made).toMatchObject({ kind: 'Module', metadata: { name: 'web' }, status: { phase: 'Progressing' } });
  await modules.report(made, { endpoint: 'a' }, never);
  await modules.hold('web', '{}', never);
  await modules.release('web', never);
  expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  expect(warnings).toHaveLength(0);
});

test('hold() adds the finalizer to those of others, once, and release() takes only that', async () => {
  const lab = new Lab({ metadata: { name: 'web', annotations: OWN, finalizers: ['others'] } });
  lab.refusals.push({ method: 'PATCH', status: 409 });
  await lab.modules.hold('web', '{"a":1}', never);
  expect(lab.object?.metadata).toMatchObject({
    finalizers: ['others', HOOK_FINALIZER],
    annotations: { [HOOK_ANNOTATION]: '{"a":1}' },
  });
  expect(await lab.modules.heldBy('web', never)).toBe('{"a":1}');
  const before = lab.requests.length;
  await lab.modules.hold('web', '{"a":1}', never);
  expect(lab.requests.slice(before)).toEqual(['GET modules/web']);
  await lab.modules.release('web', never);
  expect(lab.object?.metadata.finalizers).toEqual(['others']);
  expect(await lab.modules.heldBy('web', never)).toBeUndefined();
});

test('hold() reports a refusal once, and throws what another try may fix', async () => {
  const lab = new Lab();
  for (const method of ['GET', 'POST', 'GET']) lab.refusals.push({ method, status: 403 });
  for (const _time of [1, 2, 3]) await lab.modules.hold('web', '{}', never);
  expect(lab.warnings).toMatchObject([{ module: 'web', reason: 'no' }]);
  lab.refusals.push({ method: 'GET', status: 503 });
  await expect(lab.modules.hold('web', '{}', never)).rejects.toThrow('no');
});

test('the change of a list of finalizers that changes all the time fails in the end', async () => {
  const lab = new Lab({ metadata: { name: 'web', annotations: OWN } });
  for (let tries = 1; tries <= 10; tries += 1) lab.refusals.push({ method: 'PATCH', status: 409 });
  await expect(lab.modules.hold('web', '{}', never)).rejects.toThrow('no');
});

test('heldBy() queries the cluster although Modules are not kept at the moment', async () => {
  const object = {
    metadata: { name: 'web', annotations: { ...OWN, [HOOK_ANNOTATION]: '{}' }, finalizers: [HOOK_FINALIZER] },
  };
  const lab = new Lab(object, { isKept: async () => false });
  expect(await lab.modules.heldBy('web', never)).toBe('{}');
  lab.refusals.push({ method: 'GET', status: 403 });
  expect(await lab.modules.heldBy('web', never)).toBeUndefined();
  lab.refusals.push({ method: 'GET', status: 500 });
  await expect(lab.modules.heldBy('web', never)).rejects.toThrow('no');
  expect(await new Lab(object, { isOn: false }).modules.heldBy('web', never)).toBeUndefined();
});

import type { SpanContext } from '@addon-operator/base/trace';
import { expect, test } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { RecordingTracer } from '../../test/support/recording-tracer.ts';
import { runForWebhook } from './webhook-run.ts';

const HOOK = {
  kubernetes: [{ kind: 'Pod', name: 'pods' }],
  kubernetesValidating: [{ name: 'check.example.com', includeSnapshotsFrom: ['pods'] }],
};
const HOOK_OF_EVENTS = { kubernetes: [{ kind: 'Pod', name: 'blocked' }] };
const never = new AbortController().signal;
const REVIEW = { request: { uid: '6f' } };

function ask(lab: OperatorLab, hook: string, client?: SpanContext) {
  const runtime = lab.runtimeOf(hook);
  const [binding] = runtime.hook.config.admission;
  if (binding === undefined) throw new Error('the hook has no webhook');
  const caller = { atMs: lab.clock.steadyMs(), span: client };
  const reason = { type: 'admission', binding, review: REVIEW } as const;
  return runForWebhook(lab.operator, runtime, { reason, caller }, never);
}

async function started(
  hooks: Readonly<Record<string, object>>,
  tracer?: RecordingTracer,
): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], hooks, tracer === undefined ? {} : { tracer });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

test('the hook gets the review with its snapshots, and its response is returned', async () => {
  await using lab = await started({ 'web/a.sh': HOOK });
  let seen: unknown;
  lab.behaviours.set('web/a.sh', ({ contexts, write }) => {
    seen = contexts;
    write('VALIDATING_RESPONSE_PATH', { allowed: false, message: 'no' });
  });
  const { admission } = await ask(lab, 'web/a.sh');
  expect(admission).toEqual({ isAllowed: false, message: 'no', warnings: [], patch: '' });
  expect(seen).toEqual([
    { binding: 'check.example.com', type: 'Validating', review: REVIEW, snapshots: { pods: [] } },
  ]);
});

test('the hook is run while the queue of the module is blocked', async () => {
  await using lab = await started({ 'web/a.sh': HOOK, 'web/b.sh': HOOK_OF_EVENTS });
  lab.behaviours.set('web/b.sh', failing);
  lab.emit('web/b.sh/blocked');
  await lab.settle();
  expect(lab.operator.router.main.status.type).toBe('delayed');
  await ask(lab, 'web/a.sh');
  expect(lab.calls.at(-1)).toBe('web/a.sh Validating:check.example.com');
});

test('values that the hook changes cause a run of its module', async () => {
  await using lab = await started({ 'web/a.sh': HOOK });
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/x', value: 1 });
  });
  await ask(lab, 'web/a.sh');
  await lab.settle();
  expect(lab.values.moduleValues(name('web'))).toEqual({ x: 1 });
  expect(lab.calls).toContain('deploy web {"x":1}');
});

test('a failed run is reported and not repeated', async () => {
  await using lab = await started({ 'web/a.sh': HOOK });
  lab.behaviours.set('web/a.sh', failing);
  await expect(ask(lab, 'web/a.sh')).rejects.toMatchObject({ code: 'HOOK_FAILED' });
  await lab.settle();
  expect(lab.calls).toEqual(['web/a.sh Validating:check.example.com']);
});

test('an invalid response fails the run, and nothing of it is applied', async () => {
  await using lab = await started({ 'web/a.sh': HOOK });
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/x', value: 1 });
    write('ADMISSION_RESPONSE_PATH', { allowed: true, patch: [] });
  });
  await expect(ask(lab, 'web/a.sh')).rejects.toMatchObject({ code: 'HOOK_OUTPUT_INVALID' });
  expect(lab.values.moduleValues(name('web'))).toEqual({});
});

test("a module's webhooks come before its onStartup hooks and go after its afterDeleteHelm hooks", async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': {
      onStartup: 1,
      afterDeleteHelm: 1,
      kubernetesValidating: HOOK.kubernetesValidating.map(({ name: id }) => ({ name: id })),
    },
  });
  await lab.converge();
  expect(lab.takeCalls()).toEqual([
    'discover',
    'config web',
    'webhooks a.sh on',
    'web/a.sh onStartup',
    'deploy web',
  ]);
  lab.enabled.delete('web');
  lab.operator.router.queueConverge('ReloadAllModules', 'test');
  await lab.settle();
  expect(lab.takeCalls()).toEqual([
    'discover',
    'uninstall web',
    'web/a.sh afterDeleteHelm',
    'webhooks a.sh off',
  ]);
});

test('a module whose webhooks cannot be registered is not started before they can', async () => {
  await using lab = await operatorLab(['web'], {
    'web/a.sh': { onStartup: 1, kubernetesMutating: [{ name: 'change.example.com' }] },
  });
  lab.obstacles.set('webhooks a.sh on', () => {
    lab.obstacles.delete('webhooks a.sh on');
    throw new Error('away');
  });
  await lab.converge();
  expect(lab.calls).not.toContain('web/a.sh onStartup');
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('webhooks'))).toHaveLength(2);
  expect(lab.calls).toContain('deploy web');
});

/** Spans of one request: its event, the request itself, the run of the hook. */
async function spansOfRequest(client?: SpanContext) {
  const tracer = new RecordingTracer();
  await using lab = await started({ 'web/a.sh': HOOK }, tracer);
  tracer.spans.length = 0;
  await ask(lab, 'web/a.sh', client);
  expect(tracer.spans.map(({ name, kind }) => [name, kind ?? 'internal'])).toEqual([
    ['event admission', 'consumer'],
    ['admission', 'server'],
    ['hook run a.sh', 'internal'],
  ]);
  const [event, request, hook] = tracer.spans;
  return { event, request, hook };
}

test('a request is part of the trace of its event, and the run of the hook is part of the request', async () => {
  const { event, request, hook } = await spansOfRequest();
  expect(event?.all['addon_operator.binding.name']).toBe('check.example.com');
  expect([request?.parent, hook?.parent]).toEqual([event, request]);
});

test('a request of a client with a trace is part of that, and linked with its event and the run of the hook', async () => {
  const client = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), isSampled: true };
  const { event, request, hook } = await spansOfRequest(client);
  expect(request).toMatchObject({ client, parent: undefined, links: [event?.context] });
  expect(request?.context.traceId).toBe(client.traceId);
  expect(hook).toMatchObject({ links: [request?.context] });
  expect(hook?.parent).toBe(event);
});

test('a conversion has the spans of a request, with the binding that it is for', async () => {
  const tracer = new RecordingTracer();
  const conversions = [{ fromVersion: 'v1', toVersion: 'v2' }];
  const binding = { name: 'convert', crdName: 'crontabs.example.com', conversions };
  await using lab = await started({ 'web/a.sh': { kubernetesCustomResourceConversion: [binding] } }, tracer);
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('CONVERSION_RESPONSE_PATH', { convertedObjects: [] });
  });
  tracer.spans.length = 0;
  const runtime = lab.runtimeOf('web/a.sh');
  const [found] = runtime.hook.config.conversion;
  const [rule] = found?.conversions ?? [];
  if (found === undefined || rule === undefined) throw new Error('the hook has no conversion');
  const client = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), isSampled: true };
  const caller = { atMs: lab.clock.steadyMs(), span: client };
  const reason = { type: 'conversion', binding: found, rule, review: REVIEW } as const;
  await runForWebhook(lab.operator, runtime, { reason, caller }, never);
  const [event, request, hook] = tracer.spans;
  expect(tracer.spans.map(({ name, kind }) => [name, kind ?? 'internal'])).toEqual([
    ['event conversion', 'consumer'],
    ['conversion', 'server'],
    ['hook run a.sh', 'internal'],
  ]);
  expect(event?.all['addon_operator.binding.name']).toBe('crontabs.example.com');
  expect(request).toMatchObject({ client, links: [event?.context] });
  expect(hook).toMatchObject({ parent: event, links: [request?.context] });
  expect(tracer.spans.filter(({ endMs }) => endMs === undefined)).toEqual([]);
});

test('what a request leads to comes after its span', async () => {
  const tracer = new RecordingTracer();
  await using lab = await started({ 'web/a.sh': HOOK }, tracer);
  lab.behaviours.set('web/a.sh', ({ write }) => {
    write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/x', value: 1 });
  });
  tracer.spans.length = 0;
  await ask(lab, 'web/a.sh');
  await lab.settle();
  const run = tracer.spans.find(({ name }) => name === 'task ModuleRun');
  expect(run?.parent?.name).toBe('event admission');
});

test('the span of a request that fails says why', async () => {
  const tracer = new RecordingTracer();
  await using lab = await started({ 'web/a.sh': HOOK }, tracer);
  lab.behaviours.set('web/a.sh', failing);
  tracer.spans.length = 0;
  await expect(ask(lab, 'web/a.sh')).rejects.toMatchObject({ code: 'HOOK_FAILED' });
  expect(tracer.spans[1]?.error).toBe("module hook 'a.sh' failed: hook is broken");
});

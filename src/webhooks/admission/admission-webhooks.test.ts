import { silentLogger } from '@addon-operator/base/log';
import { CertificateSlot } from '@addon-operator/http-server/webhook-certificates';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import type { AdmissionBinding } from '../../hook-config/admission-binding.ts';
import type { AdmissionResponse } from '../../hooks/webhook-responses.ts';
import { type AdmissionHook, AdmissionWebhooks } from './admission-webhooks.ts';
import type { DesiredWebhooks } from './webhook-configurations.ts';

const never = new AbortController().signal;
const ALLOWED: AdmissionResponse = { isAllowed: true, message: '', warnings: [], patch: '' };

function binding(name: string, more: Partial<AdmissionBinding> = {}): AdmissionBinding {
  return {
    type: 'kubernetesValidating',
    name,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 10,
    snapshotsFrom: [],
    ...more,
  };
}

function hook(
  title: string,
  bindings: readonly AdmissionBinding[],
  respond?: AdmissionHook['respond'],
): AdmissionHook {
  return { title, bindings, respond: respond ?? (async () => ALLOWED) };
}

function startLab(places = 16, random = 0.5) {
  const clock = new FakeClock();
  const certificates = new CertificateSlot({ cert: 'c', key: 'k', ca: 'one', expiresMs: 0 });
  const registered: string[][] = [];
  const authorities: unknown[] = [];
  const failures: Error[] = [];
  let opened = 0;
  const webhooks = new AdmissionWebhooks({
    configurations: {
      sync: async ({ kubernetesValidating, kubernetesMutating }: DesiredWebhooks) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        const all = [...kubernetesValidating, ...kubernetesMutating];
        registered.push(all.map(({ name }) => name));
        authorities.push(all[0]?.['clientConfig']);
      },
    },
    target: { type: 'service', namespace: 'ns', name: 'svc' },
    ownState: { namespace: 'ns', configMap: 'cm', secret: 's' },
    open: async () => {
      opened += 1;
      return certificates;
    },
    runs: new PQueue({ concurrency: places }),
    clock,
    random: () => random,
    log: silentLogger,
    stop: never,
  });
  const send = async (path: string, timeoutMs?: number) => {
    const body = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"6f"}}';
    const reply = await webhooks.handle({ path, body, ...(timeoutMs !== undefined && { timeoutMs }) }, never);
    return (JSON.parse(reply.body) as { response: unknown }).response;
  };
  return {
    clock,
    certificates,
    webhooks,
    registered,
    authorities,
    failures,
    send,
    opened: () => opened,
  };
}

const denied = (code: number, message: string) => ({ uid: '6f', allowed: false, status: { code, message } });

test('hooks are registered and called under their path; the server starts with the first of them', async () => {
  const { webhooks, registered, send, opened } = startLab();
  await webhooks.add([hook('plain', [])], never);
  expect([opened(), registered]).toEqual([0, [[]]]);
  const sent: unknown[] = [];
  const first = hook('first', [binding('a.b.c')], async (of, review) => {
    sent.push([of.name, review]);
    return { ...ALLOWED, warnings: ['w'] };
  });
  await webhooks.add([first, hook('second', [binding('x.y.z')])], never);
  expect([opened(), registered.at(-1)]).toEqual([1, ['a.b.c', 'x.y.z']]);
  expect(await send('//hooks/a-b-c/')).toEqual({ uid: '6f', allowed: true, warnings: ['w'] });
  expect(sent).toEqual([['a.b.c', { request: { uid: '6f', object: null, oldObject: null, options: null } }]]);
});

test('only the first hooks without webhooks make us look for old ones, and that may fail', async () => {
  const { webhooks, registered, failures } = startLab();
  failures.push(new Error('away'));
  await webhooks.add([hook('plain', [])], never);
  expect(registered).toEqual([]);
  await webhooks.add([hook('plain', [])], never);
  await webhooks.add([hook('plain', [])], never);
  expect(registered).toEqual([[]]);
});

test('a hook that is gone is no longer registered, and its path unknown', async () => {
  const { webhooks, registered, send } = startLab();
  const [one, two] = [hook('one', [binding('a.b.c')]), hook('two', [binding('x.y.z')])];
  await webhooks.add([one, two], never);
  await webhooks.remove([one], never);
  expect(registered.at(-1)).toEqual(['x.y.z']);
  expect(await send('/hooks/a-b-c')).toEqual(
    denied(500, "handle AdmissionReview: no hook found for 'hooks' 'a-b-c'"),
  );
  expect(await send('/other/x-y-z')).toEqual(
    denied(500, "handle AdmissionReview: no hook found for 'other' 'x-y-z'"),
  );
});

test.each(['Fail', 'Ignore'] as const)(
  'every failure to respond denies with the name of the hook, with the failure policy %s',
  async (failurePolicy) => {
    const { webhooks, send } = startLab();
    const item = (name: string) => binding(name, { failurePolicy });
    await webhooks.add(
      [
        hook('no', [item('no.b.c')], async () => ({
          ...ALLOWED,
          isAllowed: false,
          message: 'm',
          warnings: ['w'],
        })),
        hook('silent', [item('silent.b.c')], async () => undefined),
        hook('broken', [item('broken.b.c')], () => Promise.reject(new Error('exit status 1'))),
      ],
      never,
    );
    expect(await send('/hooks/no-b-c')).toEqual({ ...denied(403, 'm'), warnings: ['w'] });
    expect(await send('/hooks/silent-b-c')).toEqual(
      denied(500, 'handle AdmissionReview: hook task prop error: silent wrote no answer'),
    );
    expect(await send('/hooks/broken-b-c')).toEqual(denied(403, 'Hook failed: broken'));
  },
);

test('a hook that takes too long is stopped, and its failure policy decides', async () => {
  const { clock, webhooks, send } = startLab();
  const slow: AdmissionHook['respond'] = () => Promise.withResolvers<undefined>().promise;
  const item = (name: string, failurePolicy: 'Fail' | 'Ignore') =>
    binding(name, { failurePolicy, timeoutSeconds: 2 });
  await webhooks.add([hook('slow', [item('fail.b.c', 'Fail'), item('ignore.b.c', 'Ignore')], slow)], never);
  const replies = Promise.all([send('/hooks/fail-b-c'), send('/hooks/ignore-b-c')]);
  await clock.untilAsleep(2);
  await clock.advance(1_500);
  expect(await replies).toEqual([
    denied(504, 'slow gave no response within 1.5 s'),
    {
      uid: '6f',
      allowed: true,
      warnings: ['slow gave no response within 1.5 s: allowed by its failurePolicy'],
    },
  ]);
});

test('requests are handled at the same time', async () => {
  const { webhooks, send } = startLab();
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const both: AdmissionHook['respond'] = async () => {
    waiting += 1;
    if (waiting === 2) gate.resolve();
    await gate.promise;
    return ALLOWED;
  };
  await webhooks.add([hook('h', [binding('a.b.c')], both)], never);
  await Promise.all([send('/hooks/a-b-c'), send('/hooks/a-b-c')]);
  expect(waiting).toBe(2);
});

test.each([
  ['of two hooks', [hook('one', [binding('a.b.c')]), hook('two', [binding('a-b.c')])]],
  ['of one hook', [hook('one', [binding('a.b.c'), binding('a.b.c', { type: 'kubernetesMutating' })])]],
])('bindings %s with the same path are refused, and none is registered', async (_what, hooks) => {
  const { webhooks, registered } = startLab();
  await expect(webhooks.add(hooks, never)).rejects.toMatchObject({
    code: 'HOOK_CONFIG_INVALID',
    message: expect.stringContaining('would both be called under /hooks/a-b-c'),
  });
  expect(registered).toEqual([]);
});

test('hooks that cannot be registered are not in operation, and may be added again', async () => {
  const { webhooks, failures, send } = startLab();
  const one = hook('one', [binding('a.b.c')]);
  failures.push(new Error('away'));
  await expect(webhooks.add([one], never)).rejects.toThrow('away');
  expect(await send('/hooks/a-b-c')).toMatchObject({ allowed: false });
  await webhooks.add([one], never);
  expect(await send('/hooks/a-b-c')).toMatchObject({ allowed: true });
});

test('webhooks are registered again after 30 s with jitter, when their new authority could not be', async () => {
  const { clock, certificates, webhooks, failures, authorities } = startLab(16, 0);
  await webhooks.add([hook('one', [binding('a.b.c')])], never);
  failures.push(new Error('away'));
  certificates.replace({ cert: 'c2', key: 'k2', ca: 'two', expiresMs: 0 });
  await clock.untilAsleep();
  expect(clock.pendingDelaysMs).toContain(27_000);
  await clock.advance(27_000);
  expect(authorities).toHaveLength(2);
});

test('a new authority is registered, however often that fails', async () => {
  const { clock, certificates, webhooks, failures, authorities } = startLab();
  await webhooks.add([hook('one', [binding('a.b.c')])], never);
  failures.push(new Error('away'));
  certificates.replace({ cert: 'c2', key: 'k2', ca: 'two', expiresMs: 0 });
  await clock.untilAsleep();
  await clock.advance(30_000);
  expect(authorities.at(-1)).toMatchObject({ caBundle: Buffer.from('two').toString('base64') });
  certificates.replace({ cert: 'c3', key: 'k3', ca: 'two', expiresMs: 0 });
  await settle();
  expect(authorities).toHaveLength(2);
});

test('hooks run for so many requests at a time, the others wait, each until its own deadline', async () => {
  const { clock, webhooks, send } = startLab(2);
  const ends: (() => void)[] = [];
  let most = 0;
  let running = 0;
  const slow = hook('slow', [binding('a.b.c')], async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return ALLOWED;
  });
  await webhooks.add([slow], never);
  const sent = [undefined, undefined, 2_000, 8_000].map((timeoutMs) => send('/hooks/a-b-c', timeoutMs));
  await clock.advance(1_500);
  expect(await sent[2]).toEqual(
    denied(504, 'slow was not run within 1.5 s: too many requests wait for hooks'),
  );
  expect(ends).toHaveLength(2);
  for (const end of ends.splice(0)) end();
  await clock.advance(1);
  for (const end of ends.splice(0)) end();
  const allowed = { uid: '6f', allowed: true };
  expect(await Promise.all([sent[0], sent[1], sent[3]])).toMatchObject([allowed, allowed, allowed]);
  expect(most).toBe(2);
  const late = send('/hooks/a-b-c', 1_000);
  await clock.advance(750);
  expect(await late).toEqual(denied(504, 'slow gave no response within 0.75 s'));
});

import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { CertificateSlot } from '@addon-operator/http-server/webhook-certificates';
import type { KubeRequest } from '@addon-operator/kube-client/kube-client';
import { expect, onTestFinished, test } from 'vitest';
import { settle } from '../../../test/support/fake-clock.ts';
import { ReflectorLab } from '../../../test/support/reflector-lab.ts';
import type { WebhookTarget } from '../webhook-target.ts';
import { conversionSpec, keepCrdConversion } from './crd-conversion.ts';

const CRD = 'boxes.acme.io';
const KEY = `/${CRD}`;
const PLURAL = 'customresourcedefinitions';
const TARGET: WebhookTarget = { type: 'service', namespace: 'ops', name: 'hooks' };
const NONE = { group: 'acme.io', conversion: { strategy: 'None' } };
const certificate = (ca: string) => ({ cert: 'cert', key: 'key', ca, expiresMs: 0 });

/** Keeps `boxes.acme.io` at our webhook, on a server in memory that stores what it is sent. */
function start(lab = new ReflectorLab(), random = 0.5) {
  const requests: KubeRequest[] = [];
  const certificates = new CertificateSlot(certificate('ca'));
  const failures: Error[] = [];
  const tried = Promise.withResolvers<void>();
  let tries = 0;
  const ended = keepCrdConversion(
    CRD,
    {
      kube: {
        request: async (request) => {
          requests.push(request);
          const failure = failures.shift();
          if (failure !== undefined) throw failure;
          const ca = certificates.current.ca;
          return lab.api.put(KEY, { spec: { ...NONE, conversion: conversionSpec(TARGET, CRD, ca) } }, PLURAL);
        },
      },
      reflectors: lab.reflectors,
      clock: lab.clock,
      random: () => random,
      log: silentLogger,
      target: TARGET,
      certificates,
    },
    () => {
      tries += 1;
      tried.resolve();
    },
    lab.stop.signal,
  );
  onTestFinished(() => {
    lab.stop.abort();
  });
  const advance = async (ms: number): Promise<void> => {
    await lab.clock.advance(ms);
    await settle();
  };
  return { lab, requests, certificates, failures, tried: tried.promise, ended, advance, tries: () => tries };
}

const CA_BUNDLE = Buffer.from('ca').toString('base64');

test('a definition is made to use our service', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  const { requests, tried } = start(lab);
  await tried;
  expect(requests).toEqual([
    {
      method: 'PATCH',
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD}`,
      contentType: 'application/merge-patch+json',
      body: {
        spec: {
          conversion: {
            strategy: 'Webhook',
            webhook: {
              clientConfig: {
                url: null,
                service: { namespace: 'ops', name: 'hooks', path: `/${CRD}`, port: 443 },
                caBundle: CA_BUNDLE,
              },
              conversionReviewVersions: ['v1', 'v1beta1'],
            },
          },
        },
      },
    },
  ]);
});

test('outside of the cluster the webhook has a URL', () => {
  expect(conversionSpec({ type: 'url', url: 'https://127.0.0.1:9681' }, CRD, 'ca')).toMatchObject({
    webhook: { clientConfig: { url: `https://127.0.0.1:9681/${CRD}`, caBundle: CA_BUNDLE } },
  });
});

test('what is as it should be is not written', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: { ...NONE, conversion: conversionSpec(TARGET, CRD, 'ca') } }, PLURAL);
  const { requests, tried, advance } = start(lab);
  await tried;
  await advance(60_000);
  expect(requests).toEqual([]);
});

test('a definition that comes later is set when it comes, and again when it is made anew', async () => {
  const { lab, requests, tried, advance } = start();
  await tried;
  expect(requests).toEqual([]);
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  await advance(0);
  expect(requests).toHaveLength(1);
  await advance(1_000);
  lab.api.delete(KEY, PLURAL);
  await advance(0);
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  await advance(0);
  expect(requests).toHaveLength(2);
});

test('a change back is reverted, once a second at most', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  const { requests, tried, advance } = start(lab);
  await tried;
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  await advance(999);
  expect(requests).toHaveLength(1);
  await advance(1);
  expect(requests).toHaveLength(2);
});

test('a new authority is reported at once', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  const { requests, certificates, tried, advance } = start(lab);
  await tried;
  await advance(1_000);
  certificates.replace(certificate('next'));
  await advance(0);
  expect(requests[1]?.body).toMatchObject({
    spec: { conversion: { webhook: { clientConfig: { caBundle: Buffer.from('next').toString('base64') } } } },
  });
});

test('what fails is tried again after 15 s', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  const { requests, failures, tried, advance } = start(lab);
  failures.push(new OperatorError('KUBE_UNREACHABLE', 'no answer'));
  await tried;
  await advance(14_999);
  expect(requests).toHaveLength(1);
  await advance(1);
  expect(requests).toHaveLength(2);
});

test('a conversion that cannot be set is tried again after 15 s with jitter', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  lab.api.isDown = true;
  const { requests, tried, advance } = start(lab, 0);
  await tried;
  lab.api.isDown = false;
  await advance(13_499);
  expect(requests).toHaveLength(0);
  await advance(1);
  expect(requests).toHaveLength(1);
});

test('an API server that is away at first does not hold up the start', async () => {
  const lab = new ReflectorLab();
  lab.api.put(KEY, { spec: NONE }, PLURAL);
  lab.api.isDown = true;
  const { requests, tried, advance } = start(lab);
  await tried;
  lab.api.isDown = false;
  await advance(15_000);
  expect(requests).toHaveLength(1);
});

test('it ends with the signal', async () => {
  const { lab, tried, ended, tries } = start();
  await tried;
  lab.stop.abort();
  await ended;
  expect(tries()).toBe(1);
});

import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import { expect, test } from 'vitest';
import { replaceUnservedKinds } from './unserved-kinds.ts';

const signal = new AbortController().signal;
const SERVED = ['v1/ConfigMap', 'policy/v1/PodDisruptionBudget'];
const MANIFEST = `---
# Source: web/templates/all.yaml
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: acme.io/v1
kind: Box
metadata: {name: b}
`;

function resource(group: string, version: string, kind: string) {
  const names = { plural: '', singular: '', shortNames: [] };
  return { group, version, kind, ...names, isNamespaced: true, verbs: [] };
}

/** The manifest that is stored instead; undefined when the record is left as it is. */
async function stored(manifest: string, isDiscoverable = true): Promise<string | undefined> {
  let written: string | undefined;
  const context = {
    log: silentLogger,
    store: {
      payload: async () =>
        await Promise.resolve({
          manifest,
          chart: { name: '', version: '' },
          values: {},
          info: { deployedAt: '', description: '' },
        }),
      setManifest: async (_revision: unknown, text: string) => {
        written = text;
        return await Promise.resolve();
      },
    },
    discovery: {
      find: async (apiVersion: string | undefined, kind: string) => {
        if (!SERVED.includes(`${apiVersion}/${kind}`))
          throw new OperatorError('KUBE_KIND_UNKNOWN', 'unknown');
        return await Promise.resolve(resource('', '', kind));
      },
      rediscover: async ({ group, kind }: { readonly group: string; readonly kind: string }) => {
        if (!isDiscoverable) throw new KubeApiError('a page of a proxy', { status: 404, reason: '' });
        const served = SERVED.find((name) => name.startsWith(`${group}/`) && name.endsWith(`/${kind}`));
        return await Promise.resolve(
          served === undefined ? undefined : resource(group, served.split('/')[1] ?? '', kind),
        );
      },
    },
  };
  const revision = {
    release: 'web',
    revision: 1,
    status: 'deployed',
    labels: {},
    objects: undefined,
    recordName: 'sh.helm.release.v1.web.v1',
    uid: 'u',
    resourceVersion: '1',
  } as const;
  await replaceUnservedKinds(context, revision, signal);
  return written;
}

test('replaceUnservedKinds() names another version of the group, or takes the object out', async () => {
  expect(await stored(MANIFEST)).toBe(`---
# Source: web/templates/all.yaml
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
`);
});

test.each([
  [
    'every kind is served',
    MANIFEST.replace('v1beta1', 'v1').replace(/---\napiVersion: acme[\s\S]*/, ''),
    true,
  ],
  ['the server behind an aggregated API is down, or a proxy answers in its place', MANIFEST, false],
])('replaceUnservedKinds() leaves the record alone when %s', async (_case, manifest, isDiscoverable) => {
  expect(await stored(manifest, isDiscoverable)).toBeUndefined();
});

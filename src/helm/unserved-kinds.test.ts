import { expect, test } from 'vitest';
import { KubeApiError } from '../kube/kube-client.ts';
import { OperatorError } from '../lib/errors.ts';
import { silentLogger } from '../lib/log.ts';
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

/** The manifest that is stored instead; undefined when the record is left as it is. */
async function stored(manifest: string, statusOfGroup: number): Promise<string | undefined> {
  let written: string | undefined;
  const context = {
    log: silentLogger,
    store: {
      payload: async () => await Promise.resolve({ manifest, chart: { name: '', version: '' }, values: {} }),
      setManifest: async (_revision: unknown, text: string) => {
        written = text;
        return await Promise.resolve();
      },
    },
    discovery: {
      find: async (apiVersion: string | undefined, kind: string) => {
        if (!SERVED.includes(`${apiVersion}/${kind}`))
          throw new OperatorError('KUBE_KIND_UNKNOWN', 'unknown');
        const names = { plural: '', singular: '', shortNames: [] };
        return await Promise.resolve({
          group: '',
          version: '',
          kind,
          ...names,
          isNamespaced: true,
          verbs: [],
        });
      },
      apiVersions: async () => await Promise.resolve(SERVED),
    },
    kube: {
      request: async () =>
        await Promise.reject(new KubeApiError('no', { status: statusOfGroup, reason: '' })),
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
    writtenAtMs: 0,
  } as const;
  await replaceUnservedKinds(context, revision, signal);
  return written;
}

test('replaceUnservedKinds() names another version of the group, or takes the object out', async () => {
  expect(await stored(MANIFEST, 404)).toBe(`---
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
    404,
  ],
  ['the server behind an aggregated API is down', MANIFEST, 503],
])('replaceUnservedKinds() leaves the record alone when %s', async (_case, manifest, status) => {
  expect(await stored(manifest, status)).toBeUndefined();
});

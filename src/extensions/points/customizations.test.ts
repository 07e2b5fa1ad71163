import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../../test/support/captured-log.ts';
import { startExtensionRuntime } from '../../../test/support/extension-runtime.ts';
import { type FileTree, writeTree } from '../../../test/support/world-files.ts';
import { Customizations, type CustomizationsOptions, type HostSet } from './customizations.ts';
import { createManifestModifier, pointOf } from './object-points.ts';
import { nextOf } from './point.ts';

const never = new AbortController().signal;
const DEPLOYMENT: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
const started = startExtensionRuntime({ heapLimitBytes: 64 * 1024 * 1024 });
const impatient = startExtensionRuntime({ timeoutMs: 2_000 });
const { runtime } = started;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'customizations-'));
});
afterEach(() => rm(root, { recursive: true }));
afterAll(async () => {
  await started.stop();
  await impatient.stop();
});

/** A host whose `modifyManifest` has this body. */
function modifier(body: string, name = 'DeploymentExtensions'): string {
  return `import { defineExtensions, type ManifestModifier, type KubernetesObject, type HookLog } from 'addon-operator/sdk';
class ${name} implements ManifestModifier {
  calls = 0;
  async modifyManifest(object: KubernetesObject, next: (object: KubernetesObject) => Promise<KubernetesObject>, apiVersion: string, log: HookLog) {
    ${body}
  }
}
export default defineExtensions(new ${name}());
`;
}

const marking = (mark: string): string =>
  modifier(
    `const object2 = await next(object); return { ...object2, marks: [...(object2.marks as string[] ?? []), '${mark} ' + apiVersion] };`,
  );

/** All kinds are served, unless `discovery` is given. */
function customizationsOf(options: Partial<CustomizationsOptions>): Customizations {
  return new Customizations({
    commonDir: join(root, 'customizations'),
    extensions: runtime,
    discovery: { resourcesWithoutKind: () => Promise.resolve(undefined) },
    log: silentLogger,
    ...options,
  });
}

async function hosts(files: FileTree, on = runtime): Promise<HostSet | undefined> {
  await writeTree(root, files);
  const customizations = customizationsOf({ extensions: on });
  return await customizations.of(join(root, 'modules/web'), never);
}

async function failure(files: FileTree): Promise<unknown> {
  return await hosts(files).then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function modified(set: HostSet | undefined, object = DEPLOYMENT): Promise<KubeObject> {
  const point = pointOf(createManifestModifier, set, object);
  return await point(
    object,
    nextOf((one) => one),
    object.apiVersion ?? '',
    silentLogger,
    never,
  );
}

test('of() gives nothing where there is no directory, or no host in it', async () => {
  expect(await hosts({})).toBeUndefined();
  const set = await hosts({
    'customizations/shared.ts': 'throw new Error("not a host")',
    'customizations/apps/README.md': 'text',
    'customizations/apps/deployment.test.ts': 'throw new Error("not a host")',
    'customizations/apps/deeper/deployment.ts': 'throw new Error("not a host")',
  });
  expect(set).toBeUndefined();
});

test('a script that exports extensions but is no host is warned about, however it exports them', async () => {
  const start = "import { defineExtensions } from 'addon-operator/sdk';\n";
  const files = {
    'deployment.ts': `${start}const all = defineExtensions({});\nexport default all;\n`,
    'apps/v1/deployment.mjs': `${start}const all = defineExtensions({});\nexport { all as default };\n`,
    'apps/deployment.cjs': `module.exports = require('addon-operator/sdk').defineExtensions({});\n`,
    'apps/deployment.tsx': `${start}export default defineExtensions({});\n`,
    'shared.ts': `${start}export const extensionsOf = (host) => defineExtensions(host);\n`,
    'apps/deployment.d.ts': `${start}export default defineExtensions({});\n`,
  };
  await writeTree(join(root, 'customizations'), files);
  const { logger, records } = new CapturedLog(systemClock);
  await customizationsOf({ log: logger }).loadCommon(never);
  expect(records.map(({ path }) => relative(join(root, 'customizations'), String(path)))).toEqual([
    'apps/deployment.cjs',
    'apps/deployment.tsx',
    'apps/v1/deployment.mjs',
    'deployment.ts',
  ]);
});

test('a file that exports extensions where it cannot be a host is reported once', async () => {
  const text = `import { defineExtensions } from 'addon-operator/sdk';\nexport default defineExtensions({});\n`;
  await writeTree(root, { 'customizations/deployment.ts': text, 'customizations/a.test.ts': text });
  const { logger, records } = new CapturedLog(systemClock);
  const customizations = customizationsOf({ log: logger });
  await customizations.loadCommon(never);
  expect(await customizations.of(undefined, never)).toBeUndefined();
  expect(records).toMatchObject([{ level: 'warn', path: join(root, 'customizations/deployment.ts') }]);
});

/** Warnings of one load, with the place of their file below `customizations`. */
async function warningsOf(
  files: FileTree,
  discovery: CustomizationsOptions['discovery'],
): Promise<unknown[]> {
  await writeTree(root, files);
  const { logger, records } = new CapturedLog(systemClock);
  const customizations = customizationsOf({ log: logger, discovery });
  await customizations.loadCommon(never);
  await customizations.of(undefined, never);
  return records
    .filter(({ level }) => level === 'warn')
    .map(({ extension, msg }) => [relative(join(root, 'customizations'), String(extension)), msg]);
}

test('a host file of a kind that is not served is warned about once, with the kind that was probably meant', async () => {
  const served = [
    {
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      singular: 'configmap',
      shortNames: [],
    },
  ].map((resource) => ({ ...resource, isNamespaced: true, verbs: ['get'] }));
  const host =
    "import { defineExtensions } from 'addon-operator/sdk';\nexport default defineExtensions({ delete: () => undefined });\n";
  const warnings = await warningsOf(
    { 'customizations/core/config-map.ts': host, 'customizations/core/confg-map.ts': host },
    {
      resourcesWithoutKind: async ({ kind }) =>
        await Promise.resolve(kind === 'configmap' ? undefined : served),
    },
  );
  expect(warnings).toEqual([
    [
      'core/confg-map.ts',
      'the API server does not serve a kind core/confgmap (did you mean "core/configmap"?); the extension has no effect until it does',
    ],
  ]);
});

test('a host whose kind cannot be looked up is loaded without a warning', async () => {
  const files = { 'customizations/apps/deployment.ts': marking('a') };
  const discovery = { resourcesWithoutKind: () => Promise.reject(new Error('unreachable')) };
  expect(await warningsOf(files, discovery)).toEqual([]);
});

test('a misspelt method beside others is warned about, with the method that was probably meant', async () => {
  const text = marking('a').replace('calls = 0;', 'onSucess() {}\n  helper() {}');
  const files = { 'customizations/apps/deployment.ts': text };
  const discovery = { resourcesWithoutKind: () => Promise.resolve(undefined) };
  expect(await warningsOf(files, discovery)).toEqual([
    [
      'apps/deployment.ts',
      'the method onSucess is never called: it is not an extension point (did you mean "onSuccess"?)',
    ],
  ]);
});

test('of() finds hosts by group and kind, for all versions of a kind', async () => {
  const set = await hosts({
    'customizations/apps/deployment.ts': marking('a'),
    'customizations/core/config-map.mts': marking('b').replaceAll(
      'DeploymentExtensions',
      'ConfigMapExtensions',
    ),
  });
  expect(set?.find('apps/v1', 'Deployment').map(({ name }) => name)).toEqual(['DeploymentExtensions']);
  expect(set?.find('apps/v1beta1', 'Deployment')).toHaveLength(1);
  expect(set?.find('v1', 'ConfigMap').map(({ name }) => name)).toEqual(['ConfigMapExtensions']);
  expect(set?.find('v1', 'Deployment')).toEqual([]);
  expect(set?.find('apps/v1', 'StatefulSet')).toEqual([]);
});

test('of() returns which points are extended by the methods that hosts have', async () => {
  const set = await hosts({ 'customizations/apps/deployment.ts': marking('a') });
  expect(set?.has('modifyManifest')).toBe(true);
  expect(set?.has('classifyError')).toBe(false);
});

test('the host of a module goes before the operator-wide one, which is its default behaviour', async () => {
  const set = await hosts({
    'customizations/apps/deployment.ts': marking('wide'),
    'modules/web/customizations/apps/deployment.ts': marking('own'),
  });
  expect(await modified(set)).toMatchObject({ marks: ['wide apps/v1', 'own apps/v1'] });
});

test('a host of another module is not called', async () => {
  const set = await hosts({ 'modules/db/customizations/apps/deployment.ts': marking('db') });
  expect(set).toBeUndefined();
});

test('two hosts for one kind are refused, with any file names', async () => {
  const error = await failure({
    'customizations/apps/deployment.ts': marking('a'),
    'customizations/apps/Deployment.mjs': marking('b'),
  });
  expect(hasCode(error, 'EXTENSION_INVALID')).toBe(true);
  expect(messageOf(error)).toContain(join(root, 'customizations/apps/Deployment.mjs'));
  expect(messageOf(error)).toContain(join(root, 'customizations/apps/deployment.ts'));
});

test.each([
  ['does not parse', 'export default (', 'SyntaxError'],
  ['throws at load', 'throw new Error("no luck");', 'no luck'],
  ['has no default export', 'export const a = 1;', 'default export'],
  [
    'exports a hook',
    "import { defineHook } from 'addon-operator/sdk'; export default defineHook({}, () => {});",
    'defineExtensions',
  ],
  [
    'exports flow hooks',
    "import { defineFlowHooks } from 'addon-operator/sdk'; export default defineFlowHooks(() => {});",
    'must be the result of defineExtensions()',
  ],
  [
    'has none of the methods',
    "import { defineExtensions } from 'addon-operator/sdk'; export default defineExtensions({});",
    'has none of the methods classifyError,',
  ],
  [
    'has a class of another kind',
    marking('a').replaceAll('DeploymentExtensions', 'DiskExtensions'),
    'its class is DiskExtensions',
  ],
])('a host file that %s is refused with its path', async (_case, text, expected) => {
  const error = await failure({ 'customizations/apps/deployment.ts': text });
  expect(hasCode(error, 'EXTENSION_INVALID')).toBe(true);
  expect(messageOf(error)).toContain(join(root, 'customizations/apps/deployment.ts'));
  expect(messageOf(error)).toContain(expected);
});

test.each<[string, string, string, typeof runtime?]>([
  ['throws', "throw new Error('out of luck');", 'out of luck'],
  ['returns garbage', 'return { a: () => 1 } as never;', 'a'],
  ['returns nothing', 'return undefined as never;', 'modifyManifest'],
  ['hangs', 'for (;;);', 'limit of 2 s', impatient.runtime],
  ['leaks', 'const all = []; for (;;) all.push(Array(1e4).fill(0));', 'memory'],
  ['never answers', 'return await new Promise(() => {});', '', impatient.runtime],
  ['keeps state', 'this.calls += 1; return object;', 'read only'],
  [
    'registers a method later',
    'Object.assign(this, { classifyError: () => 1 }); return object;',
    'not extensible',
  ],
])('a method that %s fails with the reason, and the next call works', async (_case, body, expected, on) => {
  const host = modifier(`if (object.metadata.name === 'bad') { ${body} }\nreturn object;`);
  const set = await hosts({ 'customizations/apps/deployment.ts': host }, on);
  const error: unknown = await modified(set, { ...DEPLOYMENT, metadata: { name: 'bad' } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(hasCode(error, 'EXTENSION_FAILED')).toBe(true);
  expect(messageOf(error)).toContain(expected);
  expect(await modified(set)).toEqual(DEPLOYMENT);
});

test('files that changed are loaded again, and the digest changes with any file beside them', async () => {
  await writeTree(root, { 'customizations/apps/deployment.ts': marking('old') });
  const customizations = customizationsOf({});
  const first = await customizations.of(join(root, 'modules/web'), never);
  expect(await modified(first)).toMatchObject({ marks: ['old apps/v1'] });
  await writeTree(root, { 'customizations/apps/deployment.ts': marking('new') });
  const second = await customizations.of(join(root, 'modules/web'), never);
  expect(await modified(second)).toMatchObject({ marks: ['new apps/v1'] });
  await writeTree(root, { 'customizations/shared.ts': 'export const a = 1;' });
  const third = await customizations.of(join(root, 'modules/web'), never);
  expect(new Set([first?.digest, second?.digest, third?.digest]).size).toBe(3);
  expect((await customizations.of(join(root, 'modules/db'), never))?.digest).toBe(third?.digest);
});

test('hosts that modify nothing are no part of the digest', async () => {
  const set = await hosts({
    'customizations/apps/deployment.ts': modifier('return object;')
      .replaceAll('modifyManifest', 'preReconcileCheck')
      .replaceAll('ManifestModifier', 'PreReconcileChecker')
      .replace('implements PreReconcileChecker', ''),
  });
  expect(set?.has('preReconcileCheck')).toBe(true);
  expect(set?.digest).toBe('');
});

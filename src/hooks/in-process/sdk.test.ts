import { silentLogger } from '@addon-operator/base/log';
import type {
  AdmissionBinding,
  ConversionBinding,
  HookConfig,
  HookInput,
  HookSettings,
  KubernetesBinding,
  ScheduleBinding,
} from '@addon-operator/sdk';
import { recordHookRun } from '@addon-operator/sdk/host';
import { expect, test } from 'vitest';
import type { ConfigSchema } from '../../hook-config/config-schema-parts.ts';
import { NO_BINDINGS } from '../../hook-config/hook-config.ts';
import { hookConfigSchema } from '../../hook-config/hook-config-schema.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { Hook } from '../hook.ts';
import { parseOutputs } from '../parse-outputs.ts';

const HOOK: Hook = {
  name: 'hooks/a.ts',
  path: '/a.ts',
  transport: 'in-process',
  owner: { type: 'module', module: 'web' as ModuleName },
  config: NO_BINDINGS,
};

/** Every key of a type, so that a key which is missing here or there does not compile. */
type KeysOf<T> = Readonly<Record<keyof T, true>>;

const QUEUED = {
  name: true,
  allowFailure: true,
  queue: true,
  group: true,
  includeSnapshotsFrom: true,
} as const;
const ADMISSION: KeysOf<AdmissionBinding> = {
  name: true,
  rules: true,
  failurePolicy: true,
  sideEffects: true,
  timeoutSeconds: true,
  matchConditions: true,
  labelSelector: true,
  namespace: true,
  group: true,
  includeSnapshotsFrom: true,
};
const CONFIG: KeysOf<HookConfig> = {
  configVersion: true,
  onStartup: true,
  beforeAll: true,
  afterAll: true,
  beforeHelm: true,
  afterHelm: true,
  beforeDeleteHelm: true,
  afterDeleteHelm: true,
  beforeInstall: true,
  afterInstall: true,
  beforeLaunch: true,
  afterLaunch: true,
  afterAuthFail: true,
  beforeUninstall: true,
  schedule: true,
  kubernetes: true,
  kubernetesValidating: true,
  kubernetesMutating: true,
  kubernetesCustomResourceConversion: true,
  settings: true,
};
const PARTS: Readonly<Record<string, object>> = {
  schedule: { ...QUEUED, crontab: true } satisfies KeysOf<ScheduleBinding>,
  kubernetes: {
    ...QUEUED,
    apiVersion: true,
    kind: true,
    watchEvent: true,
    executeHookOnEvent: true,
    executeHookOnSynchronization: true,
    waitForSynchronization: true,
    keepFullObjectsInMemory: true,
    jqFilter: true,
    resynchronizationPeriod: true,
    debounce: true,
    coalesce: true,
    nameSelector: true,
    labelSelector: true,
    fieldSelector: true,
    namespace: true,
  } satisfies KeysOf<KubernetesBinding>,
  kubernetesValidating: ADMISSION,
  kubernetesMutating: ADMISSION,
  kubernetesCustomResourceConversion: {
    name: true,
    crdName: true,
    conversions: true,
    group: true,
    includeSnapshotsFrom: true,
  } satisfies KeysOf<ConversionBinding>,
  settings: {
    executionMinInterval: true,
    executionBurst: true,
    timeout: true,
    restartOnChange: true,
    exitCodes: true,
    statusCodes: true,
    retry: true,
  } satisfies KeysOf<HookSettings>,
};

function properties(schema: ConfigSchema | undefined): Readonly<Record<string, ConfigSchema>> {
  return (schema?.['properties'] ?? {}) as Readonly<Record<string, ConfigSchema>>;
}

test('the types of a configuration have the keys of the schema that checks it, and no others', () => {
  const schemas = { ...properties(hookConfigSchema('global')), ...properties(hookConfigSchema('module')) };
  expect(Object.keys(CONFIG).toSorted()).toEqual(Object.keys(schemas).toSorted());
  for (const [name, keys] of Object.entries(PARTS)) {
    const schema = schemas[name];
    const part = (schema?.['items'] as ConfigSchema | undefined) ?? schema;
    expect([name, Object.keys(keys).toSorted()]).toEqual([name, Object.keys(properties(part)).toSorted()]);
  }
});

function parsed(act: (input: HookInput) => void) {
  const texts = { bindingContext: '[]', values: '{}', configValues: '{}' };
  const run = recordHookRun(texts, () => undefined, new AbortController().signal);
  act(run.input);
  return parseOutputs(run.outputs(), HOOK, silentLogger);
}

test('everything the methods record is understood as what executables write', () => {
  const target = { apiVersion: 'v1', kind: 'Pod', namespace: 'n', name: 'p' };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } };
  const outputs = parsed(({ values, configValues, kubernetes, metrics, admission, conversion }) => {
    values.set('web.a', 1);
    values.remove('web.b');
    configValues.patch([{ op: 'test', path: '/web/c', value: null }]);
    kubernetes.create(object);
    kubernetes.createIfNotExists(object);
    kubernetes.createOrUpdate(object);
    kubernetes.delete(target);
    kubernetes.deleteInBackground(target);
    kubernetes.deleteNonCascading(target);
    kubernetes.mergePatch(target, { a: 1 }, { subresource: 'status', ignoreMissingObject: true });
    kubernetes.jsonPatch(target, [{ op: 'move', from: '/a', path: '/b' }]);
    kubernetes.jqPatch(target, '.a = 1');
    metrics.set('a', 1, { l: 'v' }, { group: 'g' });
    metrics.add('b', 2);
    metrics.observe('c', 3);
    metrics.expire('g');
    metrics.expire();
    admission.allow({ warnings: ['w'], patch: [{ op: 'add', path: '/a', value: 'ü' }] });
    conversion.converted([object]);
  });
  expect(outputs.patches.values).toHaveLength(2);
  expect(outputs.patches.config).toHaveLength(1);
  expect(outputs.objectOperations.map(({ operation }) => operation)).toEqual([
    'Create',
    'CreateIfNotExists',
    'CreateOrUpdate',
    'Delete',
    'DeleteInBackground',
    'DeleteNonCascading',
    'MergePatch',
    'JSONPatch',
    'JQPatch',
  ]);
  expect(outputs.metrics.map(({ action }) => action)).toEqual(['set', 'add', 'observe', 'expire', 'expire']);
  expect(outputs.admission).toMatchObject({ isAllowed: true, warnings: ['w'] });
  expect(outputs.conversion).toEqual({ type: 'converted', objects: [object] });
});

test('what the rules forbid is refused, in the words for executables', () => {
  expect(() => parsed(({ values }) => values.set('other.a', 1))).toThrow(/only 'web' accepted/);
  expect(() => parsed(({ metrics }) => metrics.add('a', -1))).toThrow(/must not be negative/);
});

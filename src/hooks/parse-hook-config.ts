import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { loadAll } from 'js-yaml';
import { messageOf, OperatorError } from '../lib/errors.ts';
import { parseGoDuration } from '../lib/go-duration.ts';
import { isObject } from '../lib/json.ts';
import type {
  HookConfig,
  HookSettings,
  KubernetesBinding,
  LifecycleBinding,
  ScheduleBinding,
} from './hook-config.ts';
import { hookConfigSchema } from './hook-config-schema.ts';
import type { FieldRequirement, LabelSelector, WatchEventType } from './kubernetes-binding.ts';

/** Checks of parts of a configuration that other rooms know about; each throws an Error with the reason. */
export interface BindingChecks {
  readonly crontab: (expression: string) => void;
  readonly jqFilter: (program: string) => Promise<void>;
}

/** The schema guarantees this shape. */
interface RawConfig {
  readonly [binding: string]: unknown;
  readonly schedule?: readonly RawSchedule[];
  readonly kubernetes?: readonly RawKubernetes[];
  readonly settings?: {
    readonly executionMinInterval?: string;
    readonly executionBurst?: number;
    readonly timeout?: string;
  };
}

interface RawQueued {
  readonly name?: string;
  readonly allowFailure?: boolean;
  readonly queue?: string;
  readonly group?: string;
  readonly includeSnapshotsFrom?: readonly string[];
}

interface RawSchedule extends RawQueued {
  readonly crontab: string;
}

interface RawKubernetes extends RawQueued {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly watchEvent?: readonly WatchEventType[];
  readonly executeHookOnEvent?: readonly WatchEventType[];
  readonly executeHookOnSynchronization?: boolean;
  readonly waitForSynchronization?: boolean;
  readonly keepFullObjectsInMemory?: boolean;
  readonly jqFilter?: string;
  readonly nameSelector?: { readonly matchNames: readonly string[] };
  readonly labelSelector?: LabelSelector;
  readonly fieldSelector?: { readonly matchExpressions: readonly FieldRequirement[] };
  readonly namespace?: {
    readonly nameSelector?: { readonly matchNames: readonly string[] };
    readonly labelSelector?: LabelSelector;
  };
}

const ALL_EVENTS: readonly WatchEventType[] = ['Added', 'Modified', 'Deleted'];
const WEBHOOK_BINDINGS = ['kubernetesValidating', 'kubernetesMutating', 'kubernetesCustomResourceConversion'];
const API_VERSION = /^([a-z0-9.-]+\/)?[a-z0-9]+$/i;

/** Turns `--config` output into a {@link HookConfig}. One parser serves all hooks: schemas are compiled once. */
export class HookConfigParser {
  readonly #validators: Record<'global' | 'module', ValidateFunction>;
  readonly #checks: BindingChecks;

  constructor(checks: BindingChecks) {
    const ajv = new Ajv({ allErrors: true, strict: false, verbose: true });
    this.#validators = {
      global: ajv.compile(hookConfigSchema('global')),
      module: ajv.compile(hookConfigSchema('module')),
    };
    this.#checks = checks;
  }

  /**
   * Parses YAML or JSON; of several YAML documents the first counts.
   *
   * @throws OperatorError HOOK_CONFIG_INVALID listing every problem with its path
   */
  async parse(text: string, scope: 'global' | 'module'): Promise<HookConfig> {
    const document = parseDocument(text);
    checkVersion(document);
    const validate = this.#validators[scope];
    if (!validate(document)) throw invalid((validate.errors ?? []).map(describe));
    const raw = document as RawConfig;
    const problems = await this.#crossCheck(raw);
    if (problems.length > 0) throw invalid(problems);
    return {
      lifecycle: lifecycleOrders(raw),
      schedule: (raw.schedule ?? []).map((item) => scheduleBinding(item, raw)),
      kubernetes: (raw.kubernetes ?? []).map((item, index) => kubernetesBinding(item, index, raw)),
      settings: hookSettings(raw),
    };
  }

  async #crossCheck(raw: RawConfig): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [index, item] of (raw.schedule ?? []).entries()) {
      const found = [...snapshotProblems(item, raw)];
      await collect(found, 'crontab is invalid', async () => this.#checks.crontab(item.crontab));
      problems.push(...found.map((problem) => `invalid schedule config [${index}]: ${problem}`));
    }
    for (const [index, item] of (raw.kubernetes ?? []).entries()) {
      const found = [...snapshotProblems(item, raw), ...kubernetesProblems(item)];
      const jqFilter = given(item.jqFilter);
      if (jqFilter !== undefined)
        await collect(found, 'jqFilter: compile jqFilter', () => this.#checks.jqFilter(jqFilter));
      problems.push(...found.map((problem) => `invalid kubernetes config [${index}]: ${problem}`));
    }
    const { executionMinInterval, timeout } = raw.settings ?? {};
    await collect(problems, 'settings.executionMinInterval is invalid', async () =>
      durationMs(executionMinInterval ?? '0s'),
    );
    await collect(problems, 'settings.timeout is invalid', async () => durationMs(timeout ?? '0s'));
    return problems;
  }
}

async function collect(problems: string[], prefix: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    problems.push(`${prefix}: ${messageOf(error)}`);
  }
}

function parseDocument(text: string): unknown {
  try {
    // A hook's answer is trusted with duplicate keys (the last wins), as in its JSON form.
    return loadAll(firstDocument(text), { json: true })[0] ?? {};
  } catch (error) {
    throw new OperatorError('HOOK_CONFIG_INVALID', `config unmarshal: ${messageOf(error)}`, { cause: error });
  }
}

/** Leaves out the documents behind the first: whatever stands there, it need not even be YAML. */
function firstDocument(text: string): string {
  const isBlank = (part: string): boolean => part.split('\n').every((line) => /^\s*([#%]|$)/.test(line));
  for (const { index } of text.matchAll(/^---(?=\s|$)/gm))
    if (!isBlank(text.slice(0, index).replace(/^---/m, ''))) return text.slice(0, index);
  return text;
}

function checkVersion(document: unknown): void {
  if (!isObject(document))
    throw new OperatorError(
      'HOOK_CONFIG_INVALID',
      'config unmarshal: a mapping is expected at the top level',
    );
  const version = document['configVersion'];
  if (version === 'v1') return;
  if (version === undefined)
    throw invalid([
      "configVersion is required; write 'configVersion: v1' (the format without it is not supported)",
    ]);
  if (version === null) throw invalid(["config version: missing 'configVersion' value"]);
  if (typeof version !== 'string')
    throw invalid(["config version: string value is expected for key 'configVersion'"]);
  throw invalid([`config version: 'configVersion' value '${version}' is unsupported`]);
}

function invalid(problems: readonly string[]): OperatorError {
  const list = problems.map((problem) => ` * ${problem}`).join('\n');
  return new OperatorError('HOOK_CONFIG_INVALID', `${problems.length} error(s) occurred:\n${list}`);
}

/** One schema error in words: the dotted path (list positions left out), the problem, what is allowed. */
function describe(error: ErrorObject): string {
  const path = error.instancePath
    .split('/')
    .filter((part) => part !== '' && !/^\d+$/.test(part))
    .join('.');
  const params: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case 'additionalProperties': {
      const property = String(params['additionalProperty']);
      if (path === '' && WEBHOOK_BINDINGS.includes(property))
        return `.${property} is not supported yet: webhooks are not served`;
      const allowed = isObject(error.parentSchema?.['properties'])
        ? `; allowed: ${Object.keys(error.parentSchema['properties']).join(', ')}`
        : '';
      return `${path}.${property} is a forbidden property${allowed}`;
    }
    case 'required':
    case 'dependencies':
      return `${path === '' ? '' : `${path}.`}${String(params['missingProperty'])} is required`;
    case 'type':
      return `${path} must be of type ${String(params['type'])}: "${typeName(error.data)}"`;
    case 'enum':
      return `${path} should be one of [${(error.schema as readonly string[]).join(' ')}]`;
    case 'minItems':
      return `${path} should have at least ${String(params['limit'])} items`;
    case 'minProperties':
      return `${path === '' ? 'config' : path} should have at least ${String(params['limit'])} properties`;
    default:
      return `${path} ${error.message ?? error.keyword}`;
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function* snapshotProblems(item: RawQueued, raw: RawConfig): Iterable<string> {
  for (const name of item.includeSnapshotsFrom ?? []) {
    const count = (raw.kubernetes ?? []).filter((other) => nameOf(other) === name).length;
    if (count === 0) yield `includeSnapshotsFrom: '${name}' binding name not found`;
    if (count > 1) yield `includeSnapshotsFrom: there are ${count} '${name}' binding names`;
  }
}

function* kubernetesProblems(item: RawKubernetes): Iterable<string> {
  if (item.apiVersion !== undefined && item.apiVersion !== '' && !API_VERSION.test(item.apiVersion))
    yield `apiVersion is invalid: '${item.apiVersion}', expected 'version' or 'group/version'`;
  const fields = item.fieldSelector?.matchExpressions ?? [];
  if (
    (item.nameSelector?.matchNames ?? []).length > 0 &&
    fields.some(({ field }) => field === 'metadata.name')
  )
    yield "fieldSelector 'metadata.name' and nameSelector are mutually exclusive";
  for (const selector of [item.labelSelector, item.namespace?.labelSelector]) {
    for (const { key, operator, values } of selector?.matchExpressions ?? []) {
      const hasValues = (values ?? []).length > 0;
      if ((operator === 'In' || operator === 'NotIn') !== hasValues)
        yield `labelSelector is invalid: key '${key}': ${operator} ${hasValues ? 'takes no values' : 'needs values'}`;
    }
  }
}

/** @throws Error when the text is no duration */
function durationMs(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) throw new Error(`'${text}' is not a duration such as 30s or 1h30m`);
  return ms;
}

function nameOf(item: RawKubernetes): string {
  return given(item.name) ?? 'kubernetes';
}

/** An empty text means the same as none. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function queuedPart(item: RawQueued, raw: RawConfig, defaultName: string) {
  const group = given(item.group);
  const kubernetes = raw.kubernetes ?? [];
  const included = (item.includeSnapshotsFrom ?? []).map((name) =>
    kubernetes.findIndex((other) => nameOf(other) === name),
  );
  const grouped = kubernetes.flatMap((other, index) =>
    group !== undefined && other.group === group ? [index] : [],
  );
  return {
    name: given(item.name) ?? defaultName,
    allowFailure: item.allowFailure ?? false,
    queue: given(item.queue) ?? 'main',
    snapshotsFrom: [...new Set([...included, ...grouped])],
    ...(group === undefined ? {} : { group }),
  };
}

function scheduleBinding(item: RawSchedule, raw: RawConfig): ScheduleBinding {
  return { type: 'schedule', ...queuedPart(item, raw, 'schedule'), crontab: item.crontab };
}

function kubernetesBinding(item: RawKubernetes, index: number, raw: RawConfig): KubernetesBinding {
  const { labelSelector, nameSelector, fieldSelector, namespace } = item;
  const [apiVersion, jqFilter] = [given(item.apiVersion), given(item.jqFilter)];
  return {
    type: 'kubernetes',
    index,
    ...queuedPart(item, raw, 'kubernetes'),
    executeOnSynchronization: item.executeHookOnSynchronization ?? true,
    // Only a binding with a queue of its own may be overtaken by what waits for synchronization.
    waitForSynchronization: given(item.queue) === undefined || (item.waitForSynchronization ?? true),
    watch: {
      name: nameOf(item),
      kind: item.kind,
      keepFullObjects: item.keepFullObjectsInMemory ?? true,
      executeOnEvents: item.executeHookOnEvent ?? item.watchEvent ?? ALL_EVENTS,
      ...(apiVersion === undefined ? {} : { apiVersion }),
      ...(jqFilter === undefined ? {} : { jqFilter }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(nameSelector === undefined ? {} : { nameSelector: nameSelector.matchNames }),
      ...(fieldSelector === undefined ? {} : { fieldSelector: fieldSelector.matchExpressions }),
      ...(namespace === undefined ? {} : { namespace: namespaceSelector(namespace) }),
    },
  };
}

function namespaceSelector(namespace: NonNullable<RawKubernetes['namespace']>) {
  const { labelSelector, nameSelector } = namespace;
  if (labelSelector !== undefined) return { labelSelector };
  return nameSelector === undefined ? {} : { nameSelector: nameSelector.matchNames };
}

function lifecycleOrders(raw: RawConfig): HookConfig['lifecycle'] {
  const names: readonly LifecycleBinding[] = [
    'onStartup',
    'beforeAll',
    'afterAll',
    'beforeHelm',
    'afterHelm',
    'beforeDeleteHelm',
    'afterDeleteHelm',
  ];
  return Object.fromEntries(
    names.flatMap((name) => {
      const order = raw[name];
      return typeof order === 'number' ? [[name, order]] : [];
    }),
  );
}

function hookSettings(raw: RawConfig): HookSettings {
  const { executionMinInterval, executionBurst, timeout } = raw.settings ?? {};
  const minIntervalMs = durationMs(executionMinInterval ?? '0s');
  const timeoutMs = durationMs(timeout ?? '0s');
  return {
    ...(minIntervalMs > 0 ? { rateLimit: { minIntervalMs, burst: Math.max(1, executionBurst ?? 1) } } : {}),
    ...(timeoutMs > 0 ? { timeoutMs } : {}),
  };
}

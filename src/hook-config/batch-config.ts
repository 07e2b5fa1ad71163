/**
 * Configurations of files that hold several hooks, as module-sdk writes them. Each hook is converted into the document
 * that a single hook would print, then parsed by the same parser. Differences of the formats (nanoseconds, booleans for
 * events, names of bindings) are removed in the conversion. Problems name the index and the name of the hook.
 */

import { isDeepStrictEqual } from 'node:util';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import type { HookScope } from './binding-kinds.ts';
import { type HookConfig, NO_BINDINGS } from './hook-config.ts';
import { invalidConfig } from './hook-config-document.ts';
import type { HookConfigParser } from './parse-hook-config.ts';

/** The configurations in a file that holds several hooks, as it prints them for `hook config`. */
export interface BatchConfig {
  /** In the order of the file: the position of a hook is the index it is run by. */
  readonly hooks: readonly { readonly name: string; readonly config: HookConfig }[];
  /** When the readiness of the module is probed; absent without a probe. */
  readonly readiness?: HookConfig;
  /** Whether the file checks settings before they are used. */
  readonly hasSettingsCheck: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const VERSION = 'v1';
/** All bindings of a hook of the SDK are in this group, so that it always gets all its snapshots. */
const GROUP = 'main';
/** Every 15 seconds, for a probe that names no crontab. */
const READINESS_CRONTAB = '*/15 * * * * *';
const PROBE = 'readiness';
const NS_PER_MS = 1_000_000;
/** Names become labels of metrics and parts of names that are shown. */
const NAME = /^[^\p{Cc}]{0,253}$/u;
const LISTED = /^\d+ error\(s\) occurred:\n/u;

/** A `beforeHelm` of a global hook runs before all modules. */
const GLOBAL_NAMES: Fields = { beforeHelm: 'beforeAll', afterHelm: 'afterAll' };

/**
 * Parses what a file with several hooks prints for `hook config`: an object with a version, or the older bare list of hooks.
 * Defaults are those of module-sdk, where they differ from those of `--config`.
 *
 * @param readinessQueue the queue of the readiness probe
 * @throws OperatorError HOOK_CONFIG_INVALID listing every problem with the index and the name of the hook
 */
export async function parseBatchConfig(
  text: string,
  scope: HookScope,
  parser: HookConfigParser,
  readinessQueue: string,
): Promise<BatchConfig> {
  const { hooks, readiness, hasSettingsCheck } = batchDocument(text);
  const problems: string[] = [];
  const parse = async (place: string, document: Fields): Promise<HookConfig | undefined> => {
    // A file may hold hooks that never run; they do not keep the others from running.
    if (isDeepStrictEqual(document, { configVersion: VERSION })) return NO_BINDINGS;
    try {
      return await parser.parse(JSON.stringify(document), scope);
    } catch (error) {
      if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw error;
      problems.push(...problemsIn(error.message).map((problem) => `${place}: ${problem}`));
      return undefined;
    }
  };
  const parsed: BatchConfig['hooks'][number][] = [];
  for (const [index, item] of hooks.entries()) {
    const name = nameOf(item);
    const place = `hooks[${index}]${name === '' ? '' : ` '${name}'`}`;
    if (!NAME.test(name)) problems.push(`${place}: metadata.name is too long or has control characters`);
    const config = isObject(item)
      ? await parse(place, hookDocument(item, scope))
      : void problems.push(`${place}: expected an object`);
    if (config !== undefined) parsed.push({ name, config });
  }
  const probe =
    readiness === undefined ? undefined : await parse(PROBE, readinessDocument(readiness, readinessQueue));
  if (problems.length > 0) throw invalidConfig(problems);
  return { hooks: parsed, ...(probe !== undefined && { readiness: probe }), hasSettingsCheck };
}

interface BatchDocument {
  readonly hooks: readonly unknown[];
  readonly readiness: Fields | undefined;
  readonly hasSettingsCheck: boolean;
}

/** @throws OperatorError HOOK_CONFIG_INVALID when it is neither of the two forms */
function batchDocument(text: string): BatchDocument {
  const document = jsonOf(text);
  if (Array.isArray(document)) return { hooks: document, readiness: undefined, hasSettingsCheck: false };
  if (!isObject(document)) throw invalidConfig(['an object or a list of hooks is expected']);
  const { version, hooks, readiness, has_settings_check: hasSettingsCheck } = document;
  if (version !== VERSION)
    throw invalidConfig([`version ${JSON.stringify(version) ?? 'is missing'}: known is '${VERSION}'`]);
  if (hooks !== null && hooks !== undefined && !Array.isArray(hooks))
    throw invalidConfig(['hooks: expected a list']);
  return {
    hooks: Array.isArray(hooks) ? hooks : [],
    readiness: isObject(readiness) ? readiness : undefined,
    hasSettingsCheck: hasSettingsCheck === true,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidConfig([`not JSON: ${messageOf(error)}`]);
  }
}

/** `metadata.name`; empty where there is none. */
function nameOf(item: unknown): string {
  const metadata = isObject(item) ? item['metadata'] : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** One hook in the form that hooks print for `--config`. */
function hookDocument(
  { metadata: _name, logLevel: _level, allowFailure, settings, schedule, kubernetes, ...item }: Fields,
  scope: HookScope,
): Fields {
  const common = { group: GROUP, ...(typeof allowFailure === 'boolean' && { allowFailure }) };
  const rest = Object.entries({ configVersion: VERSION, ...item }).map(([key, value]) => [
    scope === 'global' ? (GLOBAL_NAMES[key] ?? key) : key,
    value,
  ]);
  return {
    ...(Object.fromEntries(rest) as Fields),
    ...given(
      'schedule',
      itemsOf(schedule, (binding) => ({ ...common, ...binding })),
    ),
    ...given(
      'kubernetes',
      itemsOf(kubernetes, (binding) => ({ ...common, ...kubernetesBinding(binding) })),
    ),
    ...given('settings', settingsOf(settings)),
  };
}

/** Items that are no objects pass unchanged: the schema reports them with their position. */
function itemsOf(list: unknown, change: (item: Fields) => Fields): unknown {
  if (list === null || (Array.isArray(list) && list.length === 0)) return undefined;
  return Array.isArray(list) ? list.map((item: unknown) => (isObject(item) ? change(item) : item)) : list;
}

function given(key: string, value: unknown): Fields {
  return value === undefined ? {} : { [key]: value };
}

/** Selectors that select everything are printed as empty objects. */
function kubernetesBinding({ executeHookOnEvent, ...item }: Fields): Fields {
  const present = Object.entries(item).filter(
    ([, value]) => value !== null && !(isObject(value) && Object.keys(value).length === 0),
  );
  return {
    // Without a filter the object is all that the hook could be given.
    keepFullObjectsInMemory: (item['jqFilter'] ?? '') === '',
    ...(Object.fromEntries(present) as Fields),
    ...given('executeHookOnEvent', eventsOf(executeHookOnEvent)),
  };
}

/** True is all events, which is the default. */
function eventsOf(given: unknown): unknown {
  if (typeof given !== 'boolean') return given ?? undefined;
  return given ? undefined : [];
}

/** Durations of Go are printed as numbers of nanoseconds. */
function settingsOf(settings: unknown): unknown {
  if (!isObject(settings)) return settings ?? undefined;
  const { enableSchedulesOnStartup: _ignored, executionMinInterval: interval, ...rest } = settings;
  const executionMinInterval = typeof interval === 'number' ? `${interval / NS_PER_MS}ms` : interval;
  const isLimited = executionMinInterval !== undefined || rest['executionBurst'] !== undefined;
  const known = isLimited
    ? { executionBurst: 0, ...rest, executionMinInterval: executionMinInterval ?? '0s' }
    : rest;
  return Object.keys(known).length === 0 ? undefined : known;
}

/** A probe that fails is no failed task: the next tick probes again. */
function readinessDocument({ schedule }: Fields, queue: string): Fields {
  const items = Array.isArray(schedule) && schedule.length > 0 ? schedule : [{}];
  return {
    configVersion: VERSION,
    schedule: items.map((item: unknown) => ({
      name: PROBE,
      crontab: isObject(item) ? (item['crontab'] ?? READINESS_CRONTAB) : item,
      queue,
      allowFailure: true,
    })),
  };
}

/** The single problems in a message of the parser, which lists several after a headline. */
function problemsIn(message: string): readonly string[] {
  if (!LISTED.test(message)) return [message];
  return message
    .replace(LISTED, '')
    .split('\n * ')
    .map((problem) => problem.replace(/^ \* /u, ''));
}

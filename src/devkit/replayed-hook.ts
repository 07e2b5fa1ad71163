import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { canonicalJson, isObject, type JsonObject } from '@addon-operator/json';
import { type HookConfig, namedBindings } from '../hook-config/hook-config.ts';
import { type Hook, moduleNameOf, title, valuesOwnerOf } from '../hooks/hook.ts';
import { parseOutputs } from '../hooks/parse-outputs.ts';
import type { HookRuns } from '../hooks/run-hook.ts';
import {
  fullNameOf,
  type Recording,
  type ReplayAttempt,
  type ReplayedHook,
  type RunEffects,
} from '../recordings/hook-recordings.ts';
import { sectionOf } from '../values/module-key.ts';
import { patchSection } from '../values/section-patch.ts';

export interface ReplayParts {
  readonly hook: Hook;
  readonly runs: HookRuns;
  /** Of a hook that has none of its own: one that hangs must not keep the other recordings waiting. Default: none. */
  readonly timeoutMs?: number;
  /** Requests that the hook itself sent to the Kubernetes API since the last call. */
  readonly takeRequests: () => readonly string[];
  readonly signal: AbortSignal;
}

type Outputs = NonNullable<Recording['outputs']>;

/** A hook that is run with the input of recorded runs. Nothing that it writes is applied. */
export function replayedHook(parts: ReplayParts): ReplayedHook {
  const hook = parts.timeoutMs === undefined ? parts.hook : withLimit(parts.hook, parts.timeoutMs);
  let count = 0;
  return {
    run: async (recording) => {
      const problem = mismatchOf(recording, hook);
      if (problem !== undefined) return { effects: undefined, error: problem, requests: [] };
      count += 1;
      return await attempt({ ...parts, hook }, recording, `replay-${count}`);
    },
    effectsOf: (recording) => {
      try {
        return recording.outputs && effectsOf(recording, recording.outputs, hook);
      } catch {
        // The operator refused them when they were recorded, too.
        return undefined;
      }
    },
  };
}

async function attempt(
  { hook, runs, takeRequests, signal }: ReplayParts,
  recording: Recording,
  idempotencyKey: string,
): Promise<ReplayAttempt> {
  takeRequests();
  const { contexts, values, configValues } = recording;
  const inputs = {
    bindingContext: JSON.stringify(contexts),
    values: JSON.stringify(values),
    configValues: JSON.stringify(configValues),
    idempotencyKey,
  };
  try {
    const { outputs } = await runs.run(hook, inputs, silentLogger, signal);
    return { effects: effectsOf(recording, outputs, hook), requests: takeRequests() };
  } catch (error) {
    signal.throwIfAborted();
    return { effects: undefined, error: messageOf(error), requests: takeRequests() };
  }
}

function effectsOf(recording: Recording, outputs: Outputs, hook: Hook): RunEffects {
  const { patches, flags, metrics, objectOperations, admission, conversion } = parseOutputs(
    outputs,
    hook,
    silentLogger,
  );
  const owner = valuesOwnerOf(hook);
  const section = (values: Recording['values']): JsonObject => {
    const own = values[sectionOf(owner)];
    return isObject(own) ? (own as JsonObject) : {};
  };
  return {
    operations: objectOperations,
    values: patchSection(owner, section(recording.values), patches.values, 'values'),
    configValues: patchSection(owner, section(recording.configValues), patches.config, 'config values'),
    flags,
    metrics,
    ...(admission !== undefined && { admission }),
    ...(conversion !== undefined && { conversion }),
  };
}

function withLimit(hook: Hook, timeoutMs: number): Hook {
  const { settings } = hook.config;
  return { ...hook, config: { ...hook.config, settings: { timeoutMs, ...settings } } };
}

/** Why the operator would not run the hook for what is recorded. */
function mismatchOf({ module, contexts }: Recording, hook: Hook): string | undefined {
  if (moduleNameOf(hook) !== module)
    return `it is a run of a hook of ${module === '' ? 'no module' : `module ${module}`}, and ${title(hook)} is not`;
  const names = bindingNames(hook.config);
  const gone = contexts.map(({ binding }) => String(binding)).find((binding) => !names.has(binding));
  return gone === undefined
    ? undefined
    : `the hook has no binding '${gone}' any more; it has ${[...names].join(', ') || 'none'}`;
}

function bindingNames(config: HookConfig): ReadonlySet<string> {
  return new Set([
    ...Object.keys(config.lifecycle),
    ...namedBindings(config).flatMap(({ name, group }) => (group === undefined ? [name] : [name, group])),
  ]);
}

/**
 * Kubernetes bindings of a recorded run that select or filter other objects today: the operator would give the hook other
 * contexts than the recorded ones.
 */
export function changedBindings({ config, contexts }: Recording, hook: Hook): readonly string[] {
  const used = new Set(
    contexts.flatMap(({ binding, snapshots }) => [
      String(binding),
      ...(isObject(snapshots) ? Object.keys(snapshots) : []),
    ]),
  );
  const recorded: readonly unknown[] = Array.isArray(config['kubernetes']) ? config['kubernetes'] : [];
  return hook.config.kubernetes.flatMap(({ name, watch }) => {
    const then = recorded.find((binding) => isObject(binding) && binding['name'] === name);
    if (!used.has(name) || !isObject(then) || !isObject(then['watch'])) return [];
    const now = JSON.parse(JSON.stringify(watch)) as Readonly<Record<string, unknown>>;
    const before = then['watch'];
    const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
    const changed = [...keys].filter((key) => canonicalJson(before[key]) !== canonicalJson(now[key]));
    return changed.length === 0 ? [] : [`${name} (${changed.toSorted().join(', ')})`];
  });
}

/**
 * The parts of the environment that the recorded run had and this one lacks.
 *
 * @param names of the variables here
 */
export function missingVariables({ env }: Recording, names: ReadonlySet<string>): readonly string[] {
  return env.filter((name) => !names.has(name));
}

/**
 * The recordings of a hook. If all are of one hook, that may have had another name.
 *
 * @param option names the recordings or the hook, for the message
 * @throws OperatorError CONFIG_INVALID when the recordings are of several hooks, and none is of this one
 */
export function recordingsOf<T extends { readonly recording: Recording }>(
  recordings: readonly T[],
  { name, module }: { readonly name: string; readonly module: string },
  option: '--hook' | 'replay',
): readonly T[] {
  const hooks = new Set(recordings.map(({ recording }) => fullNameOf(recording)));
  if (hooks.size <= 1) return recordings;
  const own = recordings.filter(({ recording }) => recording.hook === name && recording.module === module);
  if (own.length > 0) return own;
  throw new OperatorError(
    'CONFIG_INVALID',
    `${option}: none of the recordings is of ${name}; they are of ${[...hooks].toSorted().join(', ')}: name files of one hook`,
  );
}

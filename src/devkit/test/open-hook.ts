import { resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import { moduleCrds, objectsIn, readObjectFiles } from '@addon-operator/kube-client/object-files';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { Sandbox, SandboxState } from '@addon-operator/kube-sandbox';
import { applyJsonPatch } from '@addon-operator/kube-sandbox/json-patch';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import type { Hook } from '../../hooks/hook.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import type { Settings } from '../../settings.ts';
import type { Activity } from '../../tools/hook-test/activity.ts';
import type { CaseSetting, ChangeFacts, ObjectOrFile } from '../../tools/hook-test/hook-test.ts';
import type { VirtualClock } from '../../tools/hook-test/virtual-clock.ts';
import { errorLog } from '../error-log.ts';
import type { HookLab } from '../hook-lab.ts';
import { type HookPlace, placeOf } from '../hook-place.ts';
import type { LoadedHook } from '../loaded-hook.ts';
import { netChanges, type ReportedChange } from '../object-changes.ts';
import { patchOperatorConfig } from '../operator-objects.ts';
import type { ApiFaults } from './api-faults.ts';
import type { BindingCoverage } from './binding-coverage.ts';
import type { CaseTools } from './case-tools.ts';
import { HookWorld } from './hook-world.ts';
import type { OpenedWorld } from './restartable-world.ts';
import { RunRecords } from './run-records.ts';
import { writeStubs } from './stub-programs.ts';
import { wrappedRuns } from './wrapped-runs.ts';

/** The client of test steps, whose writes are not changes by the hook. */
export const STEPS = 'hook-test-steps';
/** The client of the operator, whose writes are not either. */
export const OPERATOR = 'addon-operator';
/** The parts of the case in progress. */
export interface CurrentCase {
  readonly clock: VirtualClock;
  readonly changes: ReportedChange[];
  readonly requests: string[];
  readonly activity: Activity;
  readonly api: ApiFaults;
}

/** The parts that the cases of a lab share, and the case in progress. */
export interface CaseParts {
  /** Gets what the hooks are run for. */
  readonly coverage: BindingCoverage;
  /** Starts hooks that are executables. */
  readonly wrap?: string | undefined;
  /** Relative paths of settings are relative to it. */
  readonly cwd: string;
  readonly replay: CaseTools['replay'];
  readonly lab: HookLab;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  /** By path: one is loaded once. */
  readonly loaded: Map<string, LoadedHook>;
  /** By time and values. */
  readonly beginnings: Map<string, Beginning>;
  readonly current: CurrentCase;
  readonly signal: AbortSignal;
}

/** The start of a case: the cluster with the objects of the operator, and the discovery of its API. */
export interface Beginning {
  readonly state: SandboxState;
  readonly discovery: Discovery;
}

/** The hook of a test, and the directory of the test, which paths in it are relative to. */
export interface TestedHook {
  readonly path: string;
  readonly directory: string;
}

export interface OpenParts extends CaseParts {
  /** Does what the test says. */
  readonly steps: MemoryClient;
  readonly discovery: Discovery;
  readonly errors: string[];
  readonly stop: AbortSignal;
  readonly setting: CaseSetting;
  /** Nothing exists yet; absent when the operator is started again. */
  readonly beginning?: Beginning;
}

/** Starts the operator, as far as one hook needs it. */
export async function openHook(parts: OpenParts, { path, directory }: TestedHook): Promise<OpenedWorld> {
  const { cwd, lab, sandbox, settings, loaded, current, steps, discovery, errors, setting } = parts;
  const { beginning, wrap } = parts;
  const { clock, activity, api } = current;
  const place = placeOf(path, resolve(cwd, settings.globalHooksDir));
  const ended = new AbortController();
  const stop = AbortSignal.any([parts.stop, ended.signal]);
  await using opening = new AsyncDisposableStack();
  opening.defer(() => ended.abort());
  const env = await hookEnv(setting, directory, lab.hookEnv, opening);
  const records = new RunRecords();
  const scratch = wrap === undefined ? '' : await scratchDirectory(opening);
  let hookRuns: HookRuns | undefined;
  const known = loaded.get(path);
  const main = api.around(new MemoryClient(sandbox, activity, OPERATOR), false);
  const hook = await lab.open({
    settings,
    host: { log: errorLog((text) => errors.push(text)) },
    path,
    place,
    tap: (runs) => {
      hookRuns = wrap === undefined ? runs : wrappedRuns(runs, wrap, scratch);
      return records.tap(hookRuns);
    },
    running: opening,
    stop,
    clocks: { run: activity.idleIn(clock), watch: clock },
    clients: {
      main,
      ...(beginning === undefined ? {} : { discovery: beginning.discovery.sharedWith(main) }),
      patcher: api.around(new MemoryClient(sandbox, activity, 'hook'), true),
      author: { kube: steps, discovery },
    },
    env,
    ...(known === undefined ? {} : { loaded: known }),
  });
  loaded.set(path, hook.loaded);
  refuseEnvironment(setting, hook.runtime.hook);
  if (hookRuns === undefined) throw new OperatorError('INTERNAL', 'the hook has no way to be run');
  if (beginning !== undefined)
    for (const object of [...(await crdsOf(place)), ...(await objectsOf(setting.cluster ?? [], directory))])
      await hook.objects.put(object, stop);
  const world = new HookWorld({
    hook,
    clock,
    activity,
    records,
    runs: hookRuns,
    discovery,
    stop,
    metrics: lab.metrics,
    kube: steps,
    tools: toolsOf(parts, directory, stop),
  });
  const running = opening.move();
  const end = async (): Promise<void> => {
    ended.abort(new OperatorError('ABORTED', 'the case has ended'));
    await world.ended();
    await running.disposeAsync();
  };
  return { world, end };
}

/** The tools that the steps of a case use besides the hook. */
function toolsOf(
  { current, errors, steps, replay }: OpenParts,
  directory: string,
  stop: AbortSignal,
): CaseTools {
  return {
    take: () => ({
      changes: changesOf(current.changes.splice(0)),
      requests: current.requests.splice(0),
      errors: errors.splice(0),
    }),
    readObjects: (given) => objectsOf(given, directory),
    writeValues: (sections) => patchOperatorConfig(steps, sections, stop),
    setApi: (state) => current.api.set(state),
    replay: (recordings, ...hooks) => replay(resolve(directory, recordings), ...hooks),
    patched: (object, patch) => applyJsonPatch(object, patch),
  };
}

/** Refuses what only the processes of executables have. */
function refuseEnvironment({ env = {}, stub }: CaseSetting, { transport }: Hook): void {
  if (transport === 'executable') return;
  const refused = (message: string): OperatorError => new OperatorError('CONFIG_INVALID', message);
  if (stub !== undefined) throw refused('stub: only a hook that is an executable finds programs in PATH');
  const [name] = Object.keys(env);
  if (name !== undefined)
    throw refused(
      `env: only a hook that is an executable gets variables of a case, ${name} has no effect here; give the hook its settings as values`,
    );
}

/** Variables of the hook beside those that it has in any case. */
async function hookEnv(
  { env = {}, stub }: CaseSetting,
  directory: string,
  common: HookLab['hookEnv'],
  running: AsyncDisposableStack,
): Promise<Readonly<Record<string, string>>> {
  if (stub === undefined) return env;
  const path = env['PATH'] ?? common['PATH'] ?? '';
  return { ...env, PATH: await writeStubs(stub, directory, await scratchDirectory(running), path) };
}

async function objectsOf(
  given: ObjectOrFile | readonly ObjectOrFile[],
  directory: string,
): Promise<readonly NewObject[]> {
  const objects: NewObject[] = [];
  for (const each of Array.isArray(given) ? (given as readonly ObjectOrFile[]) : [given as ObjectOrFile])
    objects.push(
      ...(typeof each === 'string'
        ? await readObjectFiles([resolve(directory, each)])
        : objectsIn(each, 'an object of the test')),
    );
  return objects;
}

async function crdsOf(place: HookPlace): Promise<readonly NewObject[]> {
  return place.type === 'global' ? [] : await moduleCrds(place.moduleDir);
}

function changesOf(changes: readonly ReportedChange[]): readonly ChangeFacts[] {
  return netChanges(changes).map(({ change, changed: { apiVersion, kind, metadata } }) => {
    const { name, namespace } = metadata;
    return { change, apiVersion, kind, namespace, name };
  });
}

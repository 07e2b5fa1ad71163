import { dirname, resolve } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { moduleCrds, objectsIn, readObjectFiles } from '@addon-operator/kube-client/object-files';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { Sandbox, SandboxState } from '@addon-operator/kube-sandbox';
import { applyJsonPatch } from '@addon-operator/kube-sandbox/json-patch';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import type { HookLab } from '../../devkit/hook-lab.ts';
import { type HookPlace, placeOf } from '../../devkit/hook-place.ts';
import type { LoadedHook } from '../../devkit/loaded-hook.ts';
import { netChanges, type ReportedChange } from '../../devkit/object-changes.ts';
import { ApiFaults } from '../../devkit/test/api-faults.ts';
import type { BindingCoverage } from '../../devkit/test/binding-coverage.ts';
import type { CaseTools } from '../../devkit/test/case-tools.ts';
import { HookWorld } from '../../devkit/test/hook-world.ts';
import { type OpenedWorld, RestartableWorld } from '../../devkit/test/restartable-world.ts';
import { RunRecords } from '../../devkit/test/run-records.ts';
import { writeStubs } from '../../devkit/test/stub-programs.ts';
import { wrappedRuns } from '../../devkit/test/wrapped-runs.ts';
import type { Hook } from '../../hooks/hook.ts';
import type { HookRuns } from '../../hooks/run-hook.ts';
import type { Settings } from '../../settings.ts';
import { Activity } from '../../tools/hook-test/activity.ts';
import {
  type ChangeFacts,
  type ObjectOrFile,
  type RunJq,
  type Setting,
  type TestCase,
  type TestFile,
  type TestWorld,
} from '../../tools/hook-test/hook-test.ts';
import { VirtualClock } from '../../tools/hook-test/virtual-clock.ts';
import type { CliHost } from '../cli-host.ts';
import {
  CONFIG_MAP,
  createOperatorObjects,
  errorLog,
  NAMESPACE,
  patchOperatorConfig,
  withSandboxLab,
} from '../sandbox/sandbox-lab.ts';
import { hookPathOf } from './hook-test-files.ts';
import { replayIn } from './hook-test-replay.ts';

/** What test steps write is not a change by the hook. */
const STEPS = 'hook-test-steps';
/** What the operator does for itself is none either. */
const OPERATOR = 'addon-operator';
const DEFAULT_START = '2026-01-01T00:00:00Z';
const DEFAULT_TIMEOUT = '1m';

export interface TestLabOptions {
  /** Gets what the hooks are run for. */
  readonly coverage: BindingCoverage;
  /** Starts hooks that are executables. */
  readonly wrap?: string | undefined;
}

/** Opens the worlds of cases, one after another. Cases at the same time need a lab each. */
export interface TestLab {
  readonly jq: RunJq;
  open(path: string, file: TestFile, test: TestCase): Promise<TestWorld & AsyncDisposable>;
}

/** What belongs to the case in progress. */
interface Current {
  readonly clock: VirtualClock;
  readonly changes: ReportedChange[];
  readonly requests: string[];
  readonly activity: Activity;
  readonly api: ApiFaults;
}

/**
 * Starts what its cases share: one sandbox, one launcher of processes, jq. When this resolves all of it has ended.
 *
 * @throws OperatorError when that is not possible; errors of `use`
 */
export async function withTestLab<T>(
  host: CliHost,
  options: TestLabOptions,
  use: (lab: TestLab) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let current: Current | undefined;
  const loaded = new Map<string, LoadedHook>();
  const beginnings = new Map<string, Beginning>();
  return await withSandboxLab(
    host,
    {
      wallMs: () => (current?.clock ?? systemClock).wallMs(),
      onChange: (change) => {
        current?.activity.touch();
        if (isOfHook(change)) current?.changes.push(change);
      },
      onRequest: ({ method, path }) => {
        current?.activity.touch();
        current?.requests.push(`${method} ${path}`);
        return current?.api.response(method);
      },
    },
    ({ lab, sandbox, settings }) =>
      use({
        jq: async (program, value) => await runJq(lab, program, value, signal),
        open: async (path, file, test) => {
          const clock = new VirtualClock(Date.parse(merged(file, test).now ?? DEFAULT_START));
          current = { clock, changes: [], requests: [], activity: new Activity(), api: new ApiFaults() };
          return await openWorld(
            { ...options, host, lab, sandbox, settings, loaded, beginnings, current, signal },
            path,
            file,
            test,
          );
        },
      }),
    signal,
  );
}

async function runJq(
  { jq }: HookLab,
  program: string,
  value: unknown,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const filter = await jq.compile(program, signal);
  return await filter.apply(value, signal);
}

interface Parts extends TestLabOptions {
  readonly host: CliHost;
  readonly lab: HookLab;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  /** By path: one is loaded once. */
  readonly loaded: Map<string, LoadedHook>;
  /** By time and values. */
  readonly beginnings: Map<string, Beginning>;
  readonly current: Current;
  readonly signal: AbortSignal;
}

/** What a case begins with: the cluster with what the operator has in it, and what is served there. */
interface Beginning {
  readonly state: SandboxState;
  readonly discovery: Discovery;
}

/** Brings the sandbox to the beginning of a case. Making it takes longer than most cases: it is made once. */
async function begin(
  { sandbox, beginnings, current: { activity, clock } }: Parts,
  values: Readonly<Record<string, unknown>>,
  stop: AbortSignal,
): Promise<Beginning> {
  const key = JSON.stringify([clock.wallMs(), values]);
  const known = beginnings.get(key);
  if (known !== undefined) {
    sandbox.reset(known.state);
    return known;
  }
  sandbox.reset();
  const kube = new MemoryClient(sandbox, activity, STEPS);
  await createOperatorObjects(kube, values, stop);
  const discovery = new Discovery({ kube, clock: systemClock, log: silentLogger });
  await discovery.apiVersions(stop);
  await activity.whenQuiet();
  const beginning = { state: sandbox.snapshot(), discovery };
  beginnings.set(key, beginning);
  return beginning;
}

async function openWorld(
  parts: Parts,
  testFile: string,
  file: TestFile,
  test: TestCase,
): Promise<TestWorld & AsyncDisposable> {
  const { sandbox, current, signal } = parts;
  const { activity } = current;
  const setting = merged(file, test);
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  endAfter(setting.timeout ?? DEFAULT_TIMEOUT, ended);
  try {
    const beginning = await begin(parts, setting.values ?? {}, stop);
    const steps = new MemoryClient(sandbox, activity, STEPS);
    const path = hookPathOf(testFile, file.hook);
    const discovery = beginning.discovery.sharedWith(steps);
    const errors: string[] = [];
    const open = async (isFirst: boolean): Promise<OpenedWorld> =>
      await openOnce(
        { ...parts, steps, discovery, errors, stop, setting, ...(isFirst && { beginning }) },
        { path, directory: dirname(testFile) },
      );
    const world = await RestartableWorld.open(open, (contexts) => {
      const known = parts.loaded.get(path);
      if (known !== undefined) parts.coverage.note(known.hook, contexts);
    });
    const end = async (): Promise<void> => {
      ended.abort(new OperatorError('ABORTED', 'the case has ended'));
      await world.end();
    };
    return Object.assign(world, { [Symbol.asyncDispose]: end });
  } catch (error) {
    ended.abort();
    throw error;
  }
}

interface OpenParts extends Parts {
  /** Does what the test says. */
  readonly steps: MemoryClient;
  readonly discovery: Discovery;
  readonly errors: string[];
  readonly stop: AbortSignal;
  readonly setting: Setting;
  /** Nothing exists yet; absent when the operator is started again. */
  readonly beginning?: Beginning;
}

/** Starts the operator, as far as one hook needs it. */
async function openOnce(
  parts: OpenParts,
  { path, directory }: { readonly path: string; readonly directory: string },
): Promise<OpenedWorld> {
  const { host, lab, sandbox, settings, loaded, current, steps, discovery, errors, setting } = parts;
  const { beginning, wrap } = parts;
  const { clock, activity, api } = current;
  const place = placeOf(path, resolve(host.cwd, settings.globalHooksDir));
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
  const readObjects: CaseTools['readObjects'] = (given) => objectsOf(given, directory);
  if (beginning !== undefined)
    for (const object of [...(await crdsOf(place)), ...(await readObjects(setting.cluster ?? []))])
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
    tools: {
      take: () => ({
        changes: changesOf(current.changes.splice(0)),
        requests: current.requests.splice(0),
        errors: errors.splice(0),
      }),
      readObjects,
      writeValues: (sections) => patchOperatorConfig(steps, sections, stop),
      setApi: (state) => api.set(state),
      replay: (recordings, ...hooks) => replayIn(resolve(directory, recordings), host.cwd, ...hooks),
      patched: (object, patch) => applyJsonPatch(object, patch),
    },
  });
  const running = opening.move();
  const end = async (): Promise<void> => {
    ended.abort(new OperatorError('ABORTED', 'the case has ended'));
    await world.ended();
    await running.disposeAsync();
  };
  return { world, end };
}

/** Refuses what only the processes of executables have. */
function refuseEnvironment({ env = {}, stub }: Setting, { transport }: Hook): void {
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
  { env = {}, stub }: Setting,
  directory: string,
  common: HookLab['hookEnv'],
  running: AsyncDisposableStack,
): Promise<Readonly<Record<string, string>>> {
  if (stub === undefined) return env;
  const path = env['PATH'] ?? common['PATH'] ?? '';
  return { ...env, PATH: await writeStubs(stub, directory, await scratchDirectory(running), path) };
}

/** Ends a case that hangs, with the hook. */
function endAfter(timeout: string, ended: AbortController): void {
  const limitMs = parseGoDuration(timeout) ?? 0;
  systemClock.sleep(limitMs, ended.signal).then(
    () => ended.abort(new OperatorError('HOOK_TIMEOUT', `the case took longer than ${timeout} (timeout)`)),
    () => undefined,
  );
}

function merged(file: Setting, test: Setting): Setting {
  return {
    ...file,
    ...test,
    cluster: [...(file.cluster ?? []), ...(test.cluster ?? [])],
    env: { ...file.env, ...test.env },
    ...((file.stub ?? test.stub) && { stub: { ...file.stub, ...test.stub } }),
  };
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

function isOfHook(change: ReportedChange & { readonly userAgent: string | undefined }): boolean {
  const { userAgent } = change;
  return userAgent !== undefined && userAgent !== STEPS && userAgent !== OPERATOR && !isOfOperator(change);
}

function isOfOperator({ object: { metadata } }: ReportedChange): boolean {
  return metadata.namespace === NAMESPACE && metadata.name.startsWith(CONFIG_MAP);
}

function changesOf(changes: readonly ReportedChange[]): readonly ChangeFacts[] {
  return netChanges(changes).map(({ change, changed: { apiVersion, kind, metadata } }) => {
    const { name, namespace } = metadata;
    return { change, apiVersion, kind, namespace, name };
  });
}

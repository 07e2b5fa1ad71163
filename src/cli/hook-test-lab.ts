import { dirname, resolve } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { parseGoDuration } from '@addon-operator/base/go-duration';
import { silentLogger } from '@addon-operator/base/log';
import {
  type ChangeFacts,
  type ObjectOrFile,
  type RunJq,
  type Setting,
  type TestCase,
  type TestFile,
  type TestWorld,
} from '@addon-operator/hook-test';
import { Activity } from '@addon-operator/hook-test/activity';
import { VirtualClock } from '@addon-operator/hook-test/virtual-clock';
import type { Json } from '@addon-operator/json';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { moduleCrds, parseObjects, readObjectFiles } from '@addon-operator/kube-client/object-files';
import type { NewObject } from '@addon-operator/kube-client/object-patch/patch-operation';
import type { Sandbox } from '@addon-operator/kube-sandbox';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import { dumpYaml } from '@addon-operator/yaml';
import type { HookLab } from '../devkit/hook-lab.ts';
import { type HookPlace, placeOf } from '../devkit/hook-place.ts';
import { netChanges, type ReportedChange } from '../devkit/object-changes.ts';
import { HookWorld } from '../devkit/test/hook-world.ts';
import { RunRecords } from '../devkit/test/run-records.ts';
import type { Hook } from '../hooks/hook.ts';
import type { Settings } from '../settings.ts';
import type { CliHost } from './cli-host.ts';
import { hookPathOf } from './hook-test-files.ts';
import { CONFIG_MAP, createOperatorObjects, errorLog, NAMESPACE, withSandboxLab } from './sandbox-lab.ts';

/** What test steps write is not a change by the hook. */
const STEPS = 'hook-test-steps';
const DEFAULT_START = '2026-01-01T00:00:00Z';
const DEFAULT_TIMEOUT = '1m';

/** Opens the worlds of cases, one after another. */
export interface TestLab {
  readonly jq: RunJq;
  open(path: string, file: TestFile, test: TestCase): Promise<TestWorld & AsyncDisposable>;
}

/** What belongs to the case in progress. */
interface Current {
  readonly changes: ReportedChange[];
  readonly activity: Activity;
}

/**
 * Starts what all cases share: one sandbox, one launcher of processes, jq. When this resolves all of it has ended.
 *
 * @throws OperatorError when that is not possible; errors of `use`
 */
export async function withTestLab<T>(
  host: CliHost,
  use: (lab: TestLab) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let current: Current | undefined;
  const loaded = new Map<string, Hook>();
  return await withSandboxLab(
    host,
    {
      onChange: (change) => {
        current?.activity.touch();
        if (change.userAgent !== undefined && change.userAgent !== STEPS && !isOfOperator(change))
          current?.changes.push(change);
      },
    },
    ({ lab, sandbox, settings }) =>
      use({
        jq: async (program, value) => await runJq(lab, program, value, signal),
        open: async (path, file, test) => {
          sandbox.reset();
          current = { changes: [], activity: new Activity() };
          return await openWorld({ host, lab, sandbox, settings, loaded, current, signal }, path, file, test);
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

interface Parts {
  readonly host: CliHost;
  readonly lab: HookLab;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  /** By path: one is loaded once. */
  readonly loaded: Map<string, Hook>;
  readonly current: Current;
  readonly signal: AbortSignal;
}

async function openWorld(
  parts: Parts,
  testFile: string,
  file: TestFile,
  test: TestCase,
): Promise<TestWorld & AsyncDisposable> {
  const { host, lab, sandbox, settings, loaded, current, signal } = parts;
  const { activity } = current;
  const path = hookPathOf(testFile, file.hook);
  const place = placeOf(path, resolve(host.cwd, settings.globalHooksDir));
  const setting = merged(file, test);
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  await using opening = new AsyncDisposableStack();
  opening.defer(() => ended.abort());
  endAfter(setting.timeout ?? DEFAULT_TIMEOUT, ended);
  const errors: string[] = [];
  const client = (userAgent: string): MemoryClient => new MemoryClient(sandbox, activity, userAgent);
  const steps = client(STEPS);
  await createOperatorObjects(steps, setting.values ?? {}, stop);
  const clock = new VirtualClock(Date.parse(setting.now ?? DEFAULT_START));
  const records = new RunRecords();
  const hook = await lab.open({
    settings,
    host: { log: errorLog((text) => errors.push(text)) },
    path,
    place,
    tap: records.tap,
    running: opening,
    stop,
    runClock: activity.idleIn(clock),
    kube: steps,
    patcher: client('hook'),
    env: setting.env ?? {},
    ...(loaded.has(path) ? { loaded: loaded.get(path) as Hook } : {}),
  });
  loaded.set(path, hook.runtime.hook);
  const readObjects = (given: ObjectOrFile | readonly ObjectOrFile[]): Promise<readonly NewObject[]> =>
    objectsOf(given, dirname(testFile));
  for (const object of [...(await crdsOf(place)), ...(await readObjects(setting.cluster ?? []))])
    await hook.objects.put(object, stop);
  const world = new HookWorld({
    hook,
    clock,
    activity,
    records,
    metrics: lab.metrics,
    kube: steps,
    discovery: new Discovery({ kube: steps, clock: systemClock, log: silentLogger }),
    takeChanges: () => changesOf(current.changes.splice(0)),
    takeErrors: () => errors.splice(0),
    readObjects,
    stop,
  });
  const running = opening.move();
  const end = async (): Promise<void> => {
    ended.abort(new OperatorError('ABORTED', 'the case has ended'));
    await world.ended();
    await running.disposeAsync();
  };
  return Object.assign(world, { [Symbol.asyncDispose]: end });
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
        : parseObjects(dumpYaml(each as Json, 2), 'an object of the test')),
    );
  return objects;
}

async function crdsOf(place: HookPlace): Promise<readonly NewObject[]> {
  return place.type === 'global' ? [] : await moduleCrds(place.moduleDir);
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

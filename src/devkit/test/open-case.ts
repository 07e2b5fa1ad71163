import { systemClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { Discovery } from '@addon-operator/kube-client/discovery';
import { MemoryClient } from '@addon-operator/kube-sandbox/memory-client';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { Activity } from '../../tools/hook-test/activity.ts';
import type { CaseSetting, TestWorld } from '../../tools/hook-test/hook-test.ts';
import { VirtualClock } from '../../tools/hook-test/virtual-clock.ts';
import type { ReportedChange } from '../object-changes.ts';
import { CONFIG_MAP, createOperatorObjects, NAMESPACE } from '../operator-objects.ts';
import { ApiFaults } from './api-faults.ts';
import {
  type Beginning,
  type CaseParts,
  type CurrentCase,
  OPERATOR,
  openHook,
  STEPS,
  type TestedHook,
} from './open-hook.ts';
import { type OpenedWorld, RestartableWorld } from './restartable-world.ts';

const DEFAULT_START = '2026-01-01T00:00:00Z';
const DEFAULT_TIMEOUT = '1m';

/** A case that begins: its clock is at the time that it sets, and nothing has changed yet. */
export function newCase({ now }: CaseSetting): CurrentCase {
  const clock = new VirtualClock(Date.parse(now ?? DEFAULT_START));
  return { clock, changes: [], requests: [], activity: new Activity(), api: new ApiFaults() };
}

/** Notes a change of an object, if the hook made it. */
export function noteChange(
  current: CurrentCase | undefined,
  change: ReportedChange & { readonly userAgent: string | undefined },
): void {
  current?.activity.touch();
  if (isOfHook(change)) current?.changes.push(change);
}

/** The settings of a case, with those of its file. */
export function mergedSetting(file: CaseSetting, test: CaseSetting): CaseSetting {
  return {
    ...file,
    ...test,
    cluster: [...(file.cluster ?? []), ...(test.cluster ?? [])],
    env: { ...file.env, ...test.env },
    ...((file.stub ?? test.stub) && { stub: { ...file.stub, ...test.stub } }),
  };
}

/** Brings the sandbox to the beginning of a case. Making it takes longer than most cases: it is made once. */
async function begin(
  { sandbox, beginnings, current: { activity, clock } }: CaseParts,
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

/** Opens the world of one case: the sandbox at its beginning, and the operator as far as the hook at `path` needs it. */
export async function openCase(
  parts: CaseParts,
  { path, directory }: TestedHook,
  setting: CaseSetting,
): Promise<TestWorld & AsyncDisposable> {
  const { sandbox, current, signal } = parts;
  const { activity } = current;
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  endAfter(setting.timeout ?? DEFAULT_TIMEOUT, ended);
  try {
    const beginning = await begin(parts, setting.values ?? {}, stop);
    const steps = new MemoryClient(sandbox, activity, STEPS);
    const discovery = beginning.discovery.sharedWith(steps);
    const errors: string[] = [];
    const open = async (isFirst: boolean): Promise<OpenedWorld> =>
      await openHook(
        { ...parts, steps, discovery, errors, stop, setting, ...(isFirst && { beginning }) },
        { path, directory },
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

/** Ends a case that hangs, with the hook. */
function endAfter(timeout: string, ended: AbortController): void {
  const limitMs = parseGoDuration(timeout) ?? 0;
  systemClock.sleep(limitMs, ended.signal).then(
    () => ended.abort(new OperatorError('HOOK_TIMEOUT', `the case took longer than ${timeout} (timeout)`)),
    () => undefined,
  );
}

function isOfHook(change: ReportedChange & { readonly userAgent: string | undefined }): boolean {
  const { userAgent } = change;
  return userAgent !== undefined && userAgent !== STEPS && userAgent !== OPERATOR && !isOfOperator(change);
}

function isOfOperator({ object: { metadata } }: ReportedChange): boolean {
  return metadata.namespace === NAMESPACE && metadata.name.startsWith(CONFIG_MAP);
}

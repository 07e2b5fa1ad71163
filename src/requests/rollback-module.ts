// Takes a module of a plain directory back to an earlier revision of its release, on request of a
// user. Its files stay as they are, so the module is then held by a pause: the next run would
// deploy the newer files again. The pause is written before anything else, so that a process that
// dies in between leaves no module that silently goes forward.

import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { JsonObject } from '@addon-operator/json';
import { headlineOf } from '@addon-operator/strings/headline';
import { settingsFit } from '../delivery/settings-fit.ts';
import type { ConvergeState } from '../model/converge-state.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { Pauses } from '../model/pauses.ts';
import type { Releases } from '../model/releases.ts';
import type { Configuration } from '../model/services.ts';
import { filesDigest, readDigests } from '../modules/file-set.ts';
import { parseSchemas } from '../modules/load-module.ts';
import type { Module } from '../modules/module.ts';
import type { RevisionView } from '../status/module-details.ts';
import type { RecordedEvent } from '../status/module-events.ts';
import type { RollbackModule, RollbackOrder, RollbackOutcome } from '../status/module-rollback.ts';
import type { SectionKey } from '../values/module-key.ts';
import { type RequestOperationParts, runOperation } from './request-operation.ts';
import { rollbackTarget } from './rollback-target.ts';

/** Rolls back a module whose versions come from a source; undefined for one of a plain directory. */
export type DeliveryRollback = (
  module: string,
  order: RollbackOrder,
  signal: AbortSignal,
) => Promise<RollbackOutcome | undefined>;

export interface RollbackParts {
  readonly registry: ModuleRegistry;
  readonly converge: Pick<ConvergeState, 'deferRun'>;
  readonly pauses: Pick<Pauses, 'of' | 'isOfAll' | 'pause' | 'resume'>;
  readonly releases: Pick<Releases, 'rollback' | 'history'>;
  readonly configuration: Pick<Configuration, 'values' | 'configMapContent'>;
  readonly requesting: RequestOperationParts;
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** Writes a section of the ConfigMap, as another client would. */
  readonly writeSection: (key: SectionKey, section: JsonObject, signal: AbortSignal) => Promise<void>;
  readonly record: (module: string, event: RecordedEvent) => void;
  readonly deliveryRollback?: DeliveryRollback | undefined;
  /** Aborts when the daemon stops: a rollback that has begun does not end with its request. */
  readonly stop: AbortSignal;
}

/** The record of a revision. */
type RecordedSource = Awaited<ReturnType<Releases['history']['source']>>;

/** A request of a command waits 30 s for its response. */
const RESPONSE_MS = 20_000;

/** The steps of an accepted rollback. */
interface RollbackPlan {
  readonly module: Module;
  readonly target: RevisionView;
  /** Replaces the section of the ConfigMap; undefined: that stays. */
  readonly section: JsonObject | undefined;
}

/** Creates the function that rolls modules back; one rollback of a module runs at a time. */
export function createRollback(parts: RollbackParts): RollbackModule {
  const running = new Set<string>();
  return async (name, order, signal) => {
    const delivered = await parts.deliveryRollback?.(name, order, signal);
    if (delivered !== undefined) return delivered;
    if (running.has(name)) return refused('a rollback of it is running');
    running.add(name);
    let work: Promise<RollbackOutcome> | undefined;
    try {
      const plan = await planRollback(parts, name, order, signal);
      if ('type' in plan) return plan;
      const { revision, version } = plan.target;
      if (order.isDryRun) return { type: 'planned', revision, version };
      work = carryOut(parts, plan).finally(() => running.delete(name));
      return await beforeTimeout(parts, work, { type: 'continues', revision, version });
    } finally {
      if (work === undefined) running.delete(name);
    }
  };
}

function refused(reason: string): Extract<RollbackOutcome, { type: 'refused' }> {
  return { type: 'refused', reason };
}

/** The outcome, or that it continues after the time in which a command waits for it. */
async function beforeTimeout(
  { clock }: RollbackParts,
  work: Promise<RollbackOutcome>,
  continues: RollbackOutcome,
): Promise<RollbackOutcome> {
  const over = new AbortController();
  const late = clock.sleep(RESPONSE_MS, over.signal).then(
    () => continues,
    () => continues,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    // A failure after the time limit is in the log, the Event and the pause.
    work.catch(() => undefined);
  }
}

/** Decides about a rollback; nothing is changed. */
async function planRollback(
  parts: RollbackParts,
  name: string,
  { to, withValues }: RollbackOrder,
  signal: AbortSignal,
): Promise<RollbackPlan | Extract<RollbackOutcome, { type: 'refused' }>> {
  const module = parts.registry.find(name);
  const obstacle = module === undefined ? 'there is no such module' : obstacleOf(parts, module);
  if (module === undefined || obstacle !== undefined) return refused(obstacle ?? '');
  const { list, source: readSource } = parts.releases.history;
  const target = rollbackTarget(await list(name, signal), to);
  if (target.type === 'none') return refused(target.reason);
  const { revision } = target;
  const source = await readSource(name, revision.revision, signal);
  if (!withValues) {
    const problems = await problemsOfSettings(parts, module, source);
    if (problems.length === 0) return { module, target: revision, section: undefined };
    const offer =
      source?.section === undefined ? '' : ', or restore the section of that revision with --with-values';
    return refused(
      `its section of the ConfigMap does not fit revision ${revision.revision} (${problems.join('; ')}): correct it${offer}`,
    );
  }
  if (source?.section === undefined)
    return refused(
      `the section of revision ${revision.revision} was not recorded: roll back without --with-values`,
    );
  const problem = problemOfSection(parts, module, source.section);
  if (problem !== undefined)
    return refused(
      `the section of revision ${revision.revision} does not fit the files of the module, which stay as they are (${problem}): put the older files in place first`,
    );
  return { module, target: revision, section: source.section };
}

/** Why a module cannot be rolled back now, regardless of its history. */
function obstacleOf(
  { registry, pauses, configuration }: RollbackParts,
  { name, key, chart }: Module,
): string | undefined {
  if (chart === 'none') return 'it has no chart';
  if (registry.holdOf(name) !== undefined) return `it is held, see "explain module ${name}"`;
  if (!registry.isWanted(name)) return 'it is disabled';
  if (pauses.of(name)?.handedOverTo !== undefined)
    return 'it is handed over: take it back with "module resume" first';
  if (configuration.configMapContent().maintenance.has(key)) return `${key}Maintenance is set`;
  return undefined;
}

/** The parts of the current section that do not fit the schema of a revision. Without a record nothing is known. */
async function problemsOfSettings(
  { configuration: { values } }: RollbackParts,
  { name }: Module,
  source: RecordedSource,
): Promise<readonly string[]> {
  const config = source?.schemas?.config;
  if (config === undefined) return [];
  const file = { path: 'the recorded openapi/config-values.yaml', text: config };
  const schemas = await parseSchemas(file, undefined);
  const section = values.configValues(name);
  return settingsFit({ module: name, section, staticValues: {}, schemas, secrets: values.secretsOf(name) });
}

/** The problem that the schemas in force report for a section that is to be restored. */
function problemOfSection(
  { configuration: { values } }: RollbackParts,
  { name }: Module,
  section: JsonObject,
): string | undefined {
  if (Object.keys(section).length === 0) return undefined;
  try {
    values.checkConfigSection(name, section);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function carryOut(parts: RollbackParts, plan: RollbackPlan): Promise<RollbackOutcome> {
  const { registry, converge, pauses, releases, requesting, log, stop, record, writeSection } = parts;
  const { module, target, section } = plan;
  const { name } = module;
  const { revision, version } = target;
  // A pause of a user outlives the rollback: it does not end by itself when files change.
  const before = pauses.isOfAll(name) ? undefined : pauses.of(name);
  const isUsers = before !== undefined && before.files === undefined;
  const digest = filesDigest(await readDigests(module.path));
  const hold = async (what: string): Promise<void> => {
    const reason = isUsers ? `${what}; paused before: ${before.reason}` : what;
    const files = isUsers ? {} : { files: digest };
    await pauses.pause(name, { reason, untilMs: isUsers ? before.untilMs : undefined, ...files }, stop);
  };
  await hold(`a rollback to revision ${revision} is in progress`);
  // Every run that began before the pause ends here, and none comes after it.
  converge.deferRun(name);
  runOperation(requesting, name, 'abort');
  try {
    const release = await releases.rollback(module, revision, stop);
    registry.tracked.get(name)?.release.noteDeployed(release);
    if (section !== undefined) await writeSection(module.key, section, stop);
    await hold(`rolled back to revision ${revision}`);
    const fields = {
      module: name,
      revision,
      newRevision: release.revision,
      withValues: section !== undefined,
    };
    log.warn(fields, 'Module is rolled back');
    const message = `rolled back to revision ${revision} (version ${version}), which is revision ${release.revision} now`;
    record(name, { type: 'Normal', reason: 'RolledBack', message });
    return { type: 'done', revision, version, newRevision: release.revision };
  } catch (error) {
    stop.throwIfAborted();
    const message = messageOf(error);
    log.error({ module: name, revision, error }, 'Module cannot be rolled back');
    record(name, { type: 'Warning', reason: 'RollbackFailed', message });
    await hold(`the rollback to revision ${revision} failed: ${headlineOf(message)}`);
    throw error;
  }
}

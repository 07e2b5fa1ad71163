/** Looks up the versions of the modules of one source. Nothing is installed here. */

import { isDeepStrictEqual } from 'node:util';
import { errorFields, hasCode, messageOf, retryAfterOf } from '@addon-operator/base/errors';
import { jittered } from '@addon-operator/concurrency/jitter';
import { pending } from './decide.ts';
import type { DeliveryParts, SourceAccess } from './delivery-parts.ts';
import { findCandidate } from './find-candidate.ts';
import { installOf, lookupKey, type ModuleRecord, type SourceRecord } from './records.ts';
import { saveState } from './step-module.ts';

/** So many modules in a row that cannot be read mean that the source cannot be read. */
const FAILURES_THAT_STOP = 3;

/** Looks up the versions of all modules of a source; those that were not reached the last time come first. */
export async function checkSource(
  parts: DeliveryParts,
  source: SourceRecord,
  modules: readonly ModuleRecord[],
  signal: AbortSignal,
): Promise<void> {
  const { clock, openSource, random, log } = parts;
  source.dueMs = Number.POSITIVE_INFINITY;
  if (source.spec.type === 'invalid') return;
  const { value: spec } = source.spec;
  source.lastAttemptMs = clock.wallMs();
  let retryAfterMs = 0;
  try {
    source.access = await openSource(spec, signal);
    await checkModules(parts, modules, source.access, signal);
    source.problem = undefined;
    source.lastSuccessMs = clock.wallMs();
  } catch (error) {
    signal.throwIfAborted();
    source.problem = messageOf(error);
    retryAfterMs = retryAfterOf(error) ?? 0;
    log.warn({ source: source.name, ...errorFields(error) }, 'a module source cannot be read');
  }
  const pauseMs = Math.max(jittered(spec.intervalMs, random), retryAfterMs);
  source.dueMs = Math.min(source.dueMs, clock.steadyMs() + pauseMs);
}

/** @throws OperatorError the first failure, when all that could be read were read */
async function checkModules(
  parts: DeliveryParts,
  all: readonly ModuleRecord[],
  access: SourceAccess,
  signal: AbortSignal,
): Promise<void> {
  const modules = all.toSorted((a, b) => a.checkedMs - b.checkedMs);
  const failures: unknown[] = [];
  let inRow = 0;
  for (const record of modules) {
    record.checkedMs = parts.clock.steadyMs();
    try {
      await checkModule(parts, record, access, signal);
      inRow = 0;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
      inRow += 1;
      // Nothing is asked of a registry that says when it may be asked again, or that is not there.
      if (retryAfterOf(error) !== undefined || inRow >= FAILURES_THAT_STOP) break;
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function checkModule(
  parts: DeliveryParts,
  record: ModuleRecord,
  access: SourceAccess,
  signal: AbortSignal,
): Promise<void> {
  const install = installOf(record);
  if (install === undefined) return;
  const { artifacts, clock } = parts;
  const lookup = {
    install,
    state: record.state,
    known: [record.candidate, record.approved],
    repository: access.repository(record.name),
    releases: access.repository(`${record.name}/release`),
    policy: access.policy,
    artifacts,
    nowMs: clock.wallMs(),
  };
  const { candidate, approved, state } = await findCandidate(lookup, signal).catch((error: unknown) => {
    if (!hasCode(error, 'REGISTRY_NOT_FOUND')) throw error;
    return { candidate: pending('NotFound', error.message), approved: undefined, state: record.state };
  });
  // The install may be another one by now, which the next check looks up.
  if (lookupKey(installOf(record)) !== lookupKey(install)) return;
  const isNew = !isDeepStrictEqual([candidate, approved], [record.candidate, record.approved]);
  const { seen, tags } = state;
  const isSeen = isDeepStrictEqual([seen, tags], [record.state.seen, record.state.tags]);
  Object.assign(record, { candidate, approved });
  if (isNew || record.missing !== undefined) record.dueMs = 0;
  if (!isSeen) await saveState({ parts }, record, (now) => ({ ...now, seen, tags }), signal);
}

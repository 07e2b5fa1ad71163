/** Brings content into the store, from the registry, or from the backup while the registry is away. */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Repository } from '@addon-operator/oci/repository';
import type { VerificationPolicy } from '../artifacts/module-artifact.ts';
import type { DeliveryParts, SourceAccess } from './delivery-parts.ts';

export type ContentParts = Pick<
  DeliveryParts,
  'store' | 'artifacts' | 'backup' | 'clock' | 'reports' | 'log'
>;

/** Content that is wanted in the store. */
export interface WantedContent {
  readonly module: string;
  readonly version: string;
  readonly digest: string;
}

/** @throws OperatorError of the registry, ARTIFACT_INVALID, MODULE_UNVERIFIED, STORE_FAILED */
export async function pullContent(
  parts: ContentParts,
  content: WantedContent,
  access: SourceAccess,
  signal: AbortSignal,
): Promise<void> {
  if (await parts.store.has(content.digest)) return;
  await unpackFrom(
    parts,
    content,
    { repository: access.repository(content.module), policy: access.policy },
    signal,
  );
}

/**
 * Content that was verified and ran before: its digest is all that is checked.
 *
 * @param access undefined if the source cannot be opened, with the reason
 * @throws OperatorError SOURCE_INVALID if it is nowhere
 */
export async function restoreContent(
  parts: ContentParts,
  content: WantedContent,
  access: SourceAccess | string,
  signal: AbortSignal,
): Promise<void> {
  const { store, backup, log } = parts;
  if (await store.has(content.digest)) return;
  let problem = typeof access === 'string' ? access : '';
  if (typeof access !== 'string') {
    try {
      await unpackFrom(parts, content, { repository: access.repository(content.module), policy: {} }, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      problem = messageOf(error);
    }
  }
  const kept = await backup.open(content.digest, signal);
  if (kept === undefined)
    throw new OperatorError(
      'SOURCE_INVALID',
      `the files of version ${content.version} are not in the store, there is no backup, and the source does not have them: ${problem}`,
    );
  await unpackFrom(parts, content, { repository: kept, policy: {} }, signal);
  log.warn(
    { module: content.module, version: content.version, problem },
    'files of a module come from its backup',
  );
}

async function unpackFrom(
  { store, artifacts, clock, reports }: ContentParts,
  content: WantedContent,
  { repository, policy }: { readonly repository: Repository; readonly policy: VerificationPolicy },
  signal: AbortSignal,
): Promise<void> {
  const startedMs = clock.steadyMs();
  const descriptor = await repository.resolve(content.digest, signal);
  if (descriptor === undefined)
    throw new OperatorError('REGISTRY_NOT_FOUND', `${repository.url} does not have ${content.digest}`);
  const artifact = await artifacts.read(repository, descriptor, signal, { tag: content.version });
  await store.add(content, (directory) =>
    artifacts.unpack({ repository, artifact, directory, module: content.module, policy }, signal),
  );
  reports.pulled(content.module, (clock.steadyMs() - startedMs) / 1_000);
}

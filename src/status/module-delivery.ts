/** Versions of a module from a source, and the sources themselves, as commands, the page and the API show them. */

import type { ModuleUpdate } from './module-update.ts';
import { updateText } from './module-update.ts';

/** A version that a source delivered. */
export interface DeliveredVersion {
  readonly version: string;
  /** Of its manifest. */
  readonly digest: string;
  readonly at: string;
}

/** Null where there is nothing. */
export interface ModuleDelivery {
  /** Name of its ModuleSource; null for a module whose ModuleInstall is gone. */
  readonly source: string | null;
  readonly installed: DeliveredVersion | null;
  /** The last version that passed its gates. */
  readonly lastGood: DeliveredVersion | null;
  readonly wanted: { readonly version: string | null; readonly digest: string | null } | null;
  /** Versions that are not tried again without approval, the newest last. */
  readonly failed: readonly (DeliveredVersion & { readonly why: string })[];
  readonly isUpdating: boolean;
  /** Why the gates of the installed version have not passed yet. */
  readonly waitsFor: string | null;
  /** The mistakes in its spec. */
  readonly invalid: string | null;
  /** Why the files of the installed version are nowhere. */
  readonly missing: string | null;
  /** Why the last step failed. */
  readonly problem: string | null;
  /** Why its source cannot be used. */
  readonly sourceProblem: string | null;
}

/** A module of a source, whether or not it was installed yet. */
export interface DeliveredModule extends ModuleDelivery {
  readonly module: string;
  readonly update: ModuleUpdate | null;
}

/** A ModuleSource. */
export interface SourceState {
  readonly name: string;
  /** Null while its spec is invalid. */
  readonly url: string | null;
  /** The mistakes in its spec. */
  readonly invalid: string | null;
  /** Why it could not be read the last time. */
  readonly problem: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastAttemptAt: string | null;
  readonly modules: number;
}

export interface DeliveryState {
  readonly sources: readonly SourceState[];
  readonly modules: readonly DeliveredModule[];
}

export const NOTHING_DELIVERED: DeliveryState = { sources: [], modules: [] };

/** A source that cannot be read, in one sentence; undefined while it can. */
function sourceText({ name, problem, lastSuccessAt }: SourceState): string | undefined {
  if (problem === null) return undefined;
  const since = lastSuccessAt === null ? 'has not been read yet' : `was last read at ${lastSuccessAt}`;
  return `ModuleSource ${name} ${since}: ${problem}; its modules run as they are, and it is tried again`;
}

/** The mistakes that a person has to correct before anything can be delivered. */
export function invalidTexts({ sources, modules }: DeliveryState): readonly string[] {
  const names = new Set(sources.map(({ name }) => name));
  return [
    ...sources.flatMap(({ name, invalid }) =>
      invalid === null ? [] : [`ModuleSource ${name} is invalid: ${invalid}; correct its spec`],
    ),
    ...modules.flatMap(({ module, invalid, source, sourceProblem }) => {
      if (invalid !== null) return [`ModuleInstall ${module} is invalid: ${invalid}; correct its spec`];
      const isMissing = source !== null && !names.has(source) && sourceProblem !== null;
      return isMissing ? [`module ${module} has no source: ${sourceProblem}`] : [];
    }),
  ];
}

/** Failures that are retried. */
export function failingTexts({ sources, modules }: DeliveryState): readonly string[] {
  return [
    ...sources.flatMap((source) => sourceText(source) ?? []),
    ...modules.flatMap(({ module, problem }) =>
      problem === null ? [] : [`delivery of module ${module} fails, and is tried again: ${problem}`],
    ),
  ];
}

type Row = readonly [string, string];

/** The rows of an explanation about versions. */
export function deliveryRows({
  module,
  delivery,
  update,
}: {
  readonly module: string;
  readonly delivery?: ModuleDelivery;
  readonly update?: ModuleUpdate;
}): readonly Row[] {
  return [
    ...(delivery === undefined ? [] : versionRows(delivery)),
    ...(update === undefined ? [] : [['update', updateText(module, update)] as const]),
    ...(update?.remedy === undefined ? [] : [['to update it', update.remedy] as const]),
  ];
}

function versionRows(delivery: ModuleDelivery): readonly Row[] {
  const { source, installed, lastGood, wanted, failed, waitsFor } = delivery;
  const problem = delivery.invalid ?? delivery.missing ?? delivery.problem ?? delivery.sourceProblem;
  const isOther = (version: DeliveredVersion | null): boolean => version?.digest !== installed?.digest;
  return [
    ['delivered by', source === null ? 'no ModuleInstall any more' : `ModuleSource ${source}`],
    ['installed', installed === null ? 'no version' : versionText(installed)],
    ...(wanted === null || wanted.digest === installed?.digest
      ? []
      : [['wanted', wanted.version ?? wanted.digest ?? ''] as const]),
    ...(lastGood === null || !isOther(lastGood) ? [] : [['last good', versionText(lastGood)] as const]),
    ...failed.map((version): Row => ['failed', `${versionText(version)}: ${version.why}`]),
    ...(waitsFor === null ? [] : [['observed', waitsFor] as const]),
    ...(problem === null ? [] : [['delivery', problem] as const]),
  ];
}

function versionText({ version, digest, at }: DeliveredVersion): string {
  return `${version} (${digest}), ${at}`;
}

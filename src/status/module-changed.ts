/** What changed since a module last ran well: for the page, the API and `explain`. */

import type { WellFacts, WellRun } from '../journal/wells.ts';

/** Something that was different; empty where there was, or is, nothing. */
export interface Change {
  readonly before: string;
  readonly now: string;
}

export interface ValueChange extends Change {
  /** Key of the module, or `global`. */
  readonly section: string;
  /** JSON pointer below the section. */
  readonly pointer: string;
  /** What set it: a layer, or a hook; of a value that is gone what had set it. */
  readonly source: string;
}

export interface ModuleChanged {
  /** When the last run that succeeded ended; null if none is known, and then nothing is compared. */
  readonly since: string | null;
  /** Its id. */
  readonly run: string | null;
  readonly version: Change | null;
  /** Digests of the files. */
  readonly files: Change | null;
  /** The first 50. */
  readonly values: readonly ValueChange[];
  /** Values that are not listed. */
  readonly moreValues: number;
  /** Objects of the release that others changed; only with drift detection. */
  readonly objects: readonly DriftSummary[];
}

/** An object of the release that others changed. */
export interface DriftSummary {
  /** `<namespace>/<Kind>/<name>`. */
  readonly resource: string;
  /** JSON pointers. */
  readonly fields: readonly string[];
  /** Field managers, the last one first. */
  readonly changedBy: readonly string[];
  /** When that was noticed. */
  readonly since: string;
}

const SHOWN_VALUES = 50;

/** Compares the last good run with now. */
export function changedSince(
  well: (Pick<WellRun, 'facts'> & { readonly at: string; readonly run: number }) | undefined,
  now: WellFacts,
  drifted: readonly DriftSummary[],
): ModuleChanged {
  const objects = drifted.map(({ resource, fields, changedBy, since }) => ({
    resource,
    fields,
    changedBy,
    since,
  }));
  if (well === undefined)
    return { since: null, run: null, version: null, files: null, values: [], moreValues: 0, objects };
  const values = now.sections.flatMap((section) => valueChanges(section, well.facts));
  return {
    since: well.at,
    run: String(well.run),
    version: changeOf(well.facts.version, now.version),
    files: changeOf(well.facts.files, now.files),
    values: values.slice(0, SHOWN_VALUES),
    moreValues: Math.max(0, values.length - SHOWN_VALUES),
    objects,
  };
}

/** The same for people, one line each; empty if nothing is known to have changed. */
export function changedLines({
  version,
  files,
  values,
  moreValues,
  objects,
}: ModuleChanged): readonly string[] {
  return [
    ...(version === null ? [] : [`version ${version.before || 'unknown'} → ${version.now || 'unknown'}`]),
    ...(files === null ? [] : ['files of the module']),
    ...values.map(
      ({ section, pointer, before, now, source }) =>
        `value ${section}${pointer}: ${before || 'none'} → ${now || 'none'} (${source})`,
    ),
    ...(moreValues === 0 ? [] : [`${moreValues} more values`]),
    ...objects.map(
      ({ resource, fields, changedBy }) =>
        `object ${resource}: ${fields.join(', ')} (${changedBy.join(', ')})`,
    ),
  ];
}

function changeOf(before: string, now: string): Change | null {
  return before === now ? null : { before, now };
}

function valueChanges(
  { name, values }: WellFacts['sections'][number],
  before: WellFacts,
): readonly ValueChange[] {
  const known = before.sections.find((section) => section.name === name)?.values ?? [];
  const old = new Map(known.map((value) => [value.pointer, value]));
  const pointers = new Set(values.map(({ pointer }) => pointer));
  const changed = values.flatMap(({ pointer, text, checksum, source }) => {
    const last = old.get(pointer);
    if (last !== undefined && last.text === text && last.checksum === checksum) return [];
    return [{ section: name, pointer, before: last?.text ?? '', now: text, source }];
  });
  const gone = known
    .filter(({ pointer }) => !pointers.has(pointer))
    .map(({ pointer, text, source }) => ({ section: name, pointer, before: text, now: '', source }));
  return [...changed, ...gone];
}

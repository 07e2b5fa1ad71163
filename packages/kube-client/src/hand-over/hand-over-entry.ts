import { fieldsOf, isObject, parseJson, stringOf, stringsOf } from '@addon-operator/json';

/** The owner's part of an entry. */
export interface OwnerNote {
  /** The process that it is meant for. */
  readonly holder: string;
  /** Who wrote it, for people. */
  readonly by: string;
  /** `ending`: the owner is still ending its own runs. `accepted`: the holder may act, and the owner does not. */
  readonly state: 'ending' | 'accepted';
  /** Facts about the owner that the holder needs, by name. */
  readonly facts: Readonly<Record<string, readonly string[]>>;
}

/** An entry by which something is handed over from its owner to another process for a time. */
export interface HandOverEntry {
  /** The process that wants it, or has it; each has a name of its own. Empty when it was given back or is wanted back. */
  readonly holder: string;
  /** Time for which it is valid after the holder sent its last renewal. */
  readonly durationMs: number;
  /** Times of the first and the last write, by the holder's clock. Only compared for equality, never with a clock. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** The process that gave it back or lost it last, with nothing of it running any more. */
  readonly releasedBy: string;
  readonly note: OwnerNote | undefined;
}

type Data = Readonly<Record<string, string>>;

const PREFIX = 'handover.';
/** For an entry that does not say how long it lasts. */
const DEFAULT_DURATION_MS = 15_000;

/** The key of the ConfigMap that the entry about `name` has. */
export function handOverKey(name: string): string {
  return `${PREFIX}${name}`;
}

/** The subject of an entry; undefined for a key of something else. */
export function nameOfHandOver(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

/** The fields of an entry; undefined for a string that is no JSON object, which names no process. */
export function handOverFields(entry: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (entry === undefined) return undefined;
  try {
    const value = parseJson(entry);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parses an entry; undefined if there is none, or none that can be read. */
export function parseHandOver(entry: string | undefined): HandOverEntry | undefined {
  const fields = handOverFields(entry);
  if (fields === undefined) return undefined;
  const { holderIdentity, leaseDurationSeconds: seconds, acquireTime, renewTime, releasedBy, owner } = fields;
  return {
    holder: stringOf(holderIdentity),
    durationMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : DEFAULT_DURATION_MS,
    acquireTime: stringOf(acquireTime),
    renewTime: stringOf(renewTime),
    releasedBy: stringOf(releasedBy),
    note: noteOf(owner),
  };
}

function noteOf(value: unknown): OwnerNote | undefined {
  if (!isObject(value)) return undefined;
  const { holder, by, state, facts } = value;
  if (typeof holder !== 'string' || (state !== 'ending' && state !== 'accepted')) return undefined;
  const lists = Object.entries(fieldsOf(facts)).map(([name, list]) => [name, stringsOf(list)] as const);
  return { holder, by: stringOf(by), state, facts: Object.fromEntries(lists) };
}

/** An entry, as JSON, with the note of its owner. */
export function withNote(entry: string, note: OwnerNote): string {
  return JSON.stringify({ ...handOverFields(entry), owner: note });
}

/** An entry, as JSON, whose holder has to stop because the owner wants it back. */
export function wantedBack(entry: string): string {
  return JSON.stringify({ ...handOverFields(entry), holderIdentity: '' });
}

/** An entry, as JSON, whose `holder` has ended. Fields that another process wrote stay. */
export function withEnd(entry: string, holder: string): string {
  const fields = handOverFields(entry);
  if (fields === undefined) return entry;
  const given = fields['holderIdentity'] === holder ? { holderIdentity: '' } : {};
  return JSON.stringify({ ...fields, ...given, releasedBy: holder });
}

/** The data of a ConfigMap with the entry about `name` changed; unchanged if there is no such entry. */
export function changeHandOver(data: Data, name: string, change: (entry: string) => string): Data {
  const key = handOverKey(name);
  const entry = data[key];
  return entry === undefined ? data : { ...data, [key]: change(entry) };
}

/** A string that changes whenever the holder writes. Notes of the owner do not change it. */
export function signOfLife(entry: HandOverEntry | undefined): string {
  return entry === undefined ? '' : JSON.stringify([entry.holder, entry.acquireTime, entry.renewTime]);
}

/** The name of a holder for people: without the part that distinguishes its processes. */
export function holderName(holder: string): string {
  return holder.replace(/_[^_]*$/u, '');
}

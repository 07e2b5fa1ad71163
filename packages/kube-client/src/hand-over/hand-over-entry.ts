import { fieldsOf, isObject, parseJson, stringOf, stringsOf } from '@addon-operator/json';

/** What the owner wrote into an entry. */
export interface OwnerNote {
  /** The process that it is meant for. */
  readonly holder: string;
  /** Who wrote it, for people. */
  readonly by: string;
  /** `ending`: what the owner runs comes to its end first. `accepted`: the holder may act, and the owner does not. */
  readonly state: 'ending' | 'accepted';
  /** What the holder has to know of the owner, by name. */
  readonly facts: Readonly<Record<string, readonly string[]>>;
}

/** An entry by which something is handed over from its owner to another process for a time. */
export interface HandOverEntry {
  /** The process that wants it, or has it; each has a name of its own. Empty when it was given back or is wanted back. */
  readonly holder: string;
  /** How long it lasts after the holder sent its last renewal. */
  readonly durationMs: number;
  /** When the holder wrote it first, and last; written by the holder, never compared with a clock. */
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

/** What an entry is about; undefined for a key of something else. */
export function nameOfHandOver(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

/** The content of an entry; undefined for what is no JSON object: it names no process. */
export function handOverFields(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where there is no entry, or none that can be read. */
export function parseHandOver(text: string | undefined): HandOverEntry | undefined {
  const fields = handOverFields(text);
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
  const texts = Object.entries(fieldsOf(facts)).map(([name, list]) => [name, stringsOf(list)] as const);
  return { holder, by: stringOf(by), state, facts: Object.fromEntries(texts) };
}

/** The text of an entry with the note of its owner. */
export function withNote(text: string, note: OwnerNote): string {
  return JSON.stringify({ ...handOverFields(text), owner: note });
}

/** The text of an entry whose holder has to stop, because the owner wants it back. */
export function wantedBack(text: string): string {
  return JSON.stringify({ ...handOverFields(text), holderIdentity: '' });
}

/** The text of an entry whose `holder` has ended. What another process wrote stays. */
export function withEnd(text: string, holder: string): string {
  const fields = handOverFields(text);
  if (fields === undefined) return text;
  const given = fields['holderIdentity'] === holder ? { holderIdentity: '' } : {};
  return JSON.stringify({ ...fields, ...given, releasedBy: holder });
}

/** The data of a ConfigMap with another text of the entry about `name`; the same where there is none. */
export function changeHandOver(data: Data, name: string, change: (text: string) => string): Data {
  const key = handOverKey(name);
  const text = data[key];
  return text === undefined ? data : { ...data, [key]: change(text) };
}

/** The same while the holder does not write: notes of the owner are no sign of life. */
export function signOfLife(entry: HandOverEntry | undefined): string {
  return entry === undefined ? '' : JSON.stringify([entry.holder, entry.acquireTime, entry.renewTime]);
}

/** The name of a holder for people: without the part that distinguishes its processes. */
export function holderName(holder: string): string {
  return holder.replace(/_[^_]*$/u, '');
}

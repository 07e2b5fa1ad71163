/**
 * What a module was like when it last ran well, so that a failing one can be compared with it. Values are kept as text with
 * secrets masked, and compared as such: a secret that changed shows nowhere.
 */

import { crc32 } from 'node:zlib';

/** A value of a module, as it is shown. */
export interface KnownValue {
  /** JSON pointer below the section. */
  readonly pointer: string;
  /** JSON, masked and cut. */
  readonly text: string;
  /** Of the whole text, if it is cut. */
  readonly checksum?: number;
  /** What set it, such as `config-map` or a hook. */
  readonly source: string;
}

/** What may change between two runs. Strings are empty where it is not known. */
export interface WellFacts {
  readonly version: string;
  /** A digest of the files. */
  readonly files: string;
  readonly sections: readonly { readonly name: string; readonly values: readonly KnownValue[] }[];
}

/** The facts of the last run that succeeded. */
export interface WellRun {
  readonly module: string;
  /** On the wall clock, when it ended. */
  readonly atMs: number;
  /** Id of the run. */
  readonly run: number;
  readonly facts: WellFacts;
}

/** As it is stored: without facts that are those of the record before. */
export type StoredWell = Omit<WellRun, 'facts'> & { readonly facts?: WellFacts };

const MAX_TEXT = 200;
const MAX_VALUES = 300;
/** Of all modules together; those that have not run for longest go first. */
const MAX_CHARACTERS = 1024 * 1024;

/** The last good run of each module, as many as fit. */
export class Wells {
  readonly #onNoted: (well: StoredWell) => void;
  /** The one that was noted last comes last. */
  readonly #wells = new Map<string, { readonly well: WellRun; readonly json: string }>();
  #characters = 0;

  /** @param onNoted called with what a restart needs to know */
  constructor(earlier: readonly StoredWell[], onNoted: (well: StoredWell) => void) {
    this.#onNoted = () => undefined;
    for (const { facts, ...well } of earlier) {
      const known = facts ?? this.of(well.module)?.facts;
      if (known !== undefined) this.note({ ...well, facts: known });
    }
    this.#onNoted = onNoted;
  }

  get all(): readonly WellRun[] {
    return [...this.#wells.values()].map(({ well }) => well);
  }

  of(module: string): WellRun | undefined {
    return this.#wells.get(module)?.well;
  }

  note(well: WellRun): void {
    const { facts, module, ...rest } = well;
    const json = JSON.stringify(facts);
    const last = this.#forget(module);
    this.#wells.set(module, { well, json });
    this.#characters += json.length;
    for (const oldest of this.#wells.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#forget(oldest);
    }
    this.#onNoted({ module, ...rest, ...(last !== json && { facts }) });
  }

  #forget(module: string): string | undefined {
    const known = this.#wells.get(module);
    this.#wells.delete(module);
    this.#characters -= known?.json.length ?? 0;
    return known?.json;
  }
}

/** Values as they are kept, the first 300. */
export function knownValues(
  values: readonly { readonly pointer: string; readonly value: unknown; readonly source: string }[],
  redact: (text: string) => string,
): readonly KnownValue[] {
  return values.slice(0, MAX_VALUES).map(({ pointer, value, source }) => {
    const text = redact(JSON.stringify(value));
    if (text.length <= MAX_TEXT) return { pointer, text, source };
    return { pointer, text: `${text.slice(0, MAX_TEXT)}…`, checksum: crc32(text), source };
  });
}

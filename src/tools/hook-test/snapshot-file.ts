import { canonicalJson, isObject, type Json } from '@addon-operator/json';
import type { Path } from '@addon-operator/json/shape';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';
import type { StepFinding } from './check-step.ts';

interface Place {
  /** Of the step in its case. */
  readonly index: number;
  readonly title: string;
}

const MAX_DEPTH_SHOWN = 40;

/** The stored snapshots of one test file, by case and step. */
export class SnapshotFile {
  readonly #isUpdate: boolean;
  readonly #stored: Readonly<Record<string, unknown>>;
  readonly #taken = new Map<string, unknown>();

  /**
   * @param content of the file; undefined if there is none
   * @param isUpdate whether what is found is to be stored
   * @throws Error when the content is no mapping, or is no YAML
   */
  constructor(content: string | undefined, isUpdate: boolean) {
    const { value } =
      content === undefined
        ? { value: {} }
        : parseYaml(content, { source: 'snapshots', booleans: 'yaml-1.2' });
    if (value !== null && !isObject(value)) throw new Error('the file of snapshots must be a mapping');
    this.#stored = value ?? {};
    this.#isUpdate = isUpdate;
  }

  /** Where the picture differs from the stored one. One that is not stored differs as a whole. */
  compare(caseName: string, { index, title }: Place, picture: unknown): readonly StepFinding[] {
    const key = `${caseName} > step ${index + 1}, ${title}`;
    // As it reads when it is stored.
    const found = parseYaml(dumpYaml(picture as Json, 2), {
      source: 'snapshot',
      booleans: 'yaml-1.2',
    }).value;
    this.#taken.set(key, found);
    if (this.#isUpdate) return [];
    if (!Object.hasOwn(this.#stored, key))
      return [
        {
          path: ['snapshot'],
          expected: undefined,
          actual: found,
          message: 'is not stored yet: --update stores what is below',
        },
      ];
    return differences(this.#stored[key], found, ['snapshot']);
  }

  /** Stored snapshots that no step has compared. */
  get obsolete(): readonly string[] {
    return Object.keys(this.#stored).filter((key) => !this.#taken.has(key));
  }

  /**
   * The text to write; undefined if the file is right as it is, and empty if it is to be removed.
   *
   * @param isWhole whether all cases of the test file were run: what was not taken then is obsolete
   */
  updated(isWhole: boolean): string | undefined {
    if (!this.#isUpdate) return undefined;
    const next = { ...(isWhole ? {} : this.#stored), ...Object.fromEntries(this.#taken) };
    if (canonicalJson(next) === canonicalJson(this.#stored)) return undefined;
    const sorted = Object.entries(next).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return sorted.length === 0 ? '' : dumpYaml(Object.fromEntries(sorted) as Json, 2);
  }
}

/** The branches in which two values differ. */
function differences(expected: unknown, actual: unknown, path: Path): readonly StepFinding[] {
  if (path.length < MAX_DEPTH_SHOWN) {
    if (isObject(expected) && isObject(actual)) {
      const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
      return [...keys].flatMap((key) => differences(expected[key], actual[key], [...path, key]));
    }
    if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
      return expected.flatMap((item, index) => differences(item, actual[index], [...path, index]));
  }
  const isSame =
    expected === undefined || actual === undefined
      ? expected === actual
      : canonicalJson(expected) === canonicalJson(actual);
  return isSame ? [] : [{ path, expected, actual }];
}

import { isObject } from '@addon-operator/json';
import type { StepFacts, TestWorld } from './test-world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * All that came of a step, as plain data that is the same in each run: keys are sorted, and what the API server makes up is
 * replaced, the same value by the same name.
 */
export async function pictureOf(
  { runs, changes, requests, admission, conversion }: StepFacts,
  world: Pick<TestWorld, 'object' | 'values' | 'configValues'>,
): Promise<unknown> {
  const objects: unknown[] = [];
  for (const change of changes)
    objects.push({
      change: change.change,
      ...(change.change === 'deleted'
        ? { kind: change.kind, namespace: change.namespace, name: change.name }
        : { object: await world.object(change) }),
    });
  const shownRuns = runs.map(({ binding, contexts, operations, metrics, output, failure }) => ({
    binding,
    contexts,
    operations,
    metrics,
    output: output.map(({ text }) => text),
    failure,
  }));
  const responses = { admission, conversion };
  return normalized(
    {
      runs: shownRuns,
      objects,
      requests,
      ...responses,
      values: world.values(),
      configValues: world.configValues(),
    },
    new Names(),
  );
}

/** Gives the values of one kind numbers, in the order in which they first occur. */
class Names {
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  of(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind}-${count}>`;
    this.#known.set(key, name);
    return name;
  }
}

function normalized(value: unknown, names: Names, key = ''): unknown {
  if (typeof value === 'string') {
    if (key === 'resourceVersion') return names.of('version', value);
    if (UUID.test(value)) return names.of('uid', value);
    return TIME.test(value) ? names.of('time', value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => normalized(item, names));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, item]) => name !== 'managedFields' && !isEmpty(item));
  return Object.fromEntries(
    kept
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, normalized(item, names, name)]),
  );
}

/** A snapshot is to be read: what is empty is left out. */
function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

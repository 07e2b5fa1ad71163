import { isObject } from '@addon-operator/json';

/** The namespace of every sample. */
export const SHOP = 'shop';
const FIRST_VERSION = 1_041;

/**
 * Gives what differs from run to run the same text each time: namespace, uids, resource versions and times. Bookkeeping
 * of the API server that no hook looks at, `managedFields`, is left out.
 */
export function normalise(value: unknown, namespace: string): unknown {
  const uids = new Map<string, string>();
  const versions = new Map<string, string>();
  const visit = (item: unknown, key: string): unknown => {
    if (Array.isArray(item)) return item.map((element) => visit(element, ''));
    if (isObject(item)) {
      const fields = Object.entries(item).filter(([name]) => name !== 'managedFields');
      return Object.fromEntries(fields.map(([name, field]) => [name, visit(field, name)]));
    }
    if (typeof item !== 'string') return item;
    if (key === 'uid') return numbered(uids, item, (n) => `6f1c2a4e-8d1b-4c57-9a30-5be2f0c4d7${10 + n}`);
    if (key === 'resourceVersion') return numbered(versions, item, (n) => String(FIRST_VERSION + n));
    if (key === 'creationTimestamp') return '2026-11-21T09:00:00Z';
    return item.replaceAll(namespace, SHOP);
  };
  return visit(value, '');
}

function numbered(known: Map<string, string>, item: string, name: (n: number) => string): string {
  const text = known.get(item) ?? name(known.size);
  known.set(item, text);
  return text;
}

import { parseJson } from '@addon-operator/json';
import type { LogRecords } from './captured-log.ts';
import { shHook } from './world-files.ts';

/** One binding context as a hook found it. */
export type SeenContext = Readonly<Record<string, unknown>>;

/** A binding to the ConfigMaps of a namespace that have the label `watched=<label>`. */
export function configMapBinding(namespace: string, label: string, fields: object = {}): object {
  return {
    name: label,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    labelSelector: { matchLabels: { watched: label } },
    namespace: { nameSelector: { matchNames: [namespace] } },
    ...fields,
  };
}

/** A ConfigMap for such a binding. */
export function watchedMap(name: string, label: string, data: Readonly<Record<string, string>> = {}) {
  return { kind: 'ConfigMap', metadata: { name, labels: { watched: label } }, data };
}

/** A hook that prints its binding contexts, after what `first` does; {@link contextsOf} reads them. */
export function contextHook(config: object, first = ''): string {
  const text = Object.entries(config)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join('\n');
  return shHook(text, `${first}\necho "\${0##*/} $(cat "$BINDING_CONTEXT_PATH")"`);
}

/** What the hook with this file name was given, run by run. */
export function contextsOf(log: LogRecords, fileName: string): readonly (readonly SeenContext[])[] {
  return log.printed
    .filter((line) => line.startsWith(`${fileName} [`))
    .map((line) => parseJson(line.slice(fileName.length)) as readonly SeenContext[]);
}

/** Waits until the hook was run so often. */
export async function untilRuns(log: LogRecords, fileName: string, count: number): Promise<void> {
  await log.until(() => contextsOf(log, fileName).length >= count);
}

import type { LogRecords } from './captured-log.ts';
import { shHook } from './world-files.ts';

/**
 * A hook, in a queue of its own, that prints its contexts for the ConfigMaps of the namespace with label `item=yes`;
 * {@link itemsSeen} reads them.
 *
 * @param jqFilter a program whose result is the name; the default is applied without a jq process
 */
export function itemsHook(namespace: string, name = 'items', jqFilter = '.metadata.name'): string {
  return shHook(
    `
kubernetes:
- name: items
  apiVersion: v1
  kind: ConfigMap
  labelSelector: {matchLabels: {item: "yes"}}
  namespace: {nameSelector: {matchNames: [${namespace}]}}
  keepFullObjectsInMemory: false
  jqFilter: ${jqFilter}
  queue: ${name}`,
    `echo "${name} $(cat "$BINDING_CONTEXT_PATH")"`,
  );
}

/** An object the hook sees. */
export function item(name: string): { readonly metadata: { readonly name: string } } {
  const metadata = { name, labels: { item: 'yes' } };
  return { metadata };
}

/** What the hook received, in order: `Synchronization a,b`, `Added c`, and the like. */
export function itemsSeen(log: LogRecords, name = 'items'): readonly string[] {
  return log.printed
    .filter((line) => line.startsWith(`${name} [`))
    .flatMap((line) => JSON.parse(line.slice(name.length)) as readonly Context[])
    .map((context) =>
      'objects' in context
        ? `Synchronization ${context.objects.map(({ filterResult }) => filterResult).join(',')}`
        : `${context.watchEvent} ${context.filterResult}`,
    );
}

type Context =
  | { readonly objects: readonly { readonly filterResult: string }[] }
  | { readonly watchEvent: string; readonly filterResult: string };

/** Waits until the hook has received this. */
export async function untilSeen(log: LogRecords, what: string): Promise<void> {
  await log.until(() => itemsSeen(log).includes(what));
}

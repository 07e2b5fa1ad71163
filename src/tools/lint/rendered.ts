import { parseManifest } from '@addon-operator/helm/manifest-document';
import { identityOf, objectKey, unfolded } from '@addon-operator/helm/manifest-object';
import { fieldsOf, isObject } from '@addon-operator/json';
import type { LintFacts } from './lint-facts.ts';

/** One object that a chart renders to. */
export interface RenderedObject {
  readonly object: Readonly<Record<string, unknown>>;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The template relative to the module; empty where helm does not say. */
  readonly template: string;
  /** Such as `apps/v1/shop/Deployment/web`. */
  readonly title: string;
}

/** The objects of one text of manifests, helm hooks included. What is no YAML has none: the operator reports it. */
export function renderedObjects(manifest: string): readonly RenderedObject[] {
  try {
    return parseManifest(manifest).flatMap(({ object, text }) => {
      if (object === undefined) return [];
      const template = templateOf(text);
      return unfolded(object).map((each) => {
        const identity = identityOf(each);
        return { object: each, ...identity, template, title: objectKey(identity) };
      });
    });
  } catch {
    return [];
  }
}

/** The objects of all renderings; one that several of them have is there once. */
export function allObjects({ parsed }: LintFacts): readonly RenderedObject[] {
  const objects = new Map<string, RenderedObject>();
  for (const { manifests } of parsed.renderings)
    for (const object of renderedObjects(manifests[0])) objects.set(object.title, object);
  return [...objects.values()];
}

/** Helm names the chart, then the path in it. */
function templateOf(document: string): string {
  return /^# Source: [^/\n]+\/(.+)$/m.exec(document)?.[1] ?? '';
}

/** Where the pods of a kind are described; undefined for kinds that have none. */
const POD_SPECS: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  Deployment: ['spec', 'template', 'spec'],
  DaemonSet: ['spec', 'template', 'spec'],
  StatefulSet: ['spec', 'template', 'spec'],
  ReplicaSet: ['spec', 'template', 'spec'],
  Job: ['spec', 'template', 'spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

/** The specification of the pods of an object; undefined for other objects. */
export function podSpecOf({ kind, object }: RenderedObject): Readonly<Record<string, unknown>> | undefined {
  const path = Object.hasOwn(POD_SPECS, kind) ? POD_SPECS[kind] : undefined;
  if (path === undefined) return undefined;
  let value: unknown = object;
  for (const part of path) value = fieldsOf(value)[part];
  return isObject(value) ? value : undefined;
}

/** The containers of a pod, with those that run before the others. */
export function containersOf(
  pod: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  return [...listOf(pod['initContainers']), ...listOf(pod['containers'])];
}

/** The objects in a list; none for anything else. */
export function listOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

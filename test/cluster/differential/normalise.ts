import { isObject } from '@addon-operator/json';
import { stringAt, valueAt } from '../../../packages/kube-sandbox/src/json-access.ts';
import { SANDBOX_WARNING } from '../../../packages/kube-sandbox/src/left-out.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const ADDRESS = /\b10\.\d+\.\d+\.\d+\b/g;
const TEMPLATE_HASH = /-[0-9a-f]{8,10}\b/g;

/** Values that two servers choose differently, by the name of their field. */
const CHOSEN: Readonly<Record<string, unknown>> = {
  resourceVersion: '<revision>',
  continue: '<token>',
  nodePort: '<port>',
  storageVersionHash: undefined,
};

/** Kinds whose status depends on machines that neither server has. */
const WORKLOADS = new Set([
  'DaemonSet',
  'Deployment',
  'Job',
  'PersistentVolumeClaim',
  'Pod',
  'PodDisruptionBudget',
  'ReplicaSet',
  'StatefulSet',
]);

/** Controllers count the changes of a Deployment in this annotation, some time later. */
const REVISION = 'deployment.kubernetes.io/revision';

/** A response with everything that no two servers choose alike made equal. */
export function normalise(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(UUID, '<uid>').replaceAll(TIME, '<time>').replaceAll(ADDRESS, '<address>');
  if (Array.isArray(value)) return value.map(normalise);
  if (!isObject(value)) return value;
  const normalised: Record<string, unknown> = {};
  for (const [key, content] of Object.entries(value)) {
    if (key === 'annotations' && hasOnlyRevision(content)) continue;
    if (key in CHOSEN) {
      if (CHOSEN[key] !== undefined) normalised[key] = CHOSEN[key];
    } else normalised[key] = normaliseField(key, content, value);
  }
  return normalised;
}

function normaliseField(key: string, content: unknown, owner: Record<string, unknown>): unknown {
  if (key === 'managedFields' && Array.isArray(content))
    return normalise(content.filter(isByClient).toSorted(byManager));
  if (key === 'status' && WORKLOADS.has(String(owner['kind']))) return '<status>';
  if (key === 'annotations' && isObject(content)) {
    const { [REVISION]: _revision, ...rest } = content;
    return normalise(rest);
  }
  return normalise(content);
}

function hasOnlyRevision(annotations: unknown): boolean {
  return isObject(annotations) && Object.keys(annotations).every((key) => key === REVISION);
}

/** Entries of one second stand in the order of their names, and two servers see the second change apart. */
function byManager(left: unknown, right: unknown): number {
  return managerName(left) < managerName(right) ? -1 : 1;
}

function managerName(entry: unknown): string {
  const parts = ['operation', 'manager', 'subresource'].map((field) => stringAt(entry, field));
  return parts.join(' ');
}

function isByClient(entry: unknown): boolean {
  const manager = valueAt(entry, 'manager');
  return manager !== 'kube-controller-manager' && manager !== 'kube-apiserver';
}

/** Output of a command with names that hold a hash, times and addresses made equal. */
export function normaliseText(text: string): string {
  const normalised = normalise(text);
  return String(normalised)
    .replaceAll(TEMPLATE_HASH, '-<hash>')
    .replaceAll(/\b\d+(?:m\d+)?s\b/g, '<age>')
    .replaceAll(/ +/g, ' ');
}

/** Warnings of a server in one text. Of what the sandbox leaves out only the sandbox warns. */
export function commonWarnings(warnings: readonly string[]): string {
  return warnings.filter((warning) => !warning.includes(SANDBOX_WARNING)).join();
}

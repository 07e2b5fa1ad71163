import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { canonicalJson, isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { type ManifestDocument, parseManifest } from './manifest-document.ts';
import { isHook, unfolded } from './manifest-object.ts';

interface ReadDocument {
  readonly text: string;
  /** Empty for helm's own hooks, and where there is no object. */
  readonly objects: readonly KubeObject[];
}

/**
 * Gives a rendered manifest to `change` as objects, helm's own hooks left out, and writes what it gives back. Documents
 * whose objects stayed the same keep their text; what changed or is new is written as JSON.
 *
 * @param readYaml parses one document as helm does
 * @throws OperatorError HELM_FAILED when the manifest cannot be read; what `change` throws
 */
export async function transformManifest(
  manifest: string,
  readYaml: (text: string) => unknown,
  change: (objects: readonly KubeObject[]) => Promise<readonly KubeObject[]>,
): Promise<string> {
  const documents = parseManifest(manifest).map((document) => readDocument(document, readYaml));
  const before = documents.flatMap(({ objects }) => objects);
  const after = await change(before);
  if (after === before || canonicalJson(after) === canonicalJson(before)) return manifest;
  const left = Map.groupBy(after, keyOf);
  const texts = documents.flatMap((document) => rewritten(document, left));
  const added = [...left.values()].flat().map(jsonDocument);
  return [...texts, ...added]
    .map((text) => `---\n${text.replace(/^\s*\n/, '').replace(/\n?$/, '\n')}`)
    .join('');
}

/** The objects of a manifest with the scalars that helm reads; lists unfolded, helm's own hooks left out. */
export function manifestObjects(
  manifest: string,
  readYaml: (text: string) => unknown,
): readonly KubeObject[] {
  return parseManifest(manifest).flatMap((document) => readDocument(document, readYaml).objects);
}

/** The manifest without some of its objects: those with the same kind, name and namespace as one of `objects`. */
export async function withoutObjects(
  manifest: string,
  readYaml: (text: string) => unknown,
  objects: readonly KubeObject[],
): Promise<string> {
  const keys = new Set(objects.map(keyOf));
  return await transformManifest(
    manifest,
    readYaml,
    async (all) => await Promise.resolve(all.filter((object) => !keys.has(keyOf(object)))),
  );
}

/** The texts that replace a document; the objects in them are removed from `left`. */
function rewritten({ text, objects }: ReadDocument, left: Map<string, KubeObject[]>): string[] {
  if (objects.length === 0) return [text];
  const now = objects.flatMap((object) => left.get(keyOf(object))?.shift() ?? []);
  return canonicalJson(now) === canonicalJson(objects) ? [text] : now.map(jsonDocument);
}

function readDocument({ object, text }: ManifestDocument, readYaml: (text: string) => unknown): ReadDocument {
  if (object === undefined || isHook(object)) return { text, objects: [] };
  try {
    const value = readYaml(text);
    return { text, objects: isObject(value) ? unfolded(value).filter(hasMetadata) : [] };
  } catch (cause) {
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot pass rendered objects to the extensions or the reconcile webhook of the module (${String(object['kind'])} ${nameOf(object)}): ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** helm itself reports other missing fields. */
function hasMetadata(object: Readonly<Record<string, unknown>>): object is KubeObject {
  return isObject(object['metadata']);
}

function nameOf({ metadata }: Readonly<Record<string, unknown>>): string {
  return isObject(metadata) ? `"${String(metadata['name'])}"` : 'without a name';
}

function keyOf({ apiVersion, kind, metadata }: KubeObject): string {
  return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', metadata.name]);
}

function jsonDocument(object: KubeObject): string {
  return JSON.stringify(object);
}

// Adds the operator's labels to rendered objects. The manifest is edited as a YAML tree, not parsed and
// written again, so that all other values stay exactly as the chart wrote them. `render-gate` passes the
// result to helm; the checksum of a release is computed without hooks, which helm runs and deletes by itself.

import { OperatorError } from '@addon-operator/base/errors';
import {
  COLLECTION_STYLE,
  type Document,
  type MappingNode,
  type Node,
  SCALAR_STYLE,
  type ScalarNode,
} from 'js-yaml';
import { type ManifestDocument, parseManifest, rewriteDocument } from './manifest-document.ts';
import { isHook, isList, type ManifestObject, releaseObjects } from './manifest-object.ts';

type Labels = Readonly<Record<string, string>>;

export interface LabelledManifest {
  /** Everything to be applied, hooks included where helm hands them over (helm 4). Never blank: helm refuses that. */
  readonly text: string;
  /** The same without hooks: what a checksum is taken of. */
  readonly releaseText: string;
  readonly objects: readonly ManifestObject[];
}

const MERGE_TAG = 'tag:yaml.org,2002:merge';
/** Helm refuses an empty manifest from a post-renderer; a comment is accepted. */
const NOTHING = '# The chart renders no object.\n';

/**
 * Sets labels in `metadata.labels` of every object of a release, and nowhere else: not on hooks, not in pod templates.
 * All other values stay as they are written.
 *
 * @throws OperatorError HELM_FAILED when the text is no YAML, or metadata is not a plain mapping
 */
export function addLabels(manifest: string, labels: Labels): LabelledManifest {
  const documents = parseManifest(manifest);
  const all: string[] = [];
  const ofRelease: string[] = [];
  for (const document of documents) {
    if (document.object === undefined) continue;
    const isHookDocument = isHook(document.object);
    const yaml = isHookDocument ? document.text : labelled(document, labels);
    all.push(yaml);
    if (!isHookDocument) ofRelease.push(yaml);
  }
  return { text: join(all), releaseText: join(ofRelease), objects: releaseObjects(documents) };
}

/** One file of documents, each with its mark and a line end. */
function join(documents: readonly string[]): string {
  if (documents.length === 0) return NOTHING;
  return documents.map((yaml) => `---\n${yaml.replace(/^\s*\n/, '')}`.replace(/\n?$/, '\n')).join('');
}

/** One document with labels; a List gets them on each item. */
function labelled(document: ManifestDocument, labels: Labels): string {
  const isListDocument = document.object !== undefined && isList(document.object);
  return rewriteDocument(document, (tree) => {
    const root = mappingOf(tree.contents, 'the document');
    for (const object of isListDocument ? itemsOf(root) : [root]) setLabels(object, labels);
  });
}

function itemsOf(list: MappingNode): MappingNode[] {
  const items = valueOf(list, 'items');
  return items?.kind === 'sequence' ? items.items.filter((item) => item.kind === 'mapping') : [];
}

/** Creates `metadata` and `labels` where they are missing. */
function setLabels(object: MappingNode, labels: Labels): void {
  const metadata = mappingOf(
    valueOf(object, 'metadata') ?? put(object, 'metadata', emptyMapping()),
    'metadata',
  );
  const current = valueOf(metadata, 'labels');
  const target = ownLabels(current);
  if (target !== current) put(metadata, 'labels', target);
  for (const [key, value] of Object.entries(labels))
    put(target, key, scalar(value, SCALAR_STYLE.DOUBLE_QUOTED));
}

/** A mapping that belongs to this object alone: labels shared through an anchor or an alias are merged into a new one. */
function ownLabels(current: Node | undefined): MappingNode {
  if (current?.kind === 'mapping' && current.anchor === undefined) return current;
  const target = emptyMapping();
  if (current?.kind === 'mapping' || current?.kind === 'alias') {
    target.items.push({ key: { ...scalar('<<', SCALAR_STYLE.PLAIN), tag: MERGE_TAG }, value: current });
  }
  return target;
}

function valueOf(mapping: MappingNode, key: string): Node | undefined {
  return mapping.items.find((item) => item.key.kind === 'scalar' && item.key.value === key)?.value;
}

/** Sets one key; replaces every earlier item of that key. Returns the value. */
function put(mapping: MappingNode, key: string, value: Node): Node {
  mapping.items = mapping.items.filter((item) => item.key.kind !== 'scalar' || item.key.value !== key);
  mapping.items.push({ key: scalar(key, SCALAR_STYLE.PLAIN), value });
  return value;
}

function mappingOf(node: Document['contents'], what: string): MappingNode {
  if (node?.kind === 'mapping') return node;
  throw new OperatorError('HELM_FAILED', `Cannot label a rendered object: ${what} is not a mapping`);
}

function emptyMapping(): MappingNode {
  return {
    kind: 'mapping',
    tag: 'tag:yaml.org,2002:map',
    tagged: false,
    style: COLLECTION_STYLE.BLOCK,
    items: [],
  };
}

function scalar(value: string, style: ScalarNode['style']): ScalarNode {
  return { kind: 'scalar', tag: 'tag:yaml.org,2002:str', tagged: false, style, value };
}

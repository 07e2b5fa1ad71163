import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { readFlowAtAnyColumn } from '@addon-operator/yaml/yaml-flow-columns';
import {
  CORE_SCHEMA,
  constructFromEvents,
  type Document,
  defineScalarTag,
  type Event,
  eventsToAst,
  mergeTag,
  parseEvents,
  present,
} from 'js-yaml';

/** Depth no Kubernetes object comes near (the API server takes 100 in JSON). */
const MAX_DEPTH = 250;
/** Opaque here. */
const binaryTag = defineScalarTag('tag:yaml.org,2002:binary', {
  resolve: (source) => source,
  identify: () => false,
});
const SCHEMA = CORE_SCHEMA.withTags(mergeTag, binaryTag);
const DOCUMENT_MARK = /^---(?=\s|$)/m;

/** One YAML document of rendered text. */
export interface ManifestDocument {
  /** The text between the document marks; lines that helm reads at any column may be indented. */
  readonly text: string;
  /** The object in it; undefined when the document holds none (blank, or comments only). */
  readonly object: Readonly<Record<string, unknown>> | undefined;
  readonly events: Event[];
}

/**
 * Parses rendered manifests. Only names and metadata are read from the objects, so scalars that the YAML versions
 * disagree about do not matter here.
 *
 * @throws OperatorError HELM_FAILED when the text is no YAML
 */
export function parseManifest(manifest: string): ManifestDocument[] {
  // At the start of a line the mark always ends a document, also inside a block scalar.
  return manifest.split(DOCUMENT_MARK).map(parseDocument);
}

function parseDocument(text: string): ManifestDocument {
  try {
    return readFlowAtAnyColumn(text, (parsed) => {
      const events = parseEvents(parsed, { maxDepth: MAX_DEPTH });
      const [value] = constructFromEvents(events, { source: parsed, schema: SCHEMA, json: true });
      return { text: parsed, events, object: isObject(value) ? value : undefined };
    });
  } catch (cause) {
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot read a rendered manifest (${sourceOf(text)}): ${firstLine(messageOf(cause))}`,
    );
  }
}

/** Rewrites the tree of a document; scalars keep the spelling they have, comments above the object stay. */
export function rewriteDocument(document: ManifestDocument, change: (tree: Document) => void): string {
  const [tree] = eventsToAst(document.events, { source: document.text, schema: SCHEMA });
  if (tree === undefined) return document.text;
  change(tree);
  const body = present([{ ...tree, explicitStart: false, explicitEnd: false }], {
    schema: SCHEMA,
    lineWidth: -1,
  });
  return `\n${leadingComments(document.text)}${body}`;
}

function leadingComments(text: string): string {
  return /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)?.[0].replace(/^\s*\n/, '') ?? '';
}

/** The template a document came from, as helm's comment names it. */
function sourceOf(text: string): string {
  return /^# Source: (.+)$/m.exec(text)?.[1] ?? 'template unknown';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

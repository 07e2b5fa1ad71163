// What a revision was deployed from, besides what helm records itself: the digest of the module's
// files in a label of its record; the version of the module, its section of the ConfigMap and the
// schemas of that in an object that the record owns. Helm's history thus remains the only one.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  canonicalJson,
  fieldsOf,
  isObject,
  type JsonObject,
  parseJson,
  stringOf,
} from '@addon-operator/json';

/** Schemas of the settings of a module, as its files have them. */
export interface SettingsSchemaTexts {
  readonly config?: string | undefined;
  readonly values?: string | undefined;
}

/** The files and settings that a revision was deployed from. */
export interface ReleaseSource {
  /** Digest of the files of the module. */
  readonly files: string;
  readonly version?: string | undefined;
  /** The section of the ConfigMap as it was written, with references to Secrets; undefined without one. */
  readonly section?: JsonObject | undefined;
}

/** The record of a {@link ReleaseSource} with its schemas. */
export interface RecordedSource {
  readonly version: string | undefined;
  /** Undefined where it was too large to be recorded. */
  readonly section: JsonObject | undefined;
  readonly schemas: SettingsSchemaTexts | undefined;
}

const FILES_LABEL = 'addon-operator/files';
/** Base64 of gzip. */
const MAX_BYTES = 64 * 1024;
const MAX_UNPACKED_BYTES = 4 * 1024 * 1024;
const LABEL = /^(?<revision>\d+)\.(?<files>[^.]+)\./;

type Labels = Readonly<Record<string, string>>;

/**
 * The label of a revision. It names the revision, because helm copies labels into later ones, and
 * the section by a hash, so that a change of either is noticed without unpacking.
 */
export function sourceLabels(revision: number, { files, section }: ReleaseSource): Labels {
  const hash = createHash('sha256')
    .update(canonicalJson(section ?? null))
    .digest('hex')
    .slice(0, 8);
  return { [FILES_LABEL]: `${revision}.${files}.${hash}` };
}

/** Whether a revision is recorded as deployed from this source. */
export function isRecorded(labels: Labels, revision: number, source: ReleaseSource): boolean {
  return labels[FILES_LABEL] === sourceLabels(revision, source)[FILES_LABEL];
}

/** The digest of the files of a revision; undefined where it is not recorded. */
export function filesOfRevision(labels: Labels, revision: number): string | undefined {
  const groups = LABEL.exec(labels[FILES_LABEL] ?? '')?.groups;
  return groups?.['revision'] === String(revision) ? groups['files'] : undefined;
}

/** The label with which another revision says that it has the source of this one. */
export function copiedLabels(
  { labels, revision }: { readonly labels: Labels; readonly revision: number },
  other: number,
): Labels {
  if (filesOfRevision(labels, revision) === undefined) return {};
  const rest = labels[FILES_LABEL]?.slice(String(revision).length) ?? '';
  return { [FILES_LABEL]: `${other}${rest}` };
}

/**
 * The text that keeps a source. Of one that is too large the schemas are left out first, then the
 * section.
 */
export function packSource({ version, section }: ReleaseSource, schemas: SettingsSchemaTexts): string {
  const [whole = '', withoutSchemas = '', withoutSection = ''] = [
    { version, section: section ?? null, schemas },
    { version, section: section ?? null },
    { version },
  ].map((data) => gzipSync(JSON.stringify(data)).toString('base64'));
  return [whole, withoutSchemas].find((text) => text.length <= MAX_BYTES) ?? withoutSection;
}

/** The reverse of {@link packSource}; undefined when there is none, or it cannot be read. */
export function unpackSource(text: string | undefined): RecordedSource | undefined {
  if (text === undefined) return undefined;
  try {
    const json = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
    const { version, section, schemas } = fieldsOf(parseJson(json.toString('utf8')));
    const { config, values } = fieldsOf(schemas);
    return {
      version: stringOf(version) || undefined,
      // Null: there was no section, which is as good as an empty one.
      section: isObject(section) ? (section as JsonObject) : section === null ? {} : undefined,
      schemas: isObject(schemas) ? { config: textOf(config), values: textOf(values) } : undefined,
    };
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

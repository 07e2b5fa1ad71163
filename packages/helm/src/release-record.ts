import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject, parseJson, stringOf } from '@addon-operator/json';
import { RELEASE_STATUSES, type ReleaseStatus } from './recovery-table.ts';

/** The content of helm's record about one revision, as far as it is read here. */
export interface ReleasePayload {
  /** Everything helm applied, hooks excepted, as YAML documents. */
  readonly manifest: string;
  readonly chart: { readonly name: string; readonly version: string };
  /** The values given by the user. */
  readonly values: Readonly<Record<string, unknown>>;
  /** When it was deployed, RFC 3339, and what helm says about that. */
  readonly info: { readonly deployedAt: string; readonly description: string };
}

const MAX_RECORD_BYTES = 64 * 1024 * 1024;
const inflate = promisify(gunzip);
const deflate = promisify(gzip);

/** The status of a revision by its label; any other value is `unknown`. */
export function releaseStatus(label: string | undefined): ReleaseStatus {
  const status = label?.toLowerCase();
  return RELEASE_STATUSES.find((known) => known === status) ?? 'unknown';
}

/**
 * The release inside a record: base64 of gzipped JSON.
 *
 * @param recordName the object that holds the record, for the message
 * @throws OperatorError HELM_RELEASE_CORRUPT
 */
export async function decodeRelease(encoded: string, recordName: string): Promise<Record<string, unknown>> {
  try {
    const packed = Buffer.from(encoded, 'base64');
    const isGzip = packed[0] === 0x1f && packed[1] === 0x8b;
    const json = isGzip ? await inflate(packed, { maxOutputLength: MAX_RECORD_BYTES }) : packed;
    const release = parseJson(json.toString('utf8'));
    // helm itself breaks down on one without `info`.
    if (isObject(release) && typeof release['name'] === 'string' && isObject(release['info'])) return release;
    throw new SyntaxError('no release inside');
  } catch (cause) {
    throw new OperatorError(
      'HELM_RELEASE_CORRUPT',
      `Cannot read helm release record "${recordName}": it is not a gzipped JSON release. ` +
        'Restore this one object from a backup, or delete it: helm then continues from the previous revision.',
      { cause },
    );
  }
}

/** The reverse of {@link decodeRelease}. */
export async function encodeRelease(release: Readonly<Record<string, unknown>>): Promise<string> {
  return (await deflate(JSON.stringify(release))).toString('base64');
}

/** The parts of a decoded release that are used here; absent ones are empty. */
export function releasePayload(release: Readonly<Record<string, unknown>>): ReleasePayload {
  const metadata = fieldsOf(fieldsOf(release['chart'])['metadata']);
  const info = fieldsOf(release['info']);
  return {
    manifest: stringOf(release['manifest']),
    chart: { name: stringOf(metadata['name']), version: stringOf(metadata['version']) },
    values: fieldsOf(release['config']),
    info: { deployedAt: stringOf(info['last_deployed']), description: stringOf(info['description']) },
  };
}

/** The same release with another status, and the reason as helm's description of it. */
export function withStatus(
  release: Readonly<Record<string, unknown>>,
  status: ReleaseStatus,
  description: string,
): Record<string, unknown> {
  return { ...release, info: { ...fieldsOf(release['info']), status, description } };
}

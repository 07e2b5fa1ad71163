/**
 * Replaces secrets in recordings by numbered masks. Equal secrets get equal masks, so a recording can still be replayed and
 * compared. Base64 is decoded, masked and encoded again, because a hook decodes the data of Secrets.
 */

import { isObject, isRawJson, parseJson } from '@addon-operator/json';
import { splitJsonStream } from '@addon-operator/json/json-stream';
import { type FoundSecret, SecretFinder } from '@addon-operator/masking/secret-finder';
import { parseYaml } from '@addon-operator/yaml';
import { yamlDocuments } from '@addon-operator/yaml/yaml-documents';

/** Holds the object as it was applied, with its data. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Both alphabets: a secret may occur in a URL. */
const BASE64 = /[\w+/-]/;
/** The rest of a run of characters of base64, with the padding. */
const REST_OF_RUN = /^[\w+/-]*={0,2}/;
/** The mask of a secret of which only a part is present. */
const CUT_MASK = '***';

/**
 * Replaces secrets by `***1`, `***2` and so on: the same secret by the same mask, as long as the masks are in use, so that equal
 * strings stay equal. What is base64 becomes the base64 of the mask, so that a hook that decodes it still works.
 */
export class SecretMasks {
  readonly #masks = new Map<string, string>();
  readonly #finder: SecretFinder;

  /** @param known finds further secrets than those that are added */
  constructor(known?: SecretFinder) {
    this.#finder = new SecretFinder(known);
  }

  /** This text is a secret from now on, if it is long enough. */
  add(secret: string): void {
    this.#finder.add(secret);
    if (this.#finder.has(secret)) this.#maskOf(secret);
  }

  /** The data of each Secret in the value are secrets from now on; `isSecret` says whose objects are left out of the value. */
  learn(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.learn(item);
    if (!isObject(value)) return;
    if (value['kind'] === 'Secret') {
      for (const data of Object.values(mapIn(value, 'data')))
        if (typeof data === 'string') this.add(decoded(data));
      for (const text of Object.values(mapIn(value, 'stringData')))
        if (typeof text === 'string') this.add(text);
    }
    for (const item of Object.values(value)) this.learn(item);
  }

  /** All strings of a value are secrets, such as what a filter kept of a Secret. */
  hidden(value: unknown): unknown {
    if (typeof value === 'string') return value === '' ? value : this.#hide(value);
    if (Array.isArray(value)) return value.map((item) => this.hidden(item));
    return isObject(value) ? mapped(value, (item) => this.hidden(item)) : value;
  }

  /** The text with masks in place of secrets. */
  text(text: string): string {
    let [masked, done] = ['', 0];
    for (const found of this.#finder.find(text)) {
      // Several secrets may be in one run of base64.
      if (found.end <= done) continue;
      const { start, end, mask } = this.#base64Mask(text, done, found) ?? {
        ...found,
        mask: found.secret === undefined ? CUT_MASK : this.#maskOf(found.secret),
      };
      masked += text.slice(done, Math.max(start, done)) + mask;
      done = end;
    }
    return done === 0 ? text : masked + text.slice(done);
  }

  /** The value with masks in all its strings and keys, in place of numbers that are secrets, and in all data of Secrets. */
  data(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number' || isRawJson(value)) return this.#number(value);
    if (Array.isArray(value)) return value.map((item) => this.data(item));
    if (!isObject(value)) return value;
    return value['kind'] === 'Secret' ? this.#secret(value) : mapped(value, (item) => this.data(item), this);
  }

  /** The data of a Secret object, regardless of its content, and the copy that kubectl keeps in an annotation. */
  #secret(object: Readonly<Record<string, unknown>>): unknown {
    const { data, stringData, metadata, ...rest } = object;
    const annotations = mapIn(mapIn(object, 'metadata'), 'annotations');
    const isApplied = LAST_APPLIED in annotations;
    return {
      ...mapped(rest, (item) => this.data(item), this),
      ...(metadata !== undefined && {
        metadata: this.data(
          isApplied
            ? { ...mapIn(object, 'metadata'), annotations: { ...annotations, [LAST_APPLIED]: '***' } }
            : metadata,
        ),
      }),
      ...(data !== undefined && {
        data: isObject(data)
          ? mapped(data, (item) => (typeof item === 'string' ? this.#encoded(item) : item))
          : this.hidden(data),
      }),
      ...(stringData !== undefined && { stringData: this.hidden(stringData) }),
    };
  }

  /** Base64 of the mask, so that a hook can still decode it. */
  #encoded(data: string): string {
    return data === '' ? '' : base64(this.#hide(decoded(data)));
  }

  /** The mask of a secret of any length. */
  #hide(secret: string): string {
    this.#finder.add(secret);
    return this.#maskOf(secret);
  }

  /** A number that is a secret, such as a PIN, becomes a string. */
  #number(value: unknown): unknown {
    const digits = JSON.stringify(value);
    const mask = this.#finder.has(digits) ? this.#maskOf(digits) : undefined;
    return mask ?? value;
  }

  /** For a secret in a text in base64: base64 of the masked text. Undefined if there is none. */
  #base64Mask(
    text: string,
    from: number,
    { start, end, isBase64 }: FoundSecret,
  ): { readonly start: number; readonly end: number; readonly mask: string } | undefined {
    if (!isBase64) return undefined;
    // Extends the match to the whole run of base64 characters, which is decoded as one.
    let runStart = start;
    while (runStart > from && BASE64.test(text.charAt(runStart - 1))) runStart -= 1;
    const run = text.slice(runStart, start) + (REST_OF_RUN.exec(text.slice(start))?.[0] ?? '');
    const plain = textOfBase64(run);
    // The secret may be at another offset, or in a text in which its base64 is escaped.
    if (plain === undefined || runStart + run.length < end) return undefined;
    const masked = this.text(plain);
    if (masked === plain) return undefined;
    const [mask = masked] = /^\*\*\*\d+(?=\s*$)/.exec(masked) ?? [];
    return { start: runStart, end: runStart + run.length, mask: base64As(run, mask) };
  }

  /** Numbers masks in the order in which secrets occur. */
  #maskOf(secret: string): string {
    const known = this.#masks.get(secret);
    if (known !== undefined) return known;
    const mask = `***${this.#masks.size + 1}`;
    this.#masks.set(secret, mask);
    return mask;
  }
}

/** The text that is encoded; undefined if it is none. */
function textOfBase64(run: string): string | undefined {
  const bytes = Buffer.from(run, 'base64');
  const text = bytes.toString();
  const isText = bytes.equals(Buffer.from(text)) && base64As(run, text) === run;
  return isText ? text : undefined;
}

/** Base64 in the alphabet of another one, and with padding if that has it or needs none. */
function base64As(other: string, text: string): string {
  const encoded = Buffer.from(text)
    .toString(/[-_]/.test(other) ? 'base64url' : 'base64')
    .replace(/=+$/, '');
  return other.length % 4 === 0 ? encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=') : encoded;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The text of data of a Secret; the data themselves if they are no text. */
function decoded(data: string): string {
  const text = Buffer.from(data, 'base64').toString('utf8');
  return base64(text) === data ? text : data;
}

/** A map under a key; empty if there is none. */
function mapIn(value: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const map = value[key];
  return isObject(map) ? map : {};
}

/** A map with changed values, and changed keys if masks are given. */
function mapped(
  value: Readonly<Record<string, unknown>>,
  map: (item: unknown) => unknown,
  keys?: Pick<SecretMasks, 'text'>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys === undefined ? key : keys.text(key), map(item)]),
  );
}

/**
 * The output of a hook, with masks in place of secrets, so that it can still be read: if masks in the text would change more than strings and
 * keys, the values are written again, as JSON.
 */
export function maskedOutput(text: string, masks: Pick<SecretMasks, 'text' | 'data'>): string {
  const masked = masks.text(text);
  const documents = readOutput(text);
  if (documents.length === 0) return masked;
  const expected = documents.map((document) => JSON.stringify(masks.data(document)));
  const asRead = readOutput(masked).map((document) => JSON.stringify(document));
  return asRead.join('\n') === expected.join('\n') ? masked : `${expected.join('\n')}\n`;
}

/** The JSON values of an output file, or else its YAML documents; none if it is neither. */
export function readOutput(text: string): readonly unknown[] {
  try {
    return splitJsonStream(text).map((value) => parseJson(value.text));
  } catch {
    return readYaml(text);
  }
}

function readYaml(text: string): readonly unknown[] {
  try {
    return Array.from(
      yamlDocuments(text),
      (document) => parseYaml(document.text, { source: '', booleans: 'yaml-1.2' }).value,
    ).filter((document) => document !== null);
  } catch {
    return [];
  }
}

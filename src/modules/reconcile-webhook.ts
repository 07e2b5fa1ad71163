import { isObject, type JsonObject } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import { refuseUnknown } from '@addon-operator/json/unknown-keys';

const WEBHOOK_CAPABILITIES = ['pre-reconcile', 'finalize'] as const;

/**
 * When a reconcile webhook is called: before rendered objects are applied, and before the module is
 * deleted.
 */
export type WebhookCapability = (typeof WEBHOOK_CAPABILITIES)[number];

/** A reference to an object in the cluster that has the server's address. */
interface WebhookReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined: the operator's namespace. */
  readonly namespace: string | undefined;
}

/** Parts of a URL that replace those of the referenced object; undefined: not replaced. */
export interface UriParts {
  readonly scheme: 'http' | 'https' | undefined;
  readonly port: number | undefined;
  /** With the query, begins with a slash. */
  readonly path: string | undefined;
}

export type WebhookAddress =
  | { readonly type: 'url'; readonly url: URL }
  | { readonly type: 'ref'; readonly ref: WebhookReference; readonly uri: UriParts };

/** The reconcile webhook of a module: the key `hook` of `module.yaml`. */
export interface ReconcileWebhook {
  readonly address: WebhookAddress;
  /** The time limit of one call in milliseconds, including the resolution of the address. */
  readonly timeoutMs: number;
  readonly capabilities: readonly WebhookCapability[];
  /** The definition as it was read, which is stored with the finalizer. */
  readonly definition: JsonObject;
}

const DEFAULT_WEBHOOK_TIMEOUT_MS = 15_000;
const MAX_TIMEOUT_MS = 300_000;
const KEYS = ['version', 'address', 'timeout', 'capabilities'];
const ADDRESS_KEYS = ['uri', 'ref'];
const REF_KEYS = ['apiVersion', 'kind', 'name', 'namespace'];
/** Scheme, host, port and the rest; the host is optional. */
const URI =
  /^(?:(?<scheme>https?):\/\/(?<host>\[[^\]]*\]|[^/?#:]*)(?::(?<port>\d{1,5}))?)?(?<path>[/?][^#]*)?$/iu;

/**
 * Reads the key `hook` of a `module.yaml`; problems are added to `problems`, each with its path.
 *
 * @returns undefined without the key, and with problems
 */
export function readReconcileWebhook(value: unknown, problems: string[]): ReconcileWebhook | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) {
    problems.push(`hook: expected a map with the keys ${KEYS.join(', ')}`);
    return undefined;
  }
  const found: string[] = [];
  refuseUnknown(value, KEYS, 'hook', found);
  if (value['version'] !== 'v1')
    found.push(`hook.version: expected v1, the only supported version, got ${shown(value['version'])}`);
  const address = readAddress(value['address'], found);
  const timeoutMs = readTimeout(value['timeout'], found);
  const capabilities = readCapabilities(value['capabilities'], found);
  problems.push(...found);
  if (found.length > 0 || address === undefined) return undefined;
  // YAML yields only JSON values.
  return { address, timeoutMs, capabilities, definition: value as JsonObject };
}

/** The address for messages: without the query, which may hold secrets. */
export function addressTitle(address: WebhookAddress): string {
  if (address.type === 'url') return `${address.url.origin}${address.url.pathname}`;
  const { kind, name } = address.ref;
  return `${kind} ${name}`;
}

function readAddress(value: unknown, problems: string[]): WebhookAddress | undefined {
  const at = 'hook.address';
  if (!isObject(value) || (value['uri'] === undefined && value['ref'] === undefined)) {
    problems.push(`${at}: expected a map with uri, ref or both`);
    return undefined;
  }
  refuseUnknown(value, ADDRESS_KEYS, at, problems);
  const { uri, ref } = value;
  if (uri !== undefined && typeof uri !== 'string') {
    problems.push(`${at}.uri: expected a string, got ${shown(uri)}`);
    // Problems of the reference are reported at the same time.
    if (ref !== undefined) readReference(ref, `${at}.ref`, problems);
    return undefined;
  }
  if (ref === undefined) return readUrl(uri ?? '', `${at}.uri`, problems);
  const reference = readReference(ref, `${at}.ref`, problems);
  const parts = readUriParts(uri ?? '', `${at}.uri`, problems);
  return reference && parts && { type: 'ref', ref: reference, uri: parts };
}

function readUrl(value: string, at: string, problems: string[]): WebhookAddress | undefined {
  const url = URL.parse(value);
  const before = problems.length;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    problems.push(`${at}: expected a URL that begins with http:// or https://, got ${shown(value)}`);
    return undefined;
  }
  if (url.username !== '' || url.password !== '') problems.push(`${at}: must not contain a user or password`);
  if (url.hash !== '') problems.push(`${at}: must not have a fragment (#…)`);
  return problems.length === before ? { type: 'url', url } : undefined;
}

function readUriParts(value: string, at: string, problems: string[]): UriParts | undefined {
  const groups = URI.exec(value)?.groups;
  if (groups === undefined) {
    problems.push(
      `${at}: expected the scheme, port and path for the host of ref, such as http://:8080/v1 or /v1, got ${shown(value)}`,
    );
    return undefined;
  }
  const { scheme, host = '', port, path } = groups;
  if (host !== '') {
    problems.push(
      `${at}: must not have a host together with ref, which sets the host: omit it, as in http://:8080/v1`,
    );
    return undefined;
  }
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) {
    problems.push(`${at}: the port ${number} is not between 1 and 65535`);
    return undefined;
  }
  const lower = scheme?.toLowerCase();
  return {
    scheme: lower === 'http' || lower === 'https' ? lower : undefined,
    port: number,
    path: path?.startsWith('?') === true ? `/${path}` : path,
  };
}

function readReference(value: unknown, at: string, problems: string[]): WebhookReference | undefined {
  if (!isObject(value)) {
    problems.push(`${at}: expected a map with the keys ${REF_KEYS.join(', ')}`);
    return undefined;
  }
  const before = problems.length;
  refuseUnknown(value, REF_KEYS, at, problems);
  const stringAt = (key: string): string => {
    const found = value[key];
    if (typeof found === 'string' && found !== '') return found;
    problems.push(`${at}.${key}: expected a string, got ${shown(found)}`);
    return '';
  };
  const [apiVersion, kind, name] = [stringAt('apiVersion'), stringAt('kind'), stringAt('name')];
  const namespace = value['namespace'] === undefined ? undefined : stringAt('namespace');
  return problems.length === before ? { apiVersion, kind, name, namespace } : undefined;
}

function readTimeout(value: unknown, problems: string[]): number {
  if (value === undefined || value === null) return DEFAULT_WEBHOOK_TIMEOUT_MS;
  const timeoutMs = typeof value === 'string' ? parseIsoDuration(value) : undefined;
  if (timeoutMs === undefined)
    problems.push(
      `hook.timeout: expected an ISO 8601 duration such as PT5S or PT1M30S, with fractions of seconds only, got ${shown(value)}`,
    );
  else if (timeoutMs <= 0 || timeoutMs > MAX_TIMEOUT_MS)
    problems.push(`hook.timeout: expected more than PT0S and at most PT5M, got ${shown(value)}`);
  return timeoutMs ?? DEFAULT_WEBHOOK_TIMEOUT_MS;
}

function readCapabilities(value: unknown, problems: string[]): readonly WebhookCapability[] {
  const at = 'hook.capabilities';
  if (!Array.isArray(value) || value.length === 0) {
    problems.push(`${at}: expected a list with ${WEBHOOK_CAPABILITIES.join(' or ')}, or both`);
    return [];
  }
  const read = value.flatMap((item: unknown, index) => {
    const known = WEBHOOK_CAPABILITIES.find((capability) => capability === item);
    if (known !== undefined) return [known];
    const meant = typeof item === 'string' ? didYouMean(item, WEBHOOK_CAPABILITIES) : '';
    problems.push(
      `${at}[${index}]: expected ${WEBHOOK_CAPABILITIES.join(' or ')}, got ${shown(item)}${meant}`,
    );
    return [];
  });
  return [...new Set(read)];
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

const DURATION =
  /^P(?:(?<weeks>\d+)W)?(?:(?<days>\d+)D)?(?:T(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+(?:[.,]\d+)?)S)?)?$/u;

const UNITS_MS = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1_000 };

/**
 * Parses an ISO 8601 duration such as `PT5S`, `PT1M30S` or `PT0.5S`.
 *
 * @returns milliseconds; `undefined` for any other text, also for years and months, which have no fixed length
 */
export function parseIsoDuration(text: string): number | undefined {
  const groups = DURATION.exec(text)?.groups;
  if (groups === undefined || text.endsWith('T')) return undefined;
  const parts = Object.entries(UNITS_MS).flatMap(([unit, unitMs]) => {
    const amount = groups[unit];
    return amount === undefined ? [] : [Number(amount.replace(',', '.')) * unitMs];
  });
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}

/**
 * Parses `.http.yaml` files: the address, timeout and credentials of the server, and the rest as the configuration of a
 * hook, which `hook-config/` validates.
 */

import { dirname, resolve } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import type { ValidateFunction } from 'ajv';
import { durationMs } from '../../hook-config/binding-checks.ts';
import type { HookScope } from '../../hook-config/binding-kinds.ts';
import { type ConfigSchema, object, text } from '../../hook-config/config-schema-parts.ts';
import {
  configVersionOf,
  invalidConfig,
  parseConfigDocument,
} from '../../hook-config/hook-config-document.ts';
import { hookConfigSchema } from '../../hook-config/hook-config-schema.ts';
import { hookConfigAjv, schemaProblem } from '../../hook-config/hook-config-schemas.ts';
import type { SecretReference } from '../../values/secrets/secret-reference.ts';

/** Where a text comes from. */
export type TextSource =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'secret'; readonly reference: SecretReference };

/** Where an HTTP hook is, and how it is spoken to. */
export interface HttpEndpoint {
  readonly url: URL;
  /** Limit of one run in milliseconds; undefined where the file names none. */
  readonly timeoutMs: number | undefined;
  /** Authorities in PEM; undefined for those that Node trusts. */
  readonly ca: TextSource | undefined;
  readonly clientCertificate:
    | { readonly certificate: SecretReference; readonly key: SecretReference }
    | undefined;
  readonly bearerToken: SecretReference | undefined;
}

interface ParsedHttpHook {
  readonly endpoint: HttpEndpoint;
  /** The rest of the file: the configuration of a hook, version v1, as JSON. */
  readonly config: string;
}

/** The schema guarantees this shape. */
interface RawEndpoint {
  readonly address: string;
  readonly timeout?: string;
  readonly tls?: {
    readonly ca?: { readonly file?: string; readonly secretKeyRef?: RawReference };
    readonly clientCertificate?: { readonly secretRef: Omit<RawReference, 'key'> };
  };
  readonly auth?: { readonly bearerToken: { readonly secretKeyRef: RawReference } };
}

/** A `secretKeyRef` as it is written. */
interface RawReference {
  readonly name: string;
  readonly key: string;
  readonly namespace?: string;
}

/** Understands `.http.yaml` files. One parser serves all hooks: the schema is compiled once, for the first of them. */
export class HttpHookParser {
  #compiled: ValidateFunction | undefined;
  readonly #namespace: string;

  /** @param namespace of Secrets for which the file names none */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /**
   * Takes apart what says where the hook is, and its configuration, which is not checked here.
   *
   * @param path of the file, where relative paths in it begin
   * @throws OperatorError HOOK_CONFIG_INVALID listing every problem with its path
   */
  parse(text: string, path: string): ParsedHttpHook {
    const document = { configVersion: 'v1', ...parseConfigDocument(text) };
    if (configVersionOf(document) !== 'v1') throw invalidConfig(["configVersion must be 'v1'"]);
    const isEndpoint = (key: string): boolean => Object.hasOwn(ENDPOINT_PROPERTIES, key);
    const entries = Object.entries(document);
    const raw: unknown = Object.fromEntries(entries.filter(([key]) => isEndpoint(key)));
    const config = Object.fromEntries(entries.filter(([key]) => !isEndpoint(key)));
    this.#compiled ??= hookConfigAjv().compile(ENDPOINT_SCHEMA);
    const validate = this.#compiled;
    if (!validate(raw)) throw invalidConfig((validate.errors ?? []).map(schemaProblem));
    // The schema has just been found to hold.
    const endpoint = raw as RawEndpoint;
    const problems = endpointProblems(endpoint, config['settings']);
    if (problems.length > 0) throw invalidConfig(problems);
    return { endpoint: this.#endpointOf(endpoint, path), config: JSON.stringify(config) };
  }

  #endpointOf({ address, timeout, tls, auth }: RawEndpoint, path: string): HttpEndpoint {
    const pair = tls?.clientCertificate?.secretRef;
    const token = auth?.bearerToken.secretKeyRef;
    return {
      url: new URL(address),
      timeoutMs: timeout === undefined ? undefined : durationMs(timeout),
      ca: this.#caOf(tls?.ca, path),
      clientCertificate:
        pair === undefined
          ? undefined
          : {
              certificate: this.#reference({ ...pair, key: 'tls.crt' }),
              key: this.#reference({ ...pair, key: 'tls.key' }),
            },
      bearerToken: token === undefined ? undefined : this.#reference(token),
    };
  }

  #caOf(ca: NonNullable<RawEndpoint['tls']>['ca'], path: string): TextSource | undefined {
    if (ca?.file !== undefined) return { type: 'file', path: resolve(dirname(path), ca.file) };
    if (ca?.secretKeyRef === undefined) return undefined;
    return { type: 'secret', reference: this.#reference(ca.secretKeyRef) };
  }

  #reference({ name, key, namespace = this.#namespace }: RawReference): SecretReference {
    return { namespace, name, key, isOptional: false };
  }
}

/** The Secrets that are needed to speak to a hook. */
export function secretsOf({ ca, clientCertificate, bearerToken }: HttpEndpoint): readonly SecretReference[] {
  return [
    ...(ca?.type === 'secret' ? [ca.reference] : []),
    ...(clientCertificate === undefined ? [] : [clientCertificate.certificate, clientCertificate.key]),
    ...(bearerToken === undefined ? [] : [bearerToken]),
  ];
}

/** The URL as messages show it: without its query, which may hold secrets. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Problems that the schema cannot detect. */
function endpointProblems({ address, timeout, tls }: RawEndpoint, settings: unknown): string[] {
  const url = URL.parse(address);
  return [
    ...addressProblems(url),
    ...timeoutProblems(timeout, settings),
    ...(tls !== undefined && url?.protocol === 'http:'
      ? ['tls requires an address that begins with https://']
      : []),
  ];
}

/** Credentials in a URL would appear in logs, so they are refused. */
function addressProblems(url: URL | null): string[] {
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return ['address must be a URL that begins with http:// or https://'];
  return [
    ...(url.username === '' && url.password === ''
      ? []
      : [
          'address must not contain a user or password: store a token in a Secret and refer to it in auth.bearerToken',
        ]),
    ...(url.hash === '' ? [] : ['address must not have a fragment (#…)']),
  ];
}

/** `timeout` and `settings.timeout` exclude each other. */
function timeoutProblems(timeout: string | undefined, settings: unknown): string[] {
  if (timeout === undefined) return [];
  const isTwice = typeof settings === 'object' && settings !== null && 'timeout' in settings;
  try {
    return [
      ...(durationMs(timeout) > 0 ? [] : ['timeout must be more than 0']),
      ...(isTwice ? ['timeout and settings.timeout are the same setting: set only one of them'] : []),
    ];
  } catch (error) {
    return [`timeout is invalid: ${messageOf(error)}`];
  }
}

const SECRET_KEY = object(
  'A string in a Secret.',
  {
    name: { ...text('Name of the Secret.'), minLength: 1 },
    key: { ...text('Key of its data.'), minLength: 1 },
    namespace: {
      ...text('Namespace of the Secret; default: the namespace of the operator.'),
      minLength: 1,
    },
  },
  ['name', 'key'],
);

const TLS_SECRET = object(
  'A Secret of the type kubernetes.io/tls.',
  {
    name: { ...text('Name of the Secret.'), minLength: 1 },
    namespace: {
      ...text('Namespace of the Secret; default: the namespace of the operator.'),
      minLength: 1,
    },
  },
  ['name'],
);

/** A mapping with exactly one of the properties. */
function oneOf(description: string, properties: Readonly<Record<string, ConfigSchema>>): ConfigSchema {
  return { ...object(description, properties), minProperties: 1, maxProperties: 1 };
}

/** Properties of an HTTP hook in addition to the configuration of every hook. */
const ENDPOINT_PROPERTIES: Readonly<Record<string, ConfigSchema>> = {
  address: text('URL the contexts are sent to by POST, http or https.'),
  timeout: text('Time limit of one run, such as 10s; in place of settings.timeout.'),
  tls: {
    ...object('How the server and the operator authenticate; for https.', {
      ca: oneOf(
        'The only certificate authorities, in PEM, that the certificate of the server is verified with.',
        {
          file: { ...text('Path of a file; relative to the hook.'), minLength: 1 },
          secretKeyRef: SECRET_KEY,
        },
      ),
      clientCertificate: object('Certificate and key of the operator.', { secretRef: TLS_SECRET }, [
        'secretRef',
      ]),
    }),
    minProperties: 1,
  },
  auth: object(
    'Credentials of the operator.',
    {
      bearerToken: object('Token of the Authorization header.', { secretKeyRef: SECRET_KEY }, [
        'secretKeyRef',
      ]),
    },
    ['bearerToken'],
  ),
};

/** JSON schema of the part of a `.http.yaml` file that other hooks do not have. */
const ENDPOINT_SCHEMA: ConfigSchema = object('Location of an HTTP hook.', ENDPOINT_PROPERTIES, ['address']);

/** JSON schema of a whole `.http.yaml` file of global or module hooks, for editors: draft 7. */
export function httpHookSchema(scope: HookScope): ConfigSchema {
  const config = hookConfigSchema(scope);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `A ${scope} HTTP hook, v1`,
    ...config,
    description: `A ${scope} hook that runs on a server: its address, and when the hook runs.`,
    properties: {
      ...ENDPOINT_PROPERTIES,
      ...(config['properties'] as Readonly<Record<string, ConfigSchema>>),
    },
    required: ['address'],
  };
}

import { dirname, resolve } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import { readFlowAtAnyColumn } from '@addon-operator/yaml/yaml-flow-columns';
import { CORE_SCHEMA, load, mergeTag, YAMLException } from 'js-yaml';
import type { Identity, KubeconfigSource, LocatedAccess, Material, PluginUser } from './cluster-access.ts';

/** One kubeconfig file with its content. */
export interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

interface KubeconfigChoice {
  /** Default: the `current-context` of the first file that has one. */
  readonly context?: string | undefined;
  /** Replaces the URL of the cluster. */
  readonly server?: string | undefined;
}

/** An entry of `clusters`, `users` or `contexts`, with the file that it is from. */
interface Entry {
  readonly file: KubeconfigFile;
  readonly name: string;
  readonly fields: FieldReader;
}

/** Merge keys (`<<`) are allowed, as in the YAML library of kubectl. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/**
 * The access that the chosen context of one or several kubeconfig files gives. If entries have the same name, the one of
 * the first file wins; relative paths are resolved against the folder of their file. Reads no file.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID naming the file and the field
 */
export function resolveKubeconfig(files: readonly KubeconfigFile[], choice: KubeconfigChoice): LocatedAccess {
  const documents = files.map((file) => ({ file, fields: readDocument(file) }));
  const source = files.map((file) => file.path).join(', ');
  const find = (list: string, item: string, name: string): Entry | undefined =>
    documents
      .flatMap((document) => entriesOf(document.file, document.fields, list, item))
      .find((entry) => entry.name === name);

  const contextName =
    choice.context ??
    documents.map(({ fields }) => fields.string('current-context')).find((name) => name !== undefined);
  if (contextName === undefined)
    throw invalid(source, 'current-context is missing; set one with --kube-context');
  const context = find('contexts', 'context', contextName);
  if (context === undefined) throw invalid(source, `contexts has no entry named "${contextName}"`);

  const clusterName = context.fields.string('cluster');
  if (clusterName === undefined) throw context.fields.error('cluster', 'is missing');
  const cluster = find('clusters', 'cluster', clusterName);
  if (cluster === undefined)
    throw context.fields.error('cluster', `names the unknown cluster "${clusterName}"`);

  const userName = context.fields.string('user');
  const user = userName === undefined ? undefined : find('users', 'user', userName);
  if (userName !== undefined && user === undefined) {
    throw context.fields.error('user', `names the unknown user "${userName}"`);
  }

  const ca = material(cluster, 'certificate-authority');
  const serverName = cluster.fields.string('tls-server-name');
  const client = user === undefined ? undefined : clientCertificate(user);
  const server = serverUrl(cluster, choice.server);
  return {
    server,
    currentNamespace: context.fields.string('namespace') ?? 'default',
    source,
    tls: {
      isVerified: !cluster.fields.flag('insecure-skip-tls-verify'),
      ...(serverName === undefined ? {} : { serverName }),
      ...(ca === undefined ? {} : { ca }),
      ...(client === undefined ? {} : { client }),
    },
    identity: user === undefined ? { type: 'anonymous' } : identityOf(user),
    kubeconfig: sourceOf(files, { context, cluster, user }, choice.server === undefined ? undefined : server),
  };
}

interface ChosenEntries {
  readonly context: Entry;
  readonly cluster: Entry;
  readonly user: Entry | undefined;
}

/**
 * The file itself, or, if several are merged or the server is replaced, a document of the chosen entries with absolute
 * paths. Entries of other clusters, which may hold secrets, are left out.
 */
function sourceOf(
  files: readonly KubeconfigFile[],
  { context, cluster, user }: ChosenEntries,
  server: string | undefined,
): KubeconfigSource {
  const [only, ...further] = files;
  if (only !== undefined && further.length === 0 && server === undefined)
    return { type: 'file', path: resolve(only.path) };
  return kubeconfigDocument({
    context: { name: context.name, fields: context.fields.all },
    cluster: {
      name: cluster.name,
      fields: { ...withAbsolutePaths(cluster), ...(server === undefined ? {} : { server }) },
    },
    user: user === undefined ? undefined : { name: user.name, fields: withAbsolutePaths(user) },
  });
}

interface NamedFields {
  readonly name: string;
  readonly fields: object;
}

/** The content of a kubeconfig with one context. */
export function kubeconfigDocument(parts: {
  readonly context: NamedFields;
  readonly cluster: NamedFields;
  readonly user: NamedFields | undefined;
}): KubeconfigSource {
  const { context, cluster, user } = parts;
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context.name,
    contexts: [{ name: context.name, context: context.fields }],
    clusters: [{ name: cluster.name, cluster: cluster.fields }],
    users: user === undefined ? [] : [{ name: user.name, user: user.fields }],
  };
  return { type: 'document', document };
}

/** Fields with a path that is relative to the file. */
const PATH_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

function withAbsolutePaths(entry: Entry): object {
  const paths = PATH_FIELDS.flatMap((field) => {
    const path = entry.fields.string(field);
    return path === undefined ? [] : [[field, absolutePath(entry, path)] as const];
  });
  const exec = entry.fields.mapping('exec');
  return {
    ...entry.fields.all,
    ...Object.fromEntries(paths),
    ...(exec === undefined ? {} : { exec: located(entry, exec) }),
  };
}

/** Parses a file. The error has the line, never the content. */
function readDocument(file: KubeconfigFile): FieldReader {
  let document: unknown;
  try {
    document = readFlowAtAnyColumn(file.text, (text) => load(text, { schema: SCHEMA, maxAliases: 100 }));
  } catch (error) {
    // The message of the parser quotes the text around the fault, which may be a token.
    const fault = error instanceof YAMLException ? `${error.reason}${lineOf(error)}` : 'unreadable';
    throw invalid(file.path, `it is not YAML: ${fault}`);
  }
  return new FieldReader(document, '', (problem) => invalid(file.path, problem));
}

function lineOf(error: YAMLException): string {
  return error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`;
}

/** Named entries of a list, each with its fields. */
function entriesOf(
  file: KubeconfigFile,
  document: FieldReader,
  list: string,
  item: string,
): readonly Entry[] {
  const fail = (problem: string): Error => invalid(file.path, problem);
  return document.list(list).map((value, index) => {
    const entry = new FieldReader(value, `${list}[${index}]`, fail);
    const name = entry.string('name');
    if (name === undefined) throw entry.error('name', 'is missing');
    const fields = new FieldReader(entry.mapping(item) ?? {}, `${list}[${index}].${item}`, fail);
    return { file, name, fields };
  });
}

function serverUrl(cluster: Entry, override: string | undefined): string {
  if (override !== undefined) return checkServerUrl(override, '--kube-server');
  const server = cluster.fields.string('server');
  if (server === undefined) throw cluster.fields.error('server', 'is missing');
  return checkServerUrl(server, `${cluster.file.path}: ${cluster.fields.pathOf('server')}`);
}

/**
 * The URL of an API server without trailing slashes; a bare `host:port` becomes http, as kubectl has it.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID naming `place`
 */
export function checkServerUrl(server: string, place: string): string {
  const url = URL.parse(server.includes('://') ? server : `http://${server}`);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw invalid(place, 'it is not a plain http or https URL');
  }
  return url.href.replace(/\/+$/, '');
}

/** `<field>-data` (base64) wins over `<field>` (a path). */
function material(entry: Entry, field: string): Material | undefined {
  const data = entry.fields.string(`${field}-data`);
  if (data !== undefined) {
    if (!BASE64.test(data)) throw entry.fields.error(`${field}-data`, 'is not base64');
    return { type: 'text', text: Buffer.from(data, 'base64').toString() };
  }
  const path = entry.fields.string(field);
  return path === undefined ? undefined : { type: 'file', path: absolutePath(entry, path) };
}

function absolutePath(entry: Entry, path: string): string {
  return resolve(dirname(entry.file.path), path);
}

function clientCertificate(user: Entry): { readonly cert: Material; readonly key: Material } | undefined {
  const cert = material(user, 'client-certificate');
  const key = material(user, 'client-key');
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined)
    throw user.fields.error('client-certificate', 'is missing, but there is a client-key');
  if (key === undefined)
    throw user.fields.error('client-key', 'is missing, but there is a client-certificate');
  return { cert, key };
}

/** The first kind that is given counts: token file, token, password, exec, auth provider. */
function identityOf(user: Entry): Identity {
  const { fields } = user;
  const tokenFile = fields.string('tokenFile');
  if (tokenFile !== undefined) {
    return { type: 'token', token: { type: 'file', path: absolutePath(user, tokenFile) } };
  }
  const token = fields.string('token');
  if (token !== undefined) return { type: 'token', token: { type: 'text', text: token } };
  const username = fields.string('username');
  if (username !== undefined) return { type: 'basic', username, password: fields.string('password') ?? '' };
  const exec = fields.mapping('exec');
  const authProvider = fields.mapping('auth-provider');
  if (exec !== undefined) return { type: 'plugin', user: { name: user.name, exec: located(user, exec) } };
  if (authProvider !== undefined) return { type: 'plugin', user: { name: user.name, authProvider } };
  return { type: 'anonymous' };
}

function located(user: Entry, exec: Readonly<Record<string, unknown>>): NonNullable<PluginUser['exec']> {
  const command = exec['command'];
  if (typeof command !== 'string' || command === '') throw user.fields.error('exec.command', 'is missing');
  // A bare name is looked up in PATH; anything with a slash is a path.
  return command.includes('/') ? { ...exec, command: absolutePath(user, command) } : exec;
}

function invalid(place: string, problem: string): OperatorError {
  return new OperatorError(
    'KUBE_CONFIG_INVALID',
    `Cannot use the Kubernetes configuration of ${place}: ${problem}`,
  );
}

/** Reads typed fields of untyped data; errors name the full path of the field. */
class FieldReader {
  readonly #value: Record<string, unknown>;
  readonly #path: string;
  readonly #fail: (problem: string) => Error;

  constructor(value: unknown, path: string, fail: (problem: string) => Error) {
    if (!isObject(value)) throw fail(path === '' ? 'it is not a mapping' : `${path} is not a mapping`);
    this.#value = value;
    this.#path = path;
    this.#fail = fail;
  }

  /** All fields as they are. */
  get all(): Readonly<Record<string, unknown>> {
    return this.#value;
  }

  /** The path of one field, for messages. */
  pathOf(field: string): string {
    return this.#path === '' ? field : `${this.#path}.${field}`;
  }

  /** The error that says `problem` about one field. */
  error(field: string, problem: string): Error {
    return this.#fail(`${this.pathOf(field)} ${problem}`);
  }

  /** Undefined where the field is absent, null or empty. */
  string(field: string): string | undefined {
    const value = this.#value[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw this.error(field, 'is not a string');
    return value;
  }

  /** False where the field is absent or null. */
  flag(field: string): boolean {
    const value = this.#value[field];
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean') throw this.error(field, 'is not true or false');
    return value;
  }

  /** Undefined where the field is absent or null. */
  mapping(field: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#value[field];
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.error(field, 'is not a mapping');
    return value;
  }

  /** Empty where the field is absent or null. */
  list(field: string): readonly unknown[] {
    const value = this.#value[field];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.error(field, 'is not a list');
    return value;
  }
}

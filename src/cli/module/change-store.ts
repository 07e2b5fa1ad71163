import { copyFile, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { isJsonMap } from '@addon-operator/json/merge';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';
import { readArchive, unpackArchive } from '../../artifacts/unpack-archive.ts';
import { contentDigest } from '../../authorization/content-manifest.ts';
import { MANIFEST_FILE, readContent, SIGNATURE_FILE } from '../../authorization/module-content.ts';
import type { NewContent, StoredContent } from '../../module-store/content-store.ts';
import { ModuleStore } from '../../module-store/module-store.ts';
import { parseDirectoryName, parseModuleName } from '../../modules/module-name.ts';
import { readSetting } from '../../settings/read-settings.ts';
import type { CliHost } from '../cli-host.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { printData } from '../output/print-data.ts';
import { tableText } from '../output/tables.ts';

export interface StoreOptions {
  /** As it was given; undefined: the setting. */
  readonly store?: string | undefined;
}

const DEFAULT_ORDER = '30';

/** Adds archives and directories, and links them. Returns the exit code. */
export async function addToStore(
  options: StoreOptions & { readonly paths: readonly string[]; readonly order?: string },
  host: CliHost,
): Promise<number> {
  const store = openStore(options, host);
  await store.recover();
  for (const given of options.paths) {
    const path = resolve(host.cwd, given);
    const { content, fill } = await readSource(path, host.stopSignal());
    await store.add(content, fill);
    const { module, version, digest } = content;
    const linked = [...(await store.links()).keys()].find((entry) => nameOf(entry) === module);
    const number = options.order === undefined ? undefined : options.order.padStart(3, '0');
    const entry =
      number === undefined
        ? (linked ?? `${DEFAULT_ORDER.padStart(3, '0')}-${module}`)
        : `${number}-${module}`;
    await store.link(entry, digest);
    host.stdout.write(`${entry}: ${module} ${version} ${digest}\n`);
  }
  return 0;
}

interface Source {
  readonly content: NewContent;
  readonly fill: (directory: string) => Promise<void>;
}

/** @throws OperatorError ARTIFACT_INVALID */
async function readSource(path: string, signal: AbortSignal): Promise<Source> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw new OperatorError('ARTIFACT_INVALID', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  });
  if (stats.isDirectory()) return await readDirectory(path, signal);
  const content = await readArchive(path, signal);
  return {
    content,
    fill: async (directory) => {
      const { digest } = await unpackArchive(path, directory, signal);
      refuseChanged(path, digest, content);
    },
  };
}

async function readDirectory(path: string, signal: AbortSignal): Promise<Source> {
  const [chart, manifest] = [await documentAt(path, 'Chart.yaml'), await documentAt(path, 'module.yaml')];
  const named = manifest['name'] ?? chart['name'];
  const module = typeof named === 'string' ? parseModuleName(named) : parseDirectoryName(basename(path)).name;
  const versions = [manifest['version'], chart['version']];
  const version = versions.find((each) => typeof each === 'string');
  if (typeof version !== 'string')
    throw new OperatorError(
      'ARTIFACT_INVALID',
      `${path} has no version: set it in module.yaml or Chart.yaml`,
    );
  const content = { module, version, digest: await digestOf(module, path, {}, signal) };
  return {
    content,
    fill: async (directory) => {
      refuseChanged(path, await digestOf(module, path, { copyTo: directory }, signal), content);
      // They are no part of what is signed.
      for (const name of [MANIFEST_FILE, SIGNATURE_FILE]) await copyIfPresent(path, directory, name);
    },
  };
}

async function digestOf(
  name: string,
  path: string,
  options: Parameters<typeof readContent>[1],
  signal: AbortSignal,
): Promise<string> {
  try {
    return contentDigest({ name, files: await readContent(path, options, signal) });
  } catch (cause) {
    signal.throwIfAborted();
    throw new OperatorError('ARTIFACT_INVALID', `cannot add ${path}: ${messageOf(cause)}`, { cause });
  }
}

function refuseChanged(path: string, digest: string, content: NewContent): void {
  if (digest !== content.digest)
    throw new OperatorError('ARTIFACT_INVALID', `${path} was changed while it was read`);
}

async function copyIfPresent(from: string, to: string, name: string): Promise<void> {
  try {
    await copyFile(join(from, name), join(to, name));
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
}

async function documentAt(path: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const source = join(path, name);
  try {
    const { value } = parseYaml(await readFile(source, 'utf8'), { source, booleans: 'yaml-1.2' });
    return isJsonMap(value) ? value : {};
  } catch (cause) {
    if (isMissingFile(cause)) return {};
    throw new OperatorError('ARTIFACT_INVALID', `cannot read ${source}: ${messageOf(cause)}`, { cause });
  }
}

/** Lists the versions. Returns the exit code. */
export async function listStore(options: StoreOptions, output: OutputFormat, host: CliHost): Promise<number> {
  const store = openStore(options, host);
  const linked = new Map([...(await store.links())].map(([entry, digest]) => [digest, entry]));
  const contents = await Promise.all(
    (await store.list()).map(async (content) => ({
      ...content,
      addedAt: new Date(content.addedAtMs).toISOString(),
      link: linked.get(content.digest) ?? null,
      isWhole: await store.has(content.digest),
    })),
  );
  if (output === 'json') printData(host, `${JSON.stringify(contents)}\n`);
  else if (output === 'yaml') printData(host, dumpYaml(contents, 2));
  else printData(host, tableText(tableOf(contents), output === 'text' ? 'table' : output));
  return 0;
}

type Listed = StoredContent & {
  readonly addedAt: string;
  readonly link: string | null;
  readonly isWhole: boolean;
};

function tableOf(contents: readonly Listed[]): Parameters<typeof tableText>[0] {
  return {
    columns: ['MODULE', 'VERSION', 'LINK', 'STATE', 'ADDED', 'SIZE', 'DIGEST'],
    narrow: 5,
    rows: contents.map(({ module, version, link, isWhole, addedAt, sizeBytes, digest }) => [
      module,
      version,
      link ?? '',
      isWhole ? 'whole' : 'damaged',
      addedAt,
      String(sizeBytes),
      digest,
    ]),
    names: contents.map(({ module, version }) => `${module}@${version}`),
  };
}

/** Removes the link of a module. Returns the exit code. */
export async function removeFromStore(
  options: StoreOptions & { readonly name: string },
  host: CliHost,
): Promise<number> {
  const store = openStore(options, host);
  const isIt = (name: string): boolean => name === options.name;
  const linked = [...(await store.links()).keys()].find((each) => isIt(nameOf(each)));
  // A module whose link was lost is in the store as long as a version of it is.
  const entry = linked ?? (await store.list()).find(({ module }) => isIt(module))?.module;
  if (entry === undefined)
    throw new OperatorError('STORE_FAILED', `there is no module ${options.name} in the store`);
  await store.unlink(entry);
  host.stdout.write(`${entry} is removed\n`);
  return 0;
}

/** Removes old versions. Returns the exit code. */
export async function collectStore(
  options: StoreOptions & { readonly keep: string; readonly olderThan: string },
  host: CliHost,
): Promise<number> {
  const olderThanMs = parseGoDuration(options.olderThan);
  if (olderThanMs === undefined || olderThanMs < 0)
    throw new OperatorError('CONFIG_INVALID', `--older-than ${options.olderThan} is no duration such as 24h`);
  const store = openStore(options, host);
  await store.recover();
  const linked = new Set((await store.links()).values());
  const unlinked = Map.groupBy(
    (await store.list()).filter(({ digest }) => !linked.has(digest)),
    ({ module }) => module,
  );
  const newest = [...unlinked.values()].flatMap((contents) =>
    contents.slice(Math.max(0, contents.length - Number(options.keep))),
  );
  const removed = await store.collect(new Set(newest.map(({ digest }) => digest)), olderThanMs);
  for (const { module, version, digest } of removed)
    host.stdout.write(`${module} ${version} ${digest} is removed\n`);
  return 0;
}

/** @throws OperatorError CONFIG_INVALID when no store is named */
function openStore({ store }: StoreOptions, host: CliHost): ModuleStore {
  const directory = store ?? readSetting('moduleStore', { env: host.env, flags: {} });
  if (directory === '')
    throw new OperatorError(
      'CONFIG_INVALID',
      'name the module store with --store or ADDON_OPERATOR_MODULE_STORE',
    );
  return new ModuleStore({ directory: resolve(host.cwd, directory), clock: host.clock });
}

function nameOf(entry: string): string {
  return entry.replace(/^\d+-/u, '');
}

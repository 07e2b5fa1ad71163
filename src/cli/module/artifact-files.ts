import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { sshPublicKey } from '@addon-operator/crypto/ssh-keys';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { type PackedModule, packModule } from '../../artifacts/pack-module.ts';
import { pushPacked } from '../../artifacts/push-module.ts';
import { readArtifact } from '../../artifacts/read-artifact.ts';
import { unpackArtifact } from '../../artifacts/unpack-artifact.ts';
import { verifyArtifact, verifyContent } from '../../artifacts/verify-artifact.ts';
import { keyringPolicy } from '../../authorization/keyring.ts';
import { readCandidate } from '../../authorization/read-candidate.ts';
import { parseDirectoryName } from '../../modules/module-name.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { parseRepository, parseVersionReference } from './artifact-reference.ts';
import { readSigningKey, signCommand } from './module-sign.ts';
import { openRegistry } from './open-registry.ts';

export interface PackFlags {
  readonly version?: string;
  readonly file?: string;
}

/** Writes a module into an archive. Returns the exit code. */
export async function packCommand(
  directory: string,
  { version, file }: PackFlags,
  host: CliHost,
): Promise<number> {
  const packed = await packAt(resolve(host.cwd, directory), version, host);
  const path = resolve(host.cwd, file ?? `${packed.name}-${packed.version}.tgz`);
  await writeFile(path, await buffer(packed.layer.open()));
  host.stdout.write(harmless(`${path}\n`));
  return 0;
}

export interface PushFlags {
  readonly version?: string;
  readonly channel?: readonly string[];
  /** Path of a private key. */
  readonly sign?: string;
}

/** Pushes a module. Returns the exit code. */
export async function pushCommand(
  directory: string,
  repository: string,
  { version, channel = [], sign }: PushFlags,
  host: CliHost,
  open = openRegistry,
): Promise<number> {
  const url = parseRepository(repository);
  const path = resolve(host.cwd, directory);
  if (sign !== undefined) await signOnce(path, sign, host);
  const packed = await packAt(path, version, host);
  const { digest, sent } = await pushPacked(packed, await open(url, host), channel, host.stopSignal());
  const names = [packed.version, ...channel].join(', ');
  host.stdout.write(harmless(`${url}@${digest}: ${sent ? 'pushed' : 'already there'} as ${names}\n`));
  return 0;
}

async function packAt(directory: string, version: string | undefined, host: CliHost): Promise<PackedModule> {
  const epoch = host.env['SOURCE_DATE_EPOCH'];
  if (epoch !== undefined && !/^\d{1,11}$/u.test(epoch))
    throw new OperatorError(
      'CONFIG_INVALID',
      `SOURCE_DATE_EPOCH is ${JSON.stringify(epoch)}, expected seconds since 1970`,
    );
  const sourceDateEpoch = epoch === undefined ? undefined : Number(epoch);
  return await packModule(directory, { version, sourceDateEpoch }, host.stopSignal());
}

/** Each signature has another serial number: a module that the key signed already keeps its digest. */
async function signOnce(directory: string, keyPath: string, host: CliHost): Promise<void> {
  const { type, blob } = sshPublicKey(await readSigningKey(resolve(host.cwd, keyPath)));
  const policy = keyringPolicy({
    keyring: { title: keyPath, content: `${type} ${blob.toString('base64')}` },
    clock: host.clock,
    serials: undefined,
  });
  const { name } = parseDirectoryName(basename(directory));
  try {
    await policy.check(await readCandidate(name, directory, {}, host.stopSignal()), host.stopSignal());
  } catch (error) {
    if (!hasCode(error, 'MODULE_UNAUTHORIZED')) throw error;
    await signCommand({ flags: {}, modules: [directory], key: keyPath, serial: undefined }, host);
  }
}

export interface PullFlags {
  readonly output: string;
  /** Paths of public keys. */
  readonly keyring?: string;
  readonly cosignKey?: readonly string[];
  readonly name?: string;
}

/** Verifies a version and unpacks it. Returns the exit code; nothing is left behind by one that is refused. */
export async function pullCommand(
  text: string,
  flags: PullFlags,
  host: CliHost,
  open = openRegistry,
): Promise<number> {
  const { url, reference } = parseVersionReference(text);
  const target = resolve(host.cwd, flags.output);
  await refuseFilled(target);
  const read = async (path: string): Promise<string> => await readKey(resolve(host.cwd, path));
  const keyring = flags.keyring === undefined ? undefined : await read(flags.keyring);
  const cosignKeys = flags.cosignKey && (await Promise.all(flags.cosignKey.map(read)));
  const signal = host.stopSignal();
  const repository = await open(url, host);
  const descriptor = await repository.resolve(reference, signal);
  if (descriptor === undefined) throw new OperatorError('REGISTRY_NOT_FOUND', `${url} has no ${reference}`);
  const artifact = await readArtifact(repository, descriptor, signal, { tag: reference });
  await verifyArtifact(repository, artifact, { cosignKeys }, signal);
  const module = flags.name ?? artifact.facts.name ?? basename(url);
  await mkdir(dirname(target), { recursive: true });
  const staging = await mkdtemp(`${target}.pull-`);
  try {
    const directory = join(staging, 'content');
    await mkdir(directory);
    await unpackArtifact(repository, artifact, directory, signal);
    await verifyContent(directory, { module, keyring, clock: host.clock }, signal);
    await rmdir(target).catch(ignoreMissing);
    await rename(directory, target);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  const how =
    keyring === undefined && cosignKeys === undefined ? 'not verified: no key was given' : 'verified';
  host.stdout.write(
    harmless(`${module} ${artifact.facts.version} ${artifact.digest} is in ${target} (${how})\n`),
  );
  return 0;
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new OperatorError('REQUEST_INVALID', `cannot read the key ${path}: ${messageOf(cause)}`, { cause });
  }
}

async function refuseFilled(directory: string): Promise<void> {
  const names = await readdir(directory).catch(ignoreMissing);
  if (names !== undefined && names.length > 0)
    throw new OperatorError(
      'REQUEST_INVALID',
      `${directory} is not empty: name a directory that does not exist yet`,
    );
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissingFile(error)) throw error;
}

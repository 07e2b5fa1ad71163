import { accessSync, constants } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@addon-operator/base/errors';
import { expect, type TestContext } from 'vitest';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../../src/tools/pinned-tools/pinned-tools.ts';
import type { LogRecord } from '../../support/captured-log.ts';
import type { Backend, World, WorldOptions } from '../../support/world.ts';
import { exampleWorld, read, remove, SOON } from '../example-world.ts';

const ROOT = join(fileURLToPath(import.meta.url), '../../../../examples/catalogue');

/** Path of a file or directory of an example. */
export function cataloguePath(name: string, ...parts: readonly string[]): string {
  return join(ROOT, name, ...parts);
}

/** A world whose global hooks are the `hooks` directory of an example. */
export function hookSetWorld(backend: Backend, name: string, options: WorldOptions = {}): Promise<World> {
  const directories = { globalHooks: cataloguePath(name, 'hooks'), ...options.directories };
  return exampleWorld(backend, `catalogue/${name}`, { ...options, directories });
}

/** Skips the test, with the reason, when one of these programs is not in PATH. */
export function requireTools(context: TestContext, ...tools: readonly string[]): void {
  const missing = tools.filter((tool) => !isInPath(tool));
  if (missing.length > 0) context.skip(`not in PATH: ${missing.join(', ')}`);
}

/** Environment of hooks that call kubectl; without a kubectl the test is skipped, with the reason. */
export async function kubectlEnv(context: TestContext, backend: Backend): Promise<Record<string, string>> {
  const options = { cacheDir: cacheDirectory(process.env, homedir()) };
  const kubectl = await pinnedKubectl(options, context.signal).catch((error: unknown) =>
    context.skip(messageOf(error)),
  );
  return {
    KUBECONFIG: backend.kubeconfigPath,
    PATH: `${dirname(kubectl)}${delimiter}${process.env['PATH'] ?? ''}`,
  };
}

function isInPath(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A copy of a directory of an example; it is gone when the test ends. */
export class DirectoryCopy implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async of(source: string): Promise<DirectoryCopy> {
    const parent = await mkdtemp(join(tmpdir(), 'catalogue-'));
    const path = join(parent, 'copy');
    await mkdir(path);
    await cp(source, path, { recursive: true });
    return new DirectoryCopy(path);
  }

  /** Replaces a text, which must be there, in one file. */
  async replace(file: string, from: string, to: string): Promise<void> {
    const path = join(this.path, file);
    const text = await readFile(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${path} has no ${JSON.stringify(from)}`);
    await writeFile(path, text.replaceAll(from, to));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(dirname(this.path), { recursive: true, force: true });
  }
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Creates a CRD, runs `body` when its kind is served, and removes it. */
export async function withDefinition(
  world: World,
  definition: { readonly metadata: { readonly name: string } },
  body: () => Promise<void>,
): Promise<void> {
  const path = `${DEFINITIONS}/${definition.metadata.name}`;
  await world.expect({ method: 'POST', path: DEFINITIONS, body: definition });
  try {
    const established = { type: 'Established', status: 'True' };
    const conditions = expect.arrayContaining([expect.objectContaining(established)]);
    await expect.poll(() => read(world, path), SOON).toMatchObject({ status: { conditions } });
    await body();
  } finally {
    await world.stop();
    await remove(world, path);
    await expect.poll(() => read(world, path), SOON).toBeUndefined();
  }
}

/** Creates a namespace, runs `body` and deletes it. */
export async function withNamespace(
  world: World,
  name: string,
  body: (path: string) => Promise<void>,
): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await world.expect({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  try {
    await body(path);
  } finally {
    await remove(world, path);
  }
}

/** Waits for so many failures of the main queue with this text, each after the delay of the one before; returns the delays. */
export async function failures(world: World, count: number, text: string): Promise<number[]> {
  const delays: number[] = [];
  for (let failure = 1; failure <= count; failure += 1) {
    await world.log.until((records) => records.filter(isFailureWith(text)).length >= failure);
    const delayMs = await world.untilDelayed();
    delays.push(delayMs);
    world.clock.jump(delayMs);
  }
  return delays;
}

function isFailureWith(text: string): (record: LogRecord) => boolean {
  return (record) => record['level'] === 'error' && JSON.stringify(record).includes(text);
}

/** Merges a patch into any object. */
export async function mergeAt(world: World, path: string, body: object): Promise<void> {
  await world.expect({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
}

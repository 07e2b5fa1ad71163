import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import type { BuiltImage } from '../../release/build-image.ts';
import { run, runEngine } from '../../release/engine.ts';
import { LOCAL_BASES } from '../../release/local-bases.ts';
import { furtherNode } from '../support/api-independent.ts';
import { ImageContainer } from '../support/image/image-container.ts';
import { describeImage } from '../support/image/image-suite.ts';
import { builtOperatorImage, findOperatorImage } from '../support/node/operator-image.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/dockerfiles');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const signal = new AbortController().signal;
const START = ['sandbox', '--state-dir', '/tmp/state', '--exit-after-converge', '--log-type', 'text'];

describeImage('the Dockerfiles of the examples', () => {
  let operator: Pick<BuiltImage, 'engine' | 'name'>;

  beforeAll(async () => {
    if (inject('nodeState').type !== 'available')
      await findOperatorImage({ env: {}, onProgress: console.log }, signal);
    operator = await builtOperatorImage(signal);
  });

  test.each([
    ['modules', 'hook hook.sh ran (onStartup, N ms): hello', 'module hello is ready'],
    ['shell-operator', 'hook hook.sh ran (onStartup, N ms): started by onStartup', 'Converged'],
    ['permissions', 'hook hook.sh ran (onStartup, N ms): hook.sh', 'Converged'],
    ['packages', 'hook hook.sh ran (onStartup, N ms): envsubst says: hello', 'Converged'],
  ])('%s: the hook runs as the user of the image', async (name, ...lines) => {
    await using container = await built(name);
    expect(await container.run('id', '-u')).toBe('65532');
    const { Cmd, Entrypoint } = await container.config();
    expect(Cmd).toEqual(['start']);
    const output = comparable(await container.run(...Entrypoint, ...START));
    for (const line of lines) expect(output).toContain(line);
  });

  test('read-only: the hook runs where nothing but /tmp can be written', async () => {
    await using container = await built('read-only');
    const output = comparable(await container.runReadOnly('/addon-operator', ...START));
    expect(output).toContain('hook hook.sh ran (onStartup, N ms): hello | the root file system is read-only');
  });

  test.each([
    ['pip', 'hook hook.py ran (onStartup, N ms): python  hello'],
    ['two-stages', 'hook hook.sh ran (onStartup, N ms): hello from C'],
  ])('%s: the hook finds what the build has added', furtherNode, async (name, line) => {
    await using container = await built(name);
    expect(comparable(await container.run('/addon-operator', ...START))).toContain(line);
  });

  test('offline: the image is built without a network', furtherNode, async () => {
    await using container = await built('offline', async (directory) => {
      await using debian = await ImageContainer.create({ ...operator, name: LOCAL_BASES.DEBIAN_IMAGE });
      await debian.runByEngine('sh', '-c', 'cd /tmp && apt-get update && apt-get download gettext-base');
      await cp(debian.path('tmp'), join(directory, 'packages'), { recursive: true });
    });
    expect(comparable(await container.run('/addon-operator', ...START))).toContain('envsubst says: hello');
  });

  /** Builds an example on the image of this checkout; what `prepare` adds to the directory is there, but then no network. */
  async function built(
    name: string,
    prepare?: (directory: string) => Promise<void>,
  ): Promise<ImageContainer> {
    const directory = await mkdtemp(join(tmpdir(), 'dockerfile-'));
    const tag = `localhost/dockerfile-${name}:${process.pid}`;
    try {
      const context = join(directory, 'context');
      await cp(join(EXAMPLES, name), context, { recursive: true });
      await prepare?.(context);
      const pip = join(directory, 'pip.conf');
      await writeFile(pip, '[global]\ncert = /etc/certificates-of-machine.crt\n');
      const args = [
        'build',
        '--pull-never',
        `--build-arg=OPERATOR=${operator.name}`,
        // How this machine reaches the registry of Python.
        `--volume=${pip}:/etc/pip.conf:ro`,
        `--volume=${CERTIFICATES}:/etc/certificates-of-machine.crt:ro`,
        `--tag=${tag}`,
        context,
      ];
      if (prepare === undefined) await runEngine(operator.engine, args, undefined, signal);
      else
        await run('unshare', ['--net', operator.engine.name, ...args], { env: operator.engine.env }, signal);
      return await ImageContainer.create({ ...operator, name: tag }, true);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
});

function comparable(output: string): string {
  return output.replaceAll(/\d+ ms\b/g, 'N ms');
}

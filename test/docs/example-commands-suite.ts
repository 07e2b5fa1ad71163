import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm, pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { projectRoot } from '../checks/checkout.ts';
import { hasGo } from '../support/control-plane/go-programs.ts';
import { commandBlocksOf } from './command-blocks.ts';
import { Terminal, type TerminalPrograms } from './terminal.ts';

/** What the page of an example says one sees. */
interface Shown {
  /** In the log of the operator. */
  readonly logs?: readonly string[];
  /** Printed by the last line of a block, by its place among those that come to an end. */
  readonly prints?: Readonly<Record<number, string>>;
  /** What the sandbox writes when the next block is to be run; default: that it has converged. */
  readonly ready?: string;
}

const SHOWN: Readonly<Record<string, Shown>> = {
  'batch-hook': { prints: { 1: 'total: "1"' } },
  'config-values-from-a-hook': { logs: ['the cluster gets the id'] },
  'continuous-reconcile': {
    logs: ['logging: Succeeded'],
    prints: { 0: '2', 1: 'module logging is run' },
  },
  'deploy-notifier': {
    prints: { 0: 'shop 1.0.0: revision 2 is deployed', 1: 'shop: revision 2 is removed' },
  },
  'enabled-script': { logs: ['there is no database to back up'] },
  'error-classifier': {
    ready: 'team-settings failed',
    prints: { 0: 'settings   1', 1: 'deployer   0' },
  },
  'hook-metrics': { prints: { 0: 'example_config_maps{hook="count.mjs",namespace="default"} 1' } },
  'http-hook': { prints: { 0: 'stored: \'{"bytes":9,"count":1}\'' } },
  'in-process-hook': { prints: { 0: 'counts: \'{"default":1}\'' } },
  'kubernetes-event-hook': {
    logs: [
      'Added default/colors {"sky":"blue"}',
      'Modified default/colors {"sky":"grey"}',
      'Deleted default/colors {"sky":"grey"}',
    ],
  },
  'reconcile-webhook': {
    prints: { 0: 'shop.example.com', 1: 'host: shop.example.com', 2: '{"names":[]}' },
  },
  'module-with-values-from-a-hook': {
    logs: ['0 backends', '1 backends'],
    prints: { 0: '/shop -> shop.default:8080' },
  },
  'named-queues': { logs: ['check done', 'report ends'] },
  'schedule-hook': { logs: ['ten seconds have passed'] },
  'secret-reference': { ready: 'Secret', prints: { 0: 'swordfish' } },
  'signed-module': {
    logs: ['shop is refused: the content differs from what was signed: values.yaml was changed'],
    prints: { 0: 'shop: signed 6 files', 1: 'unauthorized', 2: '10', 3: '7' },
  },
  'startup-hook': { logs: ['namespace example-startup is wanted'] },
  'values-schema': { logs: ['web.hots in body', 'web.replicas in body'] },
};
/** Examples of extension points; they take as long as all others together. */
const EXTENSIONS = ['continuous-reconcile', 'deploy-notifier', 'error-classifier', 'signed-module'];
/** They are built first. */
const WITH_GO = ['batch-hook'];
const CONVERGED = 'What happens from now on';
const SOON = { timeout: 90_000, interval: 250 } as const;
/** A command that goes on until it is stopped. */
const GOES_ON = /^(?:bin\/addon-operator sandbox|npx node .*server)/;

/** The catalogue and the Dockerfiles have tests of their own, and a terminal program shows the rest. */
const OTHERS = ['catalogue', 'dockerfiles', 'k9s'];

const examples = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .map(({ name }) => name);

/** Each file runs the pages of one kind of examples. */
export function describeExampleCommands(kind: 'extensions' | 'hooks and modules'): void {
  const names = examples.filter((name) => EXTENSIONS.includes(name) === (kind === 'extensions'));
  describe(`commands on the pages of examples of ${kind}`, () => {
    let programs: TerminalPrograms = { helm: '', kubectl: '' };
    beforeAll(async () => {
      const options = { cacheDir: cacheDirectory(process.env, homedir()) };
      const { signal } = new AbortController();
      programs = {
        helm: await pinnedHelm(3, options, signal),
        kubectl: await pinnedKubectl(options, signal),
      };
    });

    test.for(names)('%s', { timeout: 300_000 }, async (example, { skip, signal }) => {
      if (WITH_GO.includes(example) && !(await hasGo(signal))) skip('there is no go');
      const { logs = [], prints = {}, ready = CONVERGED } = SHOWN[example] ?? {};
      const blocks = commandBlocksOf(`examples/${example}/README.md`).filter(
        ({ mark }) => mark.type === 'none',
      );
      expect(blocks.some(({ text }) => text.startsWith('bin/addon-operator sandbox'))).toBe(true);
      const terminal = await Terminal.open(programs);
      await terminal.run('export KUBECONFIG=$PWD/.sandbox/kubeconfig');
      let ended = 0;
      for (const { text } of blocks) {
        if (GOES_ON.test(text)) await start(terminal, text, ready);
        else await runBlock(terminal, text, prints[ended++] ?? '');
      }
      const log = (): string => readFileSync(join(terminal.directory, '.sandbox/daemon.log'), 'utf8');
      await vi.waitFor(() => {
        for (const line of logs) expect(log()).toContain(line);
      }, SOON);
    });
  });
}

async function start(terminal: Terminal, text: string, ready: string): Promise<void> {
  const isSandbox = text.startsWith('bin/addon-operator sandbox');
  const command = await terminal.startCommands(`exec ${text}`, isSandbox ? ready : '');
  const [, address] = /metrics +http:\/\/(\S+)\/metrics/.exec(command.output) ?? [];
  // Port 9650 may be taken on this machine.
  if (address !== undefined) terminal.replaced.set('127.0.0.1:9650', address);
}

/** What the last line shows was brought about by the lines before it, which may take a moment. */
async function runBlock(terminal: Terminal, text: string, prints: string): Promise<void> {
  const lines = text.trimEnd().split('\n');
  const last = lines.pop() ?? '';
  const replaced = (line: string): string =>
    [...terminal.replaced].reduce((result, [from, to]) => result.replaceAll(from, to), line);
  await terminal.run(lines.join('\n'));
  await vi.waitFor(async () => expect(await terminal.run(replaced(last))).toContain(prints), SOON);
}

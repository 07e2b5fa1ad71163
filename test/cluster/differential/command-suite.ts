import { readFile } from 'node:fs/promises';
import { isObject, parseJson } from '@addon-operator/json';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listAt, stringAt } from '../../../packages/kube-sandbox/src/json-access.ts';
import {
  type CommandResult,
  openSandboxLab,
  type SandboxLab,
  ToolBench,
} from '../../contract/sandbox/sandbox-lab.ts';
import { writeWebChart } from '../../contract/sandbox/web-chart.ts';
import { describeCluster } from '../../support/control-plane/cluster-suite.ts';
import { COMMAND_FILES, type Command, type CommandSequence } from './commands.ts';
import { normalise, normaliseText } from './normalise.ts';

const COMPARED_KINDS = 'configmaps,secrets,serviceaccounts,services,deployments.apps';

/** Tests that run each sequence on both; `title` also tells the namespaces of the suites that share a control plane apart. */
export function describeCommands(title: string, sequences: readonly CommandSequence[]): void {
  describeCluster(`the same ${title} commands on the sandbox and on a real API server`, (cluster) => {
    let lab: SandboxLab;
    let onCluster: ToolBench;

    beforeAll(async () => {
      lab = await openSandboxLab();
      onCluster = await ToolBench.create(await readFile(cluster().kubeconfigPath, 'utf8'));
      for (const bench of [lab.bench, onCluster]) {
        await writeWebChart(bench);
        for (const [name, text] of Object.entries(COMMAND_FILES)) await bench.file(name, text);
      }
    });

    afterAll(async () => {
      await lab.close();
      await onCluster.remove();
    });

    const cases = sequences.map((sequence, index) => ({
      ...sequence,
      namespace: `${title}-commands-${index}`,
    }));

    test.each(cases)('do the same: $name', async ({ commands, namespace }) => {
      for (const command of commands) {
        const [ours, theirs] = await Promise.all([
          runAwaited(lab.bench, command, namespace),
          runAwaited(onCluster, command, namespace),
        ]);
        expect({ command: command.args.join(' '), ...compared(ours, command) }).toEqual({
          command: command.args.join(' '),
          ...compared(theirs, command),
        });
        if (command.areObjectsCompared === true) await expectSameObjects(namespace);
      }
      await expectSameObjects(namespace);
    });

    async function expectSameObjects(namespace: string): Promise<void> {
      const hasAccount = ['wait', '--for=create', 'serviceaccount/default', '--timeout=60s'];
      expect(await onCluster.kubectl('-n', namespace, ...hasAccount)).toMatchObject({ exitCode: 0 });
      expect(await objectsIn(lab.bench, namespace)).toEqual(await objectsIn(onCluster, namespace));
    }
  });
}

async function runAwaited(bench: ToolBench, command: Command, namespace: string): Promise<CommandResult> {
  if (command.isAwaited !== true) return await run(bench, command, namespace);
  return await vi.waitFor(async () => {
    const result = await run(bench, command, namespace);
    expect(result).toMatchObject({ exitCode: 0 });
    return result;
  }, 60_000);
}

async function run(bench: ToolBench, command: Command, namespace: string): Promise<CommandResult> {
  const args = command.args.map((arg) =>
    arg
      .replaceAll('{ns}', namespace)
      .replaceAll('{chart}', `${bench.directory}/web`)
      .replaceAll('{dir}', bench.directory),
  );
  if (command.tool === 'kubectl') return await bench.kubectl(...args);
  const result = await bench.helm(command.tool === 'helm 3' ? 3 : 4, ...args);
  return { ...result, stdout: result.stdout.replaceAll(/^LAST DEPLOYED: .*$/gm, 'LAST DEPLOYED: <time>') };
}

function compared({ exitCode, stdout, stderr }: CommandResult, { isOutputCompared = true }: Command): object {
  if (!isOutputCompared) return { exitCode };
  return { exitCode, stdout: withoutPaths(stdout), stderr: withoutPaths(stderr) };
}

function withoutPaths(text: string): string {
  return normaliseText(text.replaceAll(/\/\S*sandbox-tools-\w+/g, '<dir>'));
}

/** The objects of a namespace with their managed fields; release records without what only helm can read. */
async function objectsIn(bench: ToolBench, namespace: string): Promise<unknown> {
  const { stdout } = await bench.kubectl(
    'get',
    COMPARED_KINDS,
    '-n',
    namespace,
    '-o',
    'json',
    '--show-managed-fields',
  );
  const items = listAt(parseJson(stdout), 'items').filter(isObject);
  return items
    .filter((item) => stringAt(item, 'metadata', 'name') !== 'kube-root-ca.crt')
    .map((item) => (stringAt(item, 'type') === 'helm.sh/release.v1' ? releaseRecord(item) : normalise(item)));
}

function releaseRecord(secret: Record<string, unknown>): unknown {
  const name = stringAt(secret, 'metadata', 'name');
  return { name, status: stringAt(secret, 'metadata', 'labels', 'status') };
}

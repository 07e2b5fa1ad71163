import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { expect, inject, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import { describeNode } from '../support/node/node-suite.ts';
import { TestNode } from '../support/node/test-node.ts';

const SOON = { timeout: 600_000, interval: 200 };
const CGROUPS = '/sys/fs/cgroup';

describeNode('the test node', () => {
  test(
    'has its objects again after a power cut, and leaves nothing when it is stopped',
    furtherNode,
    async () => {
      const node = await TestNode.start(programs(), new AbortController().signal);
      try {
        const namespace = await node.probe.createNamespace('kept');
        await node.powerCut();
        expect(leftBehind(node.directory)).toEqual({ directory: true, cgroups: [] });
        await node.powerOn(new AbortController().signal);
        const { status } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}` });
        expect(status).toBe(200);
      } finally {
        await node.stop();
      }
      expect(leftBehind(node.directory)).toEqual(NOTHING);
    },
  );

  test('leaves no process, no group and no file when the process that started it is killed', async () => {
    const support = join(import.meta.dirname, '../support/node/test-node.ts');
    const script = `
      import { TestNode } from ${JSON.stringify(support)};
      const node = await TestNode.start(${JSON.stringify(programs())}, new AbortController().signal);
      console.log(JSON.stringify([node.directory, node.firstProcess]));
      setInterval(() => undefined, 1000);
    `;
    const owner = execa(process.execPath, ['--input-type=module', '-e', script], { reject: false });
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const [directory, first] = JSON.parse(line.toString()) as [string, number];
    expect(await stateOf(first)).toMatch(/^[RS]/);
    owner.kill('SIGKILL');
    await owner;
    await expect.poll(() => leftBehind(directory), SOON).toEqual(NOTHING);
    await expect.poll(() => stateOf(first), SOON).toMatch(/^(Z|$)/);
  });
});

const NOTHING = { directory: false, cgroups: [] };

function programs() {
  const state = inject('nodeState');
  if (state.type === 'unavailable') throw new Error(state.reason);
  return state.parts.programs;
}

function leftBehind(directory: string): unknown {
  const cgroups = readdirSync(CGROUPS).filter((name) => existsSync(join(CGROUPS, name, basename(directory))));
  return { directory: existsSync(directory), cgroups };
}

/** State of a process as ps has it, Z for one that is dead and not yet collected, empty when there is none. */
async function stateOf(pid: number): Promise<string> {
  return (await execa('ps', ['-o', 'stat=', '-p', String(pid)], { reject: false })).stdout;
}

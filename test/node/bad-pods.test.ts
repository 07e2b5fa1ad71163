import { afterAll, beforeAll, expect, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import { describeNode } from '../support/node/node-suite.ts';
import { PodOperator } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };

describeNode('a pod that cannot work', (node) => {
  let operator: PodOperator;
  beforeAll(async () => {
    operator = await PodOperator.prepare(await node(), SPEC);
  });
  afterAll(async () => await operator?.[Symbol.asyncDispose]());

  test.each(BROKEN)('says $what', furtherNode, async ({ settings, message }) => {
    const flags = Object.entries(settings).map(([name, value]) => `--set=settings.${name}=${value}`);
    await operator.startUpgrade(...flags);
    // Of the pods of this upgrade: those of the one before are gone, or go.
    const selected = async () => (await operator.pods()).at(-1);
    const termination = async () => {
      const [container] = (await selected())?.status.containerStatuses ?? [];
      return (container?.state.terminated ?? container?.lastState.terminated)?.message;
    };
    await expect.poll(termination, SOON).toMatch(message);
    const name = (await selected())?.metadata.name ?? '';
    expect((await operator.kubectl('describe', 'pod', name)).replaceAll(/\n\s+/g, ' ')).toMatch(message);
    // The container is started again and again: one of the last two has ended.
    const logs = async () =>
      await Promise.all(
        ['--previous', '--previous=false'].map(
          async (which) => await operator.kubectl('logs', name, which).catch(() => ''),
        ),
      );
    await expect.poll(async () => (await logs()).join(''), SOON).toMatch(message);
  });

  test('warns of an image without modules and hooks', async () => {
    await operator.upgrade();
    const { metadata } = (await operator.pods())[0] ?? { metadata: { name: '' } };
    expect(await operator.kubectl('logs', metadata.name)).toMatch(/nothing to do/);
  });
});

const CONFIG = 'if [ "$1" = --config ]; then echo "configVersion: v1\nonStartup: 1"; fi\n';

const SPEC = {
  name: 'broken',
  permissions: 'administrator',
  files: {
    'bad/unreadable/hook': `#!/bin/sh\n${CONFIG}`,
    'bad/interpreter/hook': `#!/usr/bin/python3\n${CONFIG}`,
  },
  unreadable: ['bad/unreadable/hook'],
} as const;

interface Broken {
  readonly what: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly message: RegExp;
}

const BROKEN: readonly Broken[] = [
  {
    what: 'that the volume with modules is not mounted',
    settings: { MODULES_DIR: '/mnt/modules' },
    message: /\/mnt\/modules/,
  },
  {
    what: 'which hook cannot be read',
    settings: { GLOBAL_HOOKS_DIR: '/bad/unreadable' },
    message: /hook.*(?:EACCES|permission denied|readable|executable)/i,
  },
  {
    what: 'which interpreter a hook lacks',
    settings: { GLOBAL_HOOKS_DIR: '/bad/interpreter' },
    message: /python3/,
  },
];

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildImage, saveImage } from '../../release/build-image.ts';
import { furtherNode } from '../support/api-independent.ts';
import {
  createConverted,
  createConvertedKind,
  deleteConvertedKind,
  RESPONDING_HOOK,
} from '../support/node/admission-load.ts';
import { untilResponded } from '../support/node/admission-waits.ts';
import { type ArchivedImage, readBaseImage } from '../support/node/images.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { imageOptions } from '../support/node/operator-image.ts';
import { PodOperator, type PodOperatorSpec } from '../support/node/pod-operator.ts';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const signal = new AbortController().signal;

// Containers have the clock of their machine, so a library changes what Node gets from the system. helm and kubectl, which
// are static, and hooks keep the time of the machine.
describeNode('an operator in a pod whose clock differs from that of the API server', (node) => {
  test('serves webhooks 40 minutes ahead, and `doctor` reports the clock', furtherNode, async () => {
    const shared = await node();
    await using cleanup = new AsyncDisposableStack();
    await createConvertedKind(shared.node);
    cleanup.defer(async () => await deleteConvertedKind(shared.node));
    const withLibrary = { ...shared, operatorImage: await loadImageWithLibrary(shared) };
    const operator = cleanup.use(await PodOperator.install(withLibrary, SPEC));
    await createConverted(shared.node, operator.namespace);
    await untilResponded(shared, operator);
    const report = await operator.exec('sh', '-c', 'addon-operator doctor 2>&1; true');
    expect(report).toMatch(/clock of this machine is 2[34]\d\d s ahead of/);
  });
});

const ENVIRONMENT = { LD_PRELOAD: LIBRARY, FAKETIME: '+40m', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
const SPEC: PodOperatorSpec = {
  name: 'clock',
  files: { 'global-hooks/respond': RESPONDING_HOOK },
  permissions: 'administrator',
  values: {
    'webhooks.enabled': true,
    'highAvailability.enabled': true,
    env: Object.entries(ENVIRONMENT).map(([name, value]) => ({ name, value })),
  },
};

async function loadImageWithLibrary({ node }: SharedNode): Promise<ArchivedImage> {
  const onProgress = (message: string): void => console.log(`image: ${message}`);
  const image = await buildImage(imageOptions(onProgress, ['libfaketime']), signal);
  const archive = join(node.directory, 'faketime.tar');
  await saveImage(image, archive, signal);
  await node.load(archive);
  const base = await readBaseImage(archive);
  await rm(archive);
  return base;
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildImage, saveImage } from '../../release/build-image.ts';
import { furtherNode } from '../support/api-independent.ts';
import { createConverted, createConvertedKind, RESPONDING_HOOK } from '../support/node/admission-load.ts';
import { deleteConvertedKind, untilResponded } from '../support/node/admission-waits.ts';
import { type ArchivedImage, readBaseImage } from '../support/node/images.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { imageOptions } from '../support/node/operator-image.ts';
import { PodOperator, type PodOperatorSpec } from '../support/node/pod-operator.ts';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const signal = new AbortController().signal;

// Containers have the clock of their machine, so a library changes what Node gets from the system. helm and kubectl, which
// are static, and hooks keep the time of the machine.
describeNode('an operator in a pod whose clock differs from that of the API server', (node) => {
  let withLibrary: SharedNode;
  beforeAll(async () => {
    const shared = await node();
    withLibrary = { ...shared, operatorImage: await loadImageWithLibrary(shared) };
    await createConvertedKind(shared.node);
  });
  afterAll(async () => await deleteConvertedKind((await node()).node));

  for (const { offset, side } of [
    { offset: '+40m', side: 'ahead of' },
    { offset: '-40m', side: 'behind' },
  ]) {
    test(`serves webhooks 40 minutes ${side} it, and \`doctor\` reports the clock`, furtherNode, async () => {
      await using operator = await PodOperator.install(withLibrary, specOf(offset));
      await createConverted(withLibrary.node, operator.namespace);
      await untilResponded(withLibrary, operator);
      const report = await operator.exec('sh', '-c', 'addon-operator doctor 2>&1; true');
      expect(report).toMatch(new RegExp(`clock of this machine is 2[34]\\d\\d s ${side}`));
    });
  }
});

function specOf(offset: string): PodOperatorSpec {
  const environment = { LD_PRELOAD: LIBRARY, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  return {
    name: 'clock',
    files: { 'global-hooks/respond': RESPONDING_HOOK },
    permissions: 'administrator',
    values: {
      'webhooks.enabled': true,
      'highAvailability.enabled': true,
      env: Object.entries(environment).map(([name, value]) => ({ name, value })),
    },
  };
}

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

import { describe, inject } from 'vitest';
import type { NodeParts } from './global-setup.ts';
import { type ArchivedImage, readBaseImage } from './images.ts';
import { TestNode } from './test-node.ts';

/** The node that all files of a worker share; it ends with the worker. */
export interface SharedNode {
  readonly node: TestNode;
  readonly parts: NodeParts;
  /** The operator's image, which is on the node. */
  readonly operatorImage: ArchivedImage;
}

const shared: { node?: Promise<SharedNode> } = {};

/**
 * A group of tests on a real node; they make their own namespaces. Without a node the tests are skipped, and counted; with
 * `REQUIRE_CLUSTER=1` that is a failure. `suite` is called in either case, so it may use `node()` inside tests and hooks only.
 */
export function describeNode(name: string, suite: (node: () => Promise<SharedNode>) => void): void {
  const state = inject('nodeState');
  if (state.type === 'unavailable' && process.env['REQUIRE_CLUSTER'] === '1') {
    throw new Error(`REQUIRE_CLUSTER=1, but there is no node: ${state.reason}`);
  }
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe.skipIf(state.type === 'unavailable')(name, () => {
    suite(async () => {
      if (state.type === 'unavailable') throw new Error(state.reason);
      shared.node ??= startNode(state.parts, new AbortController().signal);
      return await shared.node;
    });
  });
}

/** A node with the operator's image. */
export async function startNode(parts: NodeParts, signal: AbortSignal): Promise<SharedNode> {
  const node = await TestNode.start(parts.programs, signal);
  try {
    await node.load(parts.operatorImage);
    return { node, parts, operatorImage: await readBaseImage(parts.operatorImage) };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

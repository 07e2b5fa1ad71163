import { expect, vi } from 'vitest';
import {
  type AdmissionLoad,
  type AdmissionResult,
  CONVERTED_KIND,
  requestOnce,
  WEBHOOK_KINDS,
} from './admission-load.ts';
import type { SharedNode } from './node-suite.ts';
import type { PodOperator } from './pod-operator.ts';
import type { TestNode } from './test-node.ts';

const SOON = { timeout: 600_000, interval: 200 };

/** The next test may create the kind again only when it is gone. */
export async function deleteConvertedKind({ probe }: TestNode): Promise<void> {
  const request = { path: CONVERTED_KIND };
  await probe.request({ method: 'DELETE', ...request });
  // Outside of tests, where there is no `expect.poll`.
  const isGone = async (): Promise<void> => expect((await probe.request(request)).status).toBe(404);
  await vi.waitFor(isGone, SOON);
}

/** The API server learns of a webhook a moment after it was registered. */
export async function untilResponded({ node }: SharedNode, { namespace }: PodOperator): Promise<void> {
  for (const kind of WEBHOOK_KINDS) {
    await expect
      .poll(async () => await requestOnce(node, namespace, kind), SOON)
      .toMatchObject({ error: undefined });
  }
}

/** Until so many more requests have ended. */
export async function untilMore(load: AdmissionLoad, count: number): Promise<void> {
  const target = load.results.length + count;
  await expect.poll(() => load.results.length, SOON).toBeGreaterThan(target);
}

/** Prints the figures of requests. */
export function reportResults(what: string, results: readonly AdmissionResult[]): void {
  const longestMs = Math.max(...results.map(({ startMs, endMs }) => endMs - startMs));
  const errors = results.flatMap(({ error }) => error ?? []);
  console.log(
    `${what}: ${results.length} requests, longest ${Math.round(longestMs)} ms, ${errors.length} failed ${[...new Set(errors)].join('; ')}`,
  );
}

/** The pods that responded, in the order of the responses; a pod that responded again later is there twice. */
export function leadersOf(results: readonly AdmissionResult[]): readonly string[] {
  const pods = results.flatMap(({ pod }) => pod ?? []);
  return pods.filter((pod, index) => pod !== pods[index - 1]);
}

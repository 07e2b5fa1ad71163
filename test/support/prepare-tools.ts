import { messageOf } from '@addon-operator/base/errors';
import { type FindOptions, findControlPlane, findHelm, HELM_VERSIONS } from './control-plane/programs.ts';
import { reasonAgainstImage } from './image/reason-against-image.ts';
import { findJq, findJqTests } from './jq/jq-program.ts';
import { findNodePrograms, reasonAgainstNode } from './node/node-programs.ts';
import { findOperatorImage } from './node/operator-image.ts';
import { findOciPrograms } from './oci/oci-programs.ts';
import { findPrometheus } from './prometheus/prometheus-programs.ts';

const REPEAT_MS = 30_000;

type Step = (options: FindOptions) => Promise<unknown>;

/**
 * Fetches and builds, before the tests start, what they would otherwise wait for: about twenty minutes on two cores
 * when nothing is cached. What cannot be had is only reported.
 */
async function prepareTools(env: FindOptions['env'], signal: AbortSignal): Promise<void> {
  const steps: readonly Step[] = [
    ...HELM_VERSIONS.map(
      (version) => async (options: FindOptions) => await findHelm(version, options, signal),
    ),
    async (options) => await findJq(options, signal),
    async (options) => await findJqTests(options, signal),
    async (options) => await findPrometheus(options, signal),
    async (options) => await findControlPlane(options, signal),
    async (options) => await findOciPrograms(options, signal),
    ...(await nodeSteps(env, signal)),
  ];
  for (const [index, step] of steps.entries()) {
    const startedMs = performance.now();
    let last = '';
    const say = (message: string): void => console.log(`tools ${index + 1}/${steps.length}: ${message}`);
    const onProgress = (message: string): void => {
      last = message;
      say(message);
    };
    const repeat = setInterval(() => {
      say(`${last}: ${Math.round((performance.now() - startedMs) / 1000)} s so far`);
    }, REPEAT_MS);
    try {
      await step({ env, onProgress });
    } catch (error) {
      onProgress(messageOf(error));
    } finally {
      clearInterval(repeat);
    }
  }
}

/** What tests of the image and of pods need, where they can run. */
async function nodeSteps(env: FindOptions['env'], signal: AbortSignal): Promise<readonly Step[]> {
  const steps: Step[] = [];
  if ((await reasonAgainstNode(env)) === undefined) {
    steps.push(async (options) => await findNodePrograms(options, signal));
  }
  if ((await reasonAgainstImage(env)) === undefined) {
    steps.push(async (options) => await findOperatorImage(options, signal));
  }
  return steps;
}

await prepareTools(process.env, new AbortController().signal);

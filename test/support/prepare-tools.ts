import { messageOf } from '@addon-operator/base/errors';
import { type FindOptions, findControlPlane, findHelm, HELM_VERSIONS } from './control-plane/programs.ts';
import { findJq, findJqTests } from './jq/jq-program.ts';
import { findPrometheus } from './prometheus/prometheus-programs.ts';

const REPEAT_MS = 30_000;

/**
 * Fetches and builds, before the tests start, what they would otherwise wait for: about nine minutes on two cores when
 * nothing is cached. What cannot be had is only reported.
 */
async function prepareTools(env: FindOptions['env'], signal: AbortSignal): Promise<void> {
  const steps: readonly ((options: FindOptions) => Promise<unknown>)[] = [
    ...HELM_VERSIONS.map(
      (version) => async (options: FindOptions) => await findHelm(version, options, signal),
    ),
    async (options) => await findJq(options, signal),
    async (options) => await findJqTests(options, signal),
    async (options) => await findPrometheus(options, signal),
    async (options) => await findControlPlane(options, signal),
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

await prepareTools(process.env, new AbortController().signal);

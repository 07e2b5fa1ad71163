import { messageOf } from '../../src/lib/errors.ts';
import { type FindOptions, findControlPlane, findHelm, HELM_VERSIONS } from './control-plane/programs.ts';
import { findJq } from './jq/jq-program.ts';

/** Fetches and builds, before the tests start, what they would otherwise wait for. What cannot be had is only reported. */
async function prepareTools(options: FindOptions, signal: AbortSignal): Promise<void> {
  const steps = [
    ...HELM_VERSIONS.map((version) => async () => await findHelm(version, options, signal)),
    async () => await findJq(options, signal),
    async () => await findControlPlane(options, signal),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      options.onProgress(messageOf(error));
    }
  }
}

const options = { env: process.env, onProgress: (message: string) => console.log(`tools: ${message}`) };
await prepareTools(options, new AbortController().signal);

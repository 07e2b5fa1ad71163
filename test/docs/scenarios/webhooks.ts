import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { type Backend, World } from '../../support/world.ts';
import { formatSample } from '../format-sample.ts';
import { kept, recordingHook } from '../recorder.ts';
import type { Scenario } from '../scenario.ts';

const HOOK = 'hook.sh';

/** The sandbox calls no webhooks, so the test asks the daemon's servers in the place of an API server. */
const admission: Scenario = {
  title: 'an admission hook is asked and answers as its page shows',
  takes: [
    'config-admission',
    'config-mutating',
    'admission-request',
    'admission-denial',
    'admission-allowed',
    'admission-change',
  ],
  gives: ['context-admission', 'admission-response', 'admission-response-change', 'context-mutating'],
  async run(backend, taken) {
    const scene = await respondingWorld(backend, taken('config-admission'), 'VALIDATING_RESPONSE_PATH');
    await using world = scene.world;
    await world.write('global-hooks', {
      'mutating.sh': recordingHook(taken('config-mutating'), responding('ADMISSION_RESPONSE_PATH')),
    });
    await world.converge();
    const ask = (path: string, reply: string) =>
      scene.ask('validating', path, taken('admission-request'), taken(reply));
    const denial = await ask('/hooks/images-policy-example-com', 'admission-denial');
    await ask('/hooks/images-policy-example-com', 'admission-allowed');
    const change = await ask('/hooks/labels-policy-example-com', 'admission-change');
    return {
      'context-admission': await kept(world, HOOK, 0),
      'admission-response': denial,
      'context-mutating': await kept(world, 'mutating.sh', 0),
      'admission-response-change': change,
    };
  },
};

const conversion: Scenario = {
  title: 'a conversion hook is asked and answers as its page shows',
  takes: ['config-conversion', 'conversion-request', 'conversion-answer', 'conversion-failure'],
  gives: ['context-conversion', 'conversion-response', 'conversion-response-failure'],
  async run(backend, taken) {
    const scene = await respondingWorld(backend, taken('config-conversion'), 'CONVERSION_RESPONSE_PATH');
    await using world = scene.world;
    await world.converge();
    const ask = (reply: string) =>
      scene.ask('conversion', '/boxes.example.com', taken('conversion-request'), taken(reply));
    const response = await ask('conversion-answer');
    const failure = await ask('conversion-failure');
    return {
      'context-conversion': await kept(world, HOOK, 0),
      'conversion-response': response,
      'conversion-response-failure': failure,
    };
  },
};

const responding = (variable: string): string => `cat "$WORLD/answer" > "$${variable}"`;

async function respondingWorld(backend: Backend, config: string, variable: string) {
  const [validating = 0, converting = 0] = await freePorts(2);
  const world = await World.create(backend, {
    globalHooks: { [HOOK]: recordingHook(config, responding(variable)) },
    flags: {
      'webhook-url': 'https://127.0.0.1',
      'validating-webhook-listen-address': '127.0.0.1',
      'validating-webhook-listen-port': String(validating),
      'validating-webhook-configuration-name': `docs-${validating}`,
      'conversion-webhook-listen-address': '127.0.0.1',
      'conversion-webhook-listen-port': String(converting),
    },
  });
  const ports = { validating, conversion: converting };
  return {
    world,
    /** Sends a review to a hook that will give this response; returns the review that comes back. */
    async ask(server: keyof typeof ports, path: string, review: string, reply: string): Promise<string> {
      await world.write('modules', { '../answer': reply });
      const body = await post(ports[server], path, review);
      return `${formatSample(JSON.parse(body))}\n`;
    },
  };
}

async function post(port: number, path: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request(
    {
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // The certificate is of the daemon's own authority, which only the API server knows.
      rejectUnauthorized: false,
    },
    (response) => void text(response).then(resolve, reject),
  )
    .on('error', reject)
    .end(body);
  return await promise;
}

export const webhookScenarios: readonly Scenario[] = [admission, conversion];

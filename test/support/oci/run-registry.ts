// `npm run registry`: a registry on loopback for a first try of delivery, until Ctrl-C.
import { once } from 'node:events';
import { messageOf } from '@addon-operator/base/errors';
import { FaultRegistry } from './fault-registry.ts';

/** As other local registries have it; the argument is another one. */
const PORT = 5000;

function instructions(host: string): string {
  const repository = `oci://${host}/modules/web`;
  return `
A registry is at ${host}, without accounts. It forgets everything at its end. Ctrl-C ends it. Next:

  bin/addon-operator module new web --modules-dir /tmp/modules
  bin/addon-operator module push /tmp/modules/030-web ${repository} --version 1.0.0 --channel stable
  bin/addon-operator module versions ${repository}`;
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
try {
  const port = Number(process.argv[2] ?? PORT);
  await using registry = await FaultRegistry.start(stop.signal, { port });
  console.log(instructions(registry.host));
  await once(stop.signal, 'abort');
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(`registry: ${messageOf(error)}`);
    process.exitCode = 1;
  }
}

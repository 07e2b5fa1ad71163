/**
 * Changes of people to a ModuleInstall: applies with field managers of their own, on fields that git need not mention. A client
 * of Flux or Argo CD leaves them as they are.
 */

import { OperatorError } from '@addon-operator/base/errors';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { fieldsOf, isObject, stringOf } from '@addon-operator/json';
import { type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import { isDigest } from '@addon-operator/oci/digest';
import { connectCluster } from '../../app/connect-cluster.ts';
import { DELIVERY_API_VERSION, MODULE_INSTALLS } from '../../delivery/delivery-crds.ts';
import { createMetrics } from '../../views/daemon-metrics.ts';
import type { CliHost } from '../cli-host.ts';
import { operatorSettings } from '../operator/operator-settings.ts';
import { quietHost } from '../quiet-host.ts';

type Flags = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

/** Approves a digest: what a tag names later does not matter. */
export async function approveVersion(
  {
    name,
    version,
    now,
  }: { readonly name: string; readonly version: string | undefined; readonly now: boolean },
  flags: Flags,
  host: CliHost,
): Promise<number> {
  return await withCluster(flags, host, async (kube, signal) => {
    const install = await readInstall(kube, name, signal);
    const found = digestOf(name, fieldsOf(install['status']), version);
    const at = isoTime(host.clock.wallMs());
    const spec = { approved: found.digest, approval: { at, now } };
    await applySpec(kube, name, spec, 'addon-operator-approve', signal);
    const hold = fieldsOf(fieldsOf(install['spec'])['hold'])['reason'];
    const held =
      hold === undefined ? '' : `, and is held (${stringOf(hold)}): addon-operator module unhold ${name}`;
    host.stdout.write(`${name} ${found.version} is approved (${found.digest})${held}\n`);
    return 0;
  });
}

/** Keeps a module at its version. */
export async function holdModule(
  name: string,
  hold: { readonly reason: string; readonly until?: string | undefined },
  flags: Flags,
  host: CliHost,
): Promise<number> {
  return await withCluster(flags, host, async (kube, signal) => {
    await readInstall(kube, name, signal);
    await applySpec(kube, name, { hold }, 'addon-operator-hold', signal);
    host.stdout.write(
      `${name} is held${hold.until === undefined ? '' : ` until ${hold.until}`}: ${hold.reason}\n`,
    );
    return 0;
  });
}

/** Ends a hold, also one of another field manager. */
export async function unholdModule(name: string, flags: Flags, host: CliHost): Promise<number> {
  return await withCluster(flags, host, async (kube, signal) => {
    const install = await readInstall(kube, name, signal);
    if (fieldsOf(install['spec'])['hold'] === undefined) {
      host.stdout.write(`${name} is not held\n`);
      return 0;
    }
    await kube.request(
      {
        method: 'PATCH',
        path: resourcePath(MODULE_INSTALLS, undefined, name),
        query: { fieldManager: 'addon-operator-hold' },
        contentType: 'application/merge-patch+json',
        body: { spec: { hold: null } },
      },
      signal,
    );
    host.stdout.write(`${name} is not held any more\n`);
    return 0;
  });
}

/** @throws OperatorError REQUEST_INVALID if the status knows no such version */
function digestOf(name: string, status: Fields, version: string | undefined) {
  if (version !== undefined && isDigest(version)) return { version, digest: version };
  const lists = [status['failed'], status['history']].flatMap((list) => (Array.isArray(list) ? list : []));
  const known = [status['pending'], status['wanted'], status['installed'], ...lists]
    .filter(isObject)
    .map((one) => ({ version: stringOf(one['version']), digest: stringOf(one['digest']) }))
    .filter(({ digest }) => isDigest(digest));
  const wanted = version ?? stringOf(fieldsOf(status['pending'])['version']);
  const found = known.find((one) => one.version === wanted);
  if (found !== undefined) return found;
  const versions = [...new Set(known.map((one) => one.version))].join(', ');
  throw new OperatorError(
    'REQUEST_INVALID',
    version === undefined
      ? `no version of ${name} waits: name one, or a digest`
      : `the status of ${name} has no version ${version}, only ${versions === '' ? 'none' : versions}: name its digest`,
  );
}

async function readInstall(kube: KubeClient, name: string, signal: AbortSignal): Promise<Fields> {
  const path = resourcePath(MODULE_INSTALLS, undefined, name);
  const install = await requestIfPresent(kube, { method: 'GET', path }, signal);
  if (install !== undefined) return fieldsOf(install);
  throw new OperatorError(
    'MODULE_UNKNOWN',
    `there is no ModuleInstall ${name} in the cluster; an operator with --module-sources takes spec.approved and spec.hold from that file: edit it`,
  );
}

async function applySpec(
  kube: KubeClient,
  name: string,
  spec: Fields,
  fieldManager: string,
  signal: AbortSignal,
): Promise<void> {
  await kube.request(
    {
      method: 'PATCH',
      path: resourcePath(MODULE_INSTALLS, undefined, name),
      query: { fieldManager, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: DELIVERY_API_VERSION, kind: MODULE_INSTALLS.kind, metadata: { name }, spec },
    },
    signal,
  );
}

async function withCluster(
  flags: Flags,
  host: CliHost,
  act: (kube: KubeClient, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const { settings } = await operatorSettings(flags, host);
  const daemon = quietHost(host);
  const metrics = createMetrics(settings, { version: daemon.version });
  const cluster = await connectCluster(settings, daemon, metrics);
  try {
    return await act(cluster.main, host.stopSignal());
  } finally {
    cluster.close();
  }
}

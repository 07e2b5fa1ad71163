/**
 * Wiring: the parts of delivery, from the functions of other rooms. It decides nothing but who gets what; the controller is
 * tested in delivery, the whole in test/lifecycle.
 */

import { errorFields, OperatorError } from '@addon-operator/base/errors';
import { componentLog, type Logger } from '@addon-operator/base/log';
import { sleepOrWake, Wakeup } from '@addon-operator/concurrency/wakeup';
import { fieldsOf, parseJson, stringOf } from '@addon-operator/json';
import { hasStatus, type KubeClient, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { resourcePath } from '@addon-operator/kube-client/kube-object';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { Repository } from '@addon-operator/oci/repository';
import { type ContentBackup, SecretBackup } from '../delivery/content-backup.ts';
import { Delivery, type DeliverySpecs } from '../delivery/delivery.ts';
import { MODULE_INSTALLS, MODULE_SOURCES } from '../delivery/delivery-crds.ts';
import type { ArtifactTools, DeliveryEvent, DeliveryParts, OpenSource } from '../delivery/delivery-parts.ts';
import { HistoryStore } from '../delivery/history-store.ts';
import { installDeliveryCrds } from '../delivery/install-delivery-crds.ts';
import type { Source } from '../delivery/parse-spec.ts';
import { readReference } from '../delivery/secrets.ts';
import { followSpecFile, readSpecs } from '../delivery/spec-file.ts';
import { readSpecObjects, SpecObjects } from '../delivery/spec-objects.ts';
import { createStateStore } from '../delivery/state-store.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ContentStore } from '../module-store/content-store.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { DeliverySettings } from '../settings/delivery-settings.ts';
import { updateOf } from '../views/explain-update.ts';
import type { DaemonHost } from './host.ts';

/** How a registry is reached, by the spec of a source with the contents that it refers to. */
export interface RegistryAccess {
  /** Content of `.dockerconfigjson`. */
  readonly dockerConfig: string | undefined;
  /** Name of an executable of the kubelet's credential provider protocol. */
  readonly credentialProvider: string | undefined;
  /** PEM. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}

/** Connections and tokens that the repositories of one source share. */
export interface RegistryConnection {
  /** @param url such as `oci://registry.example.com/platform/web`; `mirrors` are URLs of the same repository */
  open(url: string, options: { readonly mirrors: readonly string[] }): Repository;
  close(): void;
}

export interface DeliveryOptions {
  readonly settings: InstanceSettings & DeliverySettings;
  readonly host: Pick<DaemonHost, 'clock' | 'random'> & { readonly log: Logger };
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  readonly redactor: Redactor;
  readonly metrics: OperatorMetrics;
  readonly store: ContentStore;
  readonly modules: DeliveryParts['modules'];
  readonly operator: DeliveryParts['operator'];
  readonly artifacts: ArtifactTools;
  readonly connect: (access: RegistryAccess) => RegistryConnection;
  /** Records an Event about a module. */
  readonly record: (module: string, event: DeliveryEvent) => void;
}

/** Delivery before it runs: `prepare()` belongs before the discovery of modules, `run()` after the start of the queues. */
export interface StartedDelivery {
  readonly delivery: Delivery;
  /** Runs the controller and writes statuses until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** From a change until statuses are written: changes in the meantime are written with it. */
const COALESCE_MS = 1_000;
const STATUS_LOOK_MS = 10_000;
const FOLLOW_AGAIN_MS = 60_000;
const SERVED_TRIES = 100;
const SERVED_PAUSE_MS = 100;

/**
 * Reads the documents and the state, and brings installed content in place.
 *
 * @throws OperatorError SOURCE_INVALID, KUBE_API, KUBE_UNREACHABLE, STORE_FAILED
 */
export async function startDelivery(options: DeliveryOptions, signal: AbortSignal): Promise<StartedDelivery> {
  const { settings, host, kube, reflectors, metrics, store } = options;
  const log = componentLog(host, 'modules');
  const changed = new Wakeup();
  const delivery = new Delivery(partsOf(options, changed), settings);
  const onSpecs = (specs: DeliverySpecs): void => delivery.setSpecs(specs);
  const path = settings.moduleSourcesFile;
  if (path !== '') await refuseObjects(kube, signal);
  const file =
    path === '' ? undefined : await followSpecFile(path, { clock: host.clock, log }, onSpecs, signal);
  const objects = path === '' ? new SpecObjects({ kube, reflectors, log, onSpecs }) : undefined;
  const following = objects && createFollowing(objects, kube, host.clock);
  await following?.(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    // Modules run as they are: without the objects nothing is a decision.
    log.warn(errorFields(error), 'ModuleSources cannot be followed, which is tried again');
  });
  await delivery.prepare(signal);
  metrics.showDelivery(async () => gaugesOf(delivery, await store.list()));
  const writeStatuses = async (stop: AbortSignal): Promise<void> => {
    for (;;) {
      const woken = changed.next;
      await objects?.writeStatus(delivery.view(), host.clock.wallMs(), stop);
      await sleepOrWake(host.clock, STATUS_LOOK_MS, woken, stop);
      await host.clock.sleep(COALESCE_MS, stop);
    }
  };
  const followLater = async (stop: AbortSignal): Promise<void> => {
    while ((await following?.(stop).catch(() => false)) === false)
      await host.clock.sleep(FOLLOW_AGAIN_MS, stop);
  };
  return {
    delivery,
    async run(stop) {
      await Promise.all([delivery.run(stop), writeStatuses(stop), file?.run(), followLater(stop)]);
    },
  };
}

/** How often a replica that waits looks for content that it does not have. */
const PREFETCH_MS = 60_000;

/**
 * Keeps the content of installed versions in the store of a replica that waits for the lead, until the signal aborts. It
 * writes nothing else, and no failure counts: the next look, or the start of the leader, does it again.
 */
export async function prefetchContent(
  options: Omit<DeliveryOptions, 'reflectors'>,
  signal: AbortSignal,
): Promise<void> {
  const { settings, host, kube } = options;
  const delivery = new Delivery(partsOf(options, new Wakeup()), settings);
  const path = settings.moduleSourcesFile;
  while (!signal.aborted) {
    try {
      delivery.setSpecs(path === '' ? await readSpecObjects(kube, signal) : await readSpecs(path));
      await delivery.prefetch(signal);
      await host.clock.sleep(PREFETCH_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      componentLog(host, 'modules').debug(errorFields(error), 'content cannot be prefetched');
      await host.clock.sleep(PREFETCH_MS, signal).catch(() => undefined);
    }
  }
}

/** Begins to follow the objects, once. A server that knows the definitions only since a moment gets some more requests. */
function createFollowing(
  objects: SpecObjects,
  kube: KubeClient,
  clock: DaemonHost['clock'],
): (signal: AbortSignal) => Promise<true> {
  let areNewlyDefined = false;
  let isFollowing = false;
  return async (signal) => {
    if (isFollowing) return true;
    const { areNew } = await installDeliveryCrds(kube, signal);
    areNewlyDefined ||= areNew;
    for (let tries = 1; !isFollowing; tries += 1) {
      try {
        await objects.follow(areNewlyDefined, signal);
        isFollowing = true;
      } catch (error) {
        if (!areNew || !hasStatus(error, 404) || tries === SERVED_TRIES) throw error;
        await clock.sleep(SERVED_PAUSE_MS, signal);
      }
    }
    return true;
  };
}

/** @throws OperatorError SOURCE_INVALID when there are objects besides the file */
async function refuseObjects(kube: KubeClient, signal: AbortSignal): Promise<void> {
  for (const resource of [MODULE_SOURCES, MODULE_INSTALLS]) {
    const request = { method: 'GET', path: resourcePath(resource), query: { limit: '1' } } as const;
    const { items } = fieldsOf(await requestIfPresent(kube, request, signal));
    if (Array.isArray(items) && items.length > 0)
      throw new OperatorError(
        'SOURCE_INVALID',
        `--module-sources is set, and there are objects of kind ${resource.kind} in the cluster: use one of both`,
      );
  }
}

function partsOf(options: Omit<DeliveryOptions, 'reflectors'>, changed: Wakeup): DeliveryParts {
  const { settings, host, kube, store, modules, operator, artifacts, metrics, record } = options;
  const { namespace, configMapName } = settings;
  const log = componentLog(host, 'modules');
  return {
    clock: host.clock,
    log,
    random: host.random,
    store,
    modules,
    openSource: sourceOpener(options),
    artifacts,
    state: createStateStore(kube, { namespace, name: `${configMapName}-delivery` }),
    history: new HistoryStore(kube, namespace, configMapName),
    backup: settings.moduleBackup === 'none' ? NO_BACKUP : new SecretBackup(kube, namespace, configMapName),
    operator,
    reports: {
      event: (module, event) => {
        const level = event.type === 'Warning' ? 'warn' : 'info';
        log[level]({ module, event: event.reason, detail: event.message }, 'delivery of a module');
        record(module, event);
      },
      pulled: (_module, seconds) => metrics.modulePulled(seconds),
      changed: () => changed.wake(),
    },
  };
}

const NO_BACKUP: ContentBackup = {
  save: () => Promise.resolve(),
  open: () => Promise.resolve(undefined),
  collect: () => Promise.resolve(),
};

/** A connection stays open while nothing of its access changes, so that tokens are requested once. */
export function sourceOpener({
  settings: { namespace },
  kube,
  redactor,
  connect,
}: Pick<DeliveryOptions, 'kube' | 'redactor' | 'connect'> & {
  readonly settings: Pick<InstanceSettings, 'namespace'>;
}): OpenSource {
  const opened = new Map<string, { readonly key: string; readonly connection: RegistryConnection }>();
  const read = (ref: Parameters<typeof readReference>[2] | undefined, signal: AbortSignal) =>
    ref === undefined ? Promise.resolve(undefined) : readReference(kube, namespace, ref, signal);
  return async (source: Source, signal) => {
    const { name, url, auth, ca, mirrors, timeoutMs, verify } = source;
    const secret = auth?.secretRef && { secretRef: { ...auth.secretRef, key: '.dockerconfigjson' } };
    const access: RegistryAccess = {
      dockerConfig: await read(secret, signal),
      credentialProvider: auth?.credentialProvider,
      ca: await read(ca, signal),
      timeoutMs,
    };
    const keyring = await read(verify.keyring, signal);
    const cosignKeys = await Promise.all(
      verify.cosignKeys.map((ref) => readReference(kube, namespace, ref, signal)),
    );
    const key = JSON.stringify(access);
    const known = opened.get(name);
    if (known?.key !== key) {
      known?.connection.close();
      for (const secret of secretsIn(access.dockerConfig)) redactor.add(secret);
      opened.set(name, { key, connection: connect(access) });
    }
    const connection = opened.get(name)?.connection ?? connect(access);
    return {
      policy: { ...(keyring !== undefined && { keyring }), ...(cosignKeys.length > 0 && { cosignKeys }) },
      repository: (path) =>
        connection.open(`${url}/${path}`, { mirrors: mirrors.map((mirror) => `${mirror}/${path}`) }),
    };
  };
}

const SECRET_FIELDS = ['password', 'auth', 'identitytoken', 'registrytoken'];

/** Passwords and tokens of a `.dockerconfigjson`; its form is checked by who uses it. */
function secretsIn(dockerConfig: string | undefined): readonly string[] {
  try {
    const { auths } = fieldsOf(parseJson(dockerConfig ?? '{}'));
    const entries = Object.values(fieldsOf(auths)).map(fieldsOf);
    const named = entries.flatMap((entry) => SECRET_FIELDS.map((name) => stringOf(entry[name])));
    return [...named, ...entries.map(({ auth }) => passwordIn(stringOf(auth)))].filter(Boolean);
  } catch {
    return [];
  }
}

/** The field `auth` is the base64 of USER:PASSWORD. */
function passwordIn(auth: string): string {
  const pair = Buffer.from(auth, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

function gaugesOf(delivery: Delivery, contents: Awaited<ReturnType<ContentStore['list']>>) {
  const { sources, installs } = delivery.view();
  return {
    pending: installs.flatMap(({ name: module }) => {
      const { update } = updateOf({ updates: { of: () => undefined }, delivery }, module);
      return update === undefined ? [] : [{ module, reason: update.reason, needs: update.needs }];
    }),
    updating: installs.filter(({ isUpdating }) => isUpdating).map(({ name }) => name),
    failed: installs
      .filter(({ hasFailed, pending }) => hasFailed || pending?.reason === 'Failed')
      .map(({ name }) => name),
    missing: installs.filter(({ missing }) => missing !== undefined).map(({ name }) => name),
    sources: sources.map(({ name, invalid, problem, lastSuccessMs }) => ({
      source: name,
      isReady: invalid === undefined && problem === undefined && lastSuccessMs !== undefined,
      lastSuccessSeconds: lastSuccessMs === undefined ? undefined : lastSuccessMs / 1_000,
    })),
    storeBytes: contents.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

import { readFile } from 'node:fs/promises';
import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { type Crd, parseCrdFile, versionsOf } from '@addon-operator/kube-client/crd';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import {
  hasStatus,
  type KubeClient,
  type KubeRequest,
  requestIfPresent,
} from '@addon-operator/kube-client/kube-client';
import { type CrdOrigin, nextCrdStep } from './crd-changes.ts';

type Fields = Readonly<Record<string, unknown>>;

interface CrdInstallerOptions {
  readonly kube: KubeClient;
  readonly discovery: Pick<Discovery, 'find' | 'invalidate'>;
  readonly clock: SteadyClock;
  readonly log: Logger;
  /** Set on every CRD, like on the objects of releases. */
  readonly extraLabels: Readonly<Record<string, string>>;
}

/** Path of all CRDs of the cluster. */
export const CRD_COLLECTION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MAX_CONFLICTS = 10;
// Longer waits belong to the retry of the task, which is visible to users.
const ESTABLISH_SECONDS = 30;
const DISCOVERY_TRIES = 100;
const DISCOVERY_PAUSE_MS = 100;

/**
 * Installs and updates the CRDs of modules, before any task uses their kinds. The task
 * ModuleEnsureCRDs calls it, and a deployment after a failure. No CRD is ever deleted, since all
 * objects of its kind would go with it.
 */
export class CrdInstaller {
  readonly #options: CrdInstallerOptions;

  constructor(options: CrdInstallerOptions) {
    this.#options = options;
  }

  /**
   * Creates or updates the CRDs in these files, and waits until the API server serves them. A
   * problem of one does not prevent the others.
   *
   * @throws OperatorError CRD_FAILED with every file and CRD that could not be applied
   */
  async ensure(origin: CrdOrigin, files: readonly string[], signal: AbortSignal): Promise<void> {
    const problems: string[] = [];
    const changed: Crd[] = [];
    for (const path of files) {
      try {
        const file = parseCrdFile(await readFile(path, 'utf8'), path);
        problems.push(...file.problems);
        for (const crd of file.crds)
          if (await this.#tryApply(origin, crd, problems, signal)) changed.push(crd);
      } catch (error) {
        signal.throwIfAborted();
        problems.push(`${path}: ${messageOf(error)}`);
      }
    }
    // Also after problems: the installed ones may be used by other modules.
    await this.#untilDiscovered(changed, signal);
    if (problems.length === 0) return;
    throw new OperatorError(
      'CRD_FAILED',
      `Cannot install all CRDs of module "${origin.module}": ${problems.join('; ')}`,
    );
  }

  async #tryApply(origin: CrdOrigin, crd: Crd, problems: string[], signal: AbortSignal): Promise<boolean> {
    const { module } = origin;
    try {
      const did = await this.#apply(crd, origin, signal);
      if (did === 'kept') return false;
      this.#options.log.info({ module, crd: crd.name }, did === 'created' ? 'CRD created' : 'CRD updated');
      return true;
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${crd.name}: ${messageOf(error)}`);
      return false;
    }
  }

  async #apply(crd: Crd, origin: CrdOrigin, signal: AbortSignal): Promise<'created' | 'updated' | 'kept'> {
    for (let conflicts = 0; ; conflicts += 1) {
      try {
        const done = await this.#applyOnce(crd, origin, signal);
        if (!isEstablished(done.object)) await this.#untilEstablished(crd.name, signal);
        return done.type;
      } catch (error) {
        // Another client created or changed it in the meantime: read it again.
        if (!hasStatus(error, 409) || conflicts === MAX_CONFLICTS) throw error;
      }
    }
  }

  async #applyOnce(
    crd: Crd,
    origin: CrdOrigin,
    signal: AbortSignal,
  ): Promise<{ readonly type: 'created' | 'updated' | 'kept'; readonly object: Fields }> {
    const { kube, extraLabels, log } = this.#options;
    const path = `${CRD_COLLECTION}/${encodeURIComponent(crd.name)}`;
    const write = async (request: KubeRequest): Promise<Fields> =>
      fieldsOf(await kube.request(request, signal));
    let current = await this.#read(path, signal);
    for (;;) {
      const step = nextCrdStep(current, crd, extraLabels, origin);
      switch (step.type) {
        case 'keep':
          if (step.kept !== undefined)
            log.warn({ module: origin.module, crd: crd.name, reason: step.kept }, 'CRD does not go back');
          return { type: 'kept', object: current ?? {} };
        case 'refuse':
          throw new OperatorError('CRD_FAILED', step.reason);
        case 'create':
          return {
            type: 'created',
            object: await write({ method: 'POST', path: CRD_COLLECTION, body: step.body }),
          };
        case 'drop-stored-versions':
          current = {
            ...(await write({ method: 'PUT', path: `${path}/status`, body: step.body })),
            // The status counts as written for any response, or this loop would not end.
            status: step.body['status'],
          };
          break;
        case 'replace':
          return { type: 'updated', object: await write({ method: 'PUT', path, body: step.body }) };
      }
    }
  }

  async #read(path: string, signal: AbortSignal): Promise<Fields | undefined> {
    const reply = await requestIfPresent(this.#options.kube, { method: 'GET', path }, signal);
    return reply === undefined ? undefined : fieldsOf(reply);
  }

  /**
   * Watches the CRD until its kind is accepted.
   *
   * @throws OperatorError CRD_FAILED with the API server's reason
   */
  async #untilEstablished(name: string, signal: AbortSignal): Promise<void> {
    const query = {
      watch: 'true',
      fieldSelector: `metadata.name=${name}`,
      timeoutSeconds: String(ESTABLISH_SECONDS),
    };
    let reason = 'it gives no reason';
    for await (const line of await this.#options.kube.stream(
      { method: 'GET', path: CRD_COLLECTION, query },
      signal,
    )) {
      const object = fieldsOf(fieldsOf(parseJson(line))['object']);
      if (isEstablished(object)) return;
      reason = refusalOf(object) ?? reason;
    }
    throw new OperatorError(
      'CRD_FAILED',
      `the API server does not establish it within ${ESTABLISH_SECONDS} s: ${reason}`,
    );
  }

  /**
   * Waits until discovery has the kinds: it follows the CRDs a moment later, and helm must not read
   * an old list.
   */
  async #untilDiscovered(crds: readonly Crd[], signal: AbortSignal): Promise<void> {
    const { discovery, clock } = this.#options;
    if (crds.length > 0) discovery.invalidate();
    for (const { spec } of crds) {
      const version = versionsOf(spec).find(({ served }) => served === true)?.['name'];
      const kind = fieldsOf(spec['names'])['kind'];
      if (typeof version !== 'string' || typeof kind !== 'string') continue;
      for (let tries = 1; ; tries += 1) {
        try {
          await discovery.find(`${String(spec['group'])}/${version}`, kind, signal);
          break;
        } catch (error) {
          if (!hasCode(error, 'KUBE_KIND_UNKNOWN') || tries === DISCOVERY_TRIES) throw error;
        }
        await clock.sleep(DISCOVERY_PAUSE_MS, signal);
        discovery.invalidate();
      }
    }
  }
}

function isEstablished(crd: Fields): boolean {
  return conditionsOf(crd).some(({ type, status }) => type === 'Established' && status === 'True');
}

function refusalOf(crd: Fields): string | undefined {
  const refused = conditionsOf(crd).find(({ status }) => status === 'False');
  return refused === undefined ? undefined : `${String(refused['type'])}: ${String(refused['message'])}`;
}

function conditionsOf(crd: Fields): readonly Fields[] {
  const conditions = fieldsOf(crd['status'])['conditions'];
  return Array.isArray(conditions) ? conditions.map(fieldsOf) : [];
}

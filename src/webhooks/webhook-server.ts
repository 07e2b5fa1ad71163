/**
 * Starts the HTTPS servers for admission and conversion requests and gives them certificates: from files, if an
 * administrator provides some, else from a Secret that the operator creates and renews. Requests go to the handlers of
 * `admission/` and `conversion/`. A certificate that is replaced is used without a restart. If a server cannot be opened,
 * the attempt is forgotten, and the next hook that needs it tries again.
 */

import { existsSync } from 'node:fs';
import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { ForwardedPort, HeldPorts } from '@addon-operator/http-server/connection-forwarder';
import { startWebhookServer, type WebhookHandler } from '@addon-operator/http-server/tls-server';
import type {
  ServingCertificate,
  WebhookCertificates,
} from '@addon-operator/http-server/webhook-certificates';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import { WEBHOOK_SETTINGS, type WebhookSettings } from '../settings/webhook-settings.ts';
import { type CertificateFiles, loadFromFiles, readPem } from './certificate-files.ts';
import { loadFromSecret } from './certificate-secret.ts';
import { type CertificateSource, openCertificateSource } from './certificate-source.ts';
import { hostsOf, type WebhookTarget } from './webhook-target.ts';

/** The purposes of the two servers. */
export const WEBHOOK_PURPOSES = ['validating', 'conversion'] as const;
export type WebhookPurpose = (typeof WEBHOOK_PURPOSES)[number];

const MIB = 1024 * 1024;
/**
 * An admission review has two objects, of at most 3 MiB each. A conversion review has a list: everything of a kind that is
 * stored in another version, up to 10,000 objects. What a hook returns is limited to 10 MiB, so more than this is not
 * converted anyway, and several requests must fit into memory.
 */
export const MAX_BODY_BYTES: Readonly<Record<WebhookPurpose, number>> = {
  validating: 7 * MIB,
  conversion: 32 * MIB,
};

/** The parts of the process that the servers use. */
export interface WebhookHost {
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

export interface WebhookServersOptions {
  readonly settings: WebhookSettings & InstanceSettings;
  readonly host: WebhookHost;
  readonly kube: KubeClient;
  readonly metrics: OperatorMetrics;
  /** Aborts when the daemon stops. */
  readonly stop: AbortSignal;
  /** Ports that are held for the servers; by default the servers open them themselves. */
  readonly heldPorts?: HeldPorts | undefined;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

/** Starts each webhook server when it is first needed, with the certificates that the settings name. */
export class WebhookServers {
  readonly #options: WebhookServersOptions;
  /** By purpose; our own certificates serve both servers. */
  readonly #sources = new Map<WebhookPurpose | 'own', Promise<CertificateSource>>();

  constructor(options: WebhookServersOptions) {
    this.#options = options;
  }

  /**
   * Starts a server, to be called once for each purpose that succeeds.
   *
   * @throws OperatorError WEBHOOK_CERTIFICATE for files that cannot be used, HTTP_LISTEN when the port is in use
   * @throws KubeApiError, or OperatorError KUBE_UNREACHABLE, when the Secret with our own certificate cannot be had
   */
  async open(
    purpose: WebhookPurpose,
    handler: WebhookHandler,
    signal: AbortSignal,
  ): Promise<WebhookCertificates> {
    const { settings, host, heldPorts, metrics, running } = this.#options;
    const files = filesOf(settings, purpose);
    const source =
      files === undefined
        ? await this.#source('own', (end) => this.#loadOwn(end), signal)
        : await this.#source(purpose, () => loadFromFiles(files), signal);
    const { certificates } = source;
    const clientCas = await Promise.all(settings[`${purpose}ClientCas`].map(readPem));
    const [address, port] = [settings[`${purpose}ListenAddress`], settings[`${purpose}ListenPort`]];
    const server = await startWebhookServer({
      address,
      port,
      taken: heldPorts?.take(address, port),
      replicas: heldPorts,
      certificates,
      clientCas,
      handler,
      maxBodyBytes: MAX_BODY_BYTES[purpose],
      clock: host.clock,
      log: host.log,
    });
    // Ends with the process, not with the last hook: a request may be in progress when a hook is disabled.
    running.defer(() => server.stop());
    metrics.setWebhookCertificate(purpose, certificates.current.expiresMs);
    certificates.onChange(({ expiresMs }) => metrics.setWebhookCertificate(purpose, expiresMs));
    host.log.info(
      { purpose, port: server.port, isOwnCertificate: files === undefined },
      'webhooks are served',
    );
    return certificates;
  }

  #loadOwn(signal: AbortSignal): Promise<ServingCertificate> {
    const { settings, host, kube } = this.#options;
    const { namespace, webhookSecretName: name } = settings;
    // One certificate for both servers: it must hold the names of both Services.
    const hosts = WEBHOOK_PURPOSES.flatMap((purpose) => hostsOf(webhookTargetOf(settings, purpose)));
    return loadFromSecret({ kube, namespace, name, hosts: [...new Set(hosts)], clock: host.clock }, signal);
  }

  /** The source known under a key; one that cannot be opened is not known. */
  async #source(
    key: WebhookPurpose | 'own',
    load: (signal: AbortSignal) => Promise<ServingCertificate>,
    signal: AbortSignal,
  ): Promise<CertificateSource> {
    const known = this.#sources.get(key) ?? this.#start(load, signal);
    this.#sources.set(key, known);
    try {
      return await known;
    } catch (error) {
      this.#sources.delete(key);
      throw error;
    }
  }

  async #start(
    load: (signal: AbortSignal) => Promise<ServingCertificate>,
    signal: AbortSignal,
  ): Promise<CertificateSource> {
    const { host, running, stop } = this.#options;
    const source = await openCertificateSource({ load, clock: host.clock, log: host.log }, signal);
    const ended = source.run(stop);
    running.defer(() => ended);
    return source;
  }
}

/** The settings that say how API servers reach the servers. */
export type TargetSettings = WebhookSettings & Pick<InstanceSettings, 'namespace'>;

/** How API servers reach one of the servers. */
export function webhookTargetOf(settings: TargetSettings, purpose: WebhookPurpose): WebhookTarget {
  const { webhookUrl, namespace } = settings;
  if (webhookUrl === '') return { type: 'service', namespace, name: settings[`${purpose}ServiceName`] };
  const base = webhookUrl.replace(/\/$/, '');
  const hasPort = /:\d+$/.test(base);
  return { type: 'url', url: hasPort ? base : `${base}:${settings[`${purpose}ListenPort`]}` };
}

/** The certificate files to be used; undefined where we make our own: the default files need not be there. */
function filesOf(settings: WebhookSettings, purpose: WebhookPurpose): CertificateFiles | undefined {
  const names = [`${purpose}ServerCert`, `${purpose}ServerKey`, `${purpose}Ca`] as const;
  const isGiven = names.some(
    (name) => settings[name] !== WEBHOOK_SETTINGS[name].default || existsSync(settings[name]),
  );
  if (!isGiven) return undefined;
  const [cert, key, ca] = names;
  return { cert: settings[cert], key: settings[key], ca: settings[ca] };
}

/** Where the servers listen, and where those of another replica do. */
export function webhookPorts(settings: WebhookSettings): readonly ForwardedPort[] {
  return WEBHOOK_PURPOSES.map((purpose) => {
    const port = settings[`${purpose}ListenPort`];
    return { address: settings[`${purpose}ListenAddress`], port, targetPort: port };
  });
}

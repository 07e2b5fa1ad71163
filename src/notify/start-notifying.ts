/** Notices of a running operator: reads the file of the sinks, looks at the states of modules, and hands changes to senders. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { componentLog, type Logger } from '@addon-operator/base/log';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { Redactor } from '@addon-operator/masking/redactor';
import { matchesList } from '../authorization/keyring.ts';
import type { AllowedHosts } from '../hooks/http/allowed-hosts.ts';
import { postToHook } from '../hooks/http/post-hook.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import {
  contentTypeOf,
  type NoticeOrigin,
  noticeBody,
  type SinkFormat,
  signatureOf,
} from './notice-formats.ts';
import { NoticeSender } from './notice-sender.ts';
import { dueNotices, type Moment, type NoticeRules, PROBLEMS, type SentNotices } from './notices.ts';
import { invalid, parseNotifyConfig, type SecretSource, type SinkConfig, URL_FORM } from './notify-config.ts';

export interface NotifyParts {
  /** Path of the file of `--notify-config`. */
  readonly file: string;
  readonly host: {
    readonly clock: Clock;
    readonly random: () => number;
    readonly log: Logger;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
  };
  /** Receivers on this machine must be listed, as servers of HTTP hooks. */
  readonly hosts: AllowedHosts;
  readonly redactor: Pick<Redactor, 'add' | 'json'>;
  readonly metrics: Pick<OperatorMetrics, 'notification'>;
}

/** What notices are about. */
export interface NotifySubject {
  readonly view: Pick<DaemonView, 'modules' | 'stateKey'>;
  readonly origin: () => NoticeOrigin;
}

/** Sends notices until the signal aborts; at a stop, but not after the loss of the lead, it sends for 2 s what still waits. */
export type Notifying = (subject: NotifySubject, stop: AbortSignal) => Promise<void>;

/** One sink with its credentials. */
interface Sink {
  readonly name: string;
  readonly format: SinkFormat;
  readonly url: URL;
  readonly secret: string | undefined;
  readonly patterns: string;
  readonly rules: NoticeRules;
}

/** As long as a change of a state may take until it is noticed. What changes without a run or a task is noticed later. */
const LOOK_MS = 1_000;
const FULL_LOOK_MS = 10_000;
/** An Alertmanager takes an alert for resolved 5 minutes after the last time it was sent. */
const REPEAT_MS = 60_000;
const MIN_SECRET = 16;

/**
 * Reads the file and the credentials that it names.
 *
 * @throws OperatorError CONFIG_INVALID naming the file and each mistake
 */
export async function readSinks(parts: NotifyParts): Promise<readonly Sink[]> {
  const path = resolve(parts.host.cwd, parts.file);
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    throw invalid(path, [`cannot be read: ${messageOf(error)}`]);
  });
  const sinks: Sink[] = [];
  const problems: string[] = [];
  for (const [index, config] of parseNotifyConfig(content, path).entries())
    try {
      sinks.push(await sinkOf(config, parts));
    } catch (error) {
      problems.push(`sinks[${index}]: ${messageOf(error)}`);
    }
  if (problems.length > 0) throw invalid(path, problems);
  return sinks;
}

async function sinkOf(config: SinkConfig, parts: NotifyParts): Promise<Sink> {
  const { name, webhook, slack, alertmanager, modules = ['*'], states = PROBLEMS } = config;
  const format = webhook === undefined ? (slack === undefined ? 'alertmanager' : 'slack') : 'webhook';
  const { url: inline, urlFrom }: NonNullable<SinkConfig['alertmanager']> =
    webhook ?? slack ?? alertmanager ?? {};
  const address = inline ?? (await readSecret('urlFrom', urlFrom, parts)) ?? '';
  if (!URL_FORM.pattern.test(address) || !URL.canParse(address))
    throw new Error(`${urlFrom === undefined ? 'url' : 'urlFrom'}: must be ${URL_FORM.name}`);
  const url = new URL(address);
  if (format === 'alertmanager') url.pathname = `${url.pathname.replace(/\/$/u, '')}/api/v2/alerts`;
  parts.hosts.requireReachable(url);
  const secret = await readSecret('secretFrom', webhook?.secretFrom, parts);
  if (secret !== undefined && secret.length < MIN_SECRET)
    throw new Error(`secretFrom: must have at least ${MIN_SECRET} characters`);
  const repeatMs = format === 'alertmanager' ? REPEAT_MS : undefined;
  return { name, format, url, secret, patterns: modules.join(','), rules: { states, repeatMs } };
}

/** From here on it is masked wherever it would be shown. */
async function readSecret(
  key: string,
  source: SecretSource | undefined,
  { host: { env, cwd }, redactor }: NotifyParts,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const { file, env: variable = '' } = source;
  const value = (file === undefined ? env[variable] : await readFile(resolve(cwd, file), 'utf8'))?.trim();
  if (value === undefined || value === '')
    throw new Error(
      `${key}: ${file === undefined ? `the variable ${variable} is not set` : `${file} is empty`}`,
    );
  redactor.add(value);
  return value;
}

/** Notices to the sinks of the file. */
export async function createNotifying(parts: NotifyParts): Promise<Notifying> {
  const sinks = await readSinks(parts);
  return async ({ view, origin }, stop) => {
    const { clock } = parts.host;
    const channels = sinks.map((sink) => new Channel(sink, parts, origin));
    const sending = channels.map(async (channel) => await channel.sender.run(stop));
    let [stateKey, lastMs] = ['', Number.NEGATIVE_INFINITY];
    while (!stop.aborted) {
      const now = { steadyMs: clock.steadyMs(), iso: isoTime(clock.wallMs()) };
      const key = view.stateKey();
      if (key !== stateKey || now.steadyMs - lastMs >= FULL_LOOK_MS) {
        [stateKey, lastMs] = [key, now.steadyMs];
        const modules = view.modules();
        for (const channel of channels) channel.look(modules, now);
      }
      await clock.sleep(LOOK_MS, stop).catch(() => undefined);
    }
    await Promise.all(sending);
  };
}

/** A sink with what it was sent. */
class Channel {
  readonly sender: NoticeSender;
  readonly #sink: Sink;
  #sent: SentNotices = new Map();

  constructor(sink: Sink, { host, hosts, redactor, metrics }: NotifyParts, origin: () => NoticeOrigin) {
    const { name, format, url, secret } = sink;
    const { clock, random } = host;
    this.#sink = sink;
    this.sender = new NoticeSender({
      clock,
      random,
      log: componentLog(host, 'notify').child({ sink: name }),
      count: (result) => metrics.notification(name, result),
      post: async (notice, signal) => {
        // Masked for each attempt: a secret may have become known since the last one.
        const body = redactor.json(JSON.stringify(noticeBody(format, notice, origin())));
        const headers = {
          'content-type': contentTypeOf(format),
          ...(secret !== undefined && { 'x-signature': signatureOf(secret, body) }),
        };
        const credentials = { authorization: undefined, secureContext: undefined };
        const request = { url, body, headers, credentials, clock, hosts, ignoresBody: true };
        return (await postToHook(request, signal)).status;
      },
    });
  }

  look(modules: ReturnType<DaemonView['modules']>, now: Moment): void {
    const { patterns, rules } = this.#sink;
    const wanted = modules.filter(({ module }) => matchesList(patterns, module));
    const { sent, notices } = dueNotices(this.#sent, wanted, now, rules);
    this.#sent = sent;
    for (const notice of notices) this.sender.add(notice);
  }
}

/** What receivers get: one HTTP request for each notice, in the format of the sink. Pure. */

import { createHmac } from 'node:crypto';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import { escapeControls } from '@addon-operator/strings/escape-controls';
import type { Notice } from './notices.ts';

export type SinkFormat = 'webhook' | 'slack' | 'alertmanager';

/** The operator that sends. */
export interface NoticeOrigin {
  /** Empty if it has no name. */
  readonly cluster: string;
  readonly namespace: string;
}

/** Characters of an error; the rest is on the page and in the log. */
const MAX_MESSAGE = 2_000;

/** The body of a notice, which is still to be redacted and signed. */
export function noticeBody(format: SinkFormat, notice: Notice, origin: NoticeOrigin): object {
  const message = cutMiddle(notice.message, MAX_MESSAGE);
  switch (format) {
    case 'webhook':
      return cloudEvent({ ...notice, message }, origin);
    case 'slack':
      return { text: slackText({ ...notice, message }, origin) };
    case 'alertmanager':
      return [alert({ ...notice, message }, origin)];
  }
}

export function contentTypeOf(format: SinkFormat): string {
  return format === 'webhook' ? 'application/cloudevents+json; charset=UTF-8' : 'application/json';
}

/** The value of the header `X-Signature`. */
export function signatureOf(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** CloudEvents 1.0, structured mode. */
function cloudEvent({ id, type, since, ...data }: Notice, { cluster, namespace }: NoticeOrigin): object {
  const place = [...(cluster === '' ? [] : ['clusters', cluster]), 'namespaces', namespace];
  return {
    specversion: '1.0',
    id,
    source: `/${[...place, 'addon-operator'].map(encodeURIComponent).join('/')}`,
    type: `io.addon-operator.module.${type}`,
    subject: data.module,
    time: since,
    datacontenttype: 'application/json',
    data: { cluster, namespace, type, since, ...data },
  };
}

const SLACK_SIGNS = {
  problem: ':red_circle:',
  resolved: ':large_green_circle:',
  changed: ':large_blue_circle:',
};

function slackText(notice: Notice, { cluster, namespace }: NoticeOrigin): string {
  const { type, module, status, since, message, remedy } = notice;
  const place = cluster === '' ? namespace : `${cluster}/${namespace}`;
  const lines = [
    `${SLACK_SIGNS[type]} *${module}* is ${status} since ${since} (${place})`,
    message,
    ...(remedy === null ? [] : [`to fix: ${remedy}`]),
  ];
  return lines
    .flatMap((line) => line.split('\n'))
    .map(slackEscaped)
    .join('\n');
}

/** These three characters begin links and mentions. */
function slackEscaped(line: string): string {
  return escapeControls(line).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An alert is known by its labels, so the state, which changes while the problem lasts, is an annotation. */
function alert(notice: Notice, { cluster, namespace }: NoticeOrigin): object {
  const { id, type, module, status, since, problemSince, message, remedy } = notice;
  return {
    labels: {
      alertname: 'AddonOperatorModuleProblem',
      module,
      namespace,
      ...(cluster !== '' && { cluster }),
    },
    annotations: {
      summary: `module ${module} is ${status}`,
      description: message,
      status,
      id,
      ...(remedy !== null && { remedy }),
    },
    startsAt: problemSince ?? since,
    ...(type === 'resolved' && { endsAt: since }),
  };
}

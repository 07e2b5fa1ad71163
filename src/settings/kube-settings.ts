/** Settings of the connection to the API server, and of the rate of requests of each client. */

import { type Setting, type SettingsOf, setting } from './setting.ts';
import { countType, durationType, rateType, textType } from './setting-type.ts';

/** How the API server is reached, and limits of requests to it. */
export const KUBE_SETTINGS = {
  kubeContext: setting('kube-context', 'KUBE_CONTEXT', textType, '', 'Context of the kubeconfig.'),
  kubeConfig: setting(
    'kube-config',
    'KUBE_CONFIG',
    textType,
    '',
    'Path of a kubeconfig; empty uses the service account of the pod, then KUBECONFIG, then ~/.kube/config.',
  ),
  kubeServer: setting(
    'kube-server',
    'KUBE_SERVER',
    textType,
    '',
    'URL of the API server, instead of the configured one.',
  ),
  kubeClientQps: setting(
    'kube-client-qps',
    'KUBE_CLIENT_QPS',
    rateType,
    '0',
    'API requests per second, 0: no limit.',
  ),
  kubeClientBurst: setting(
    'kube-client-burst',
    'KUBE_CLIENT_BURST',
    countType,
    '10',
    'Burst of API requests, with --kube-client-qps.',
  ),
  objectPatcherQps: setting(
    'object-patcher-kube-client-qps',
    'OBJECT_PATCHER_KUBE_CLIENT_QPS',
    rateType,
    '0',
    'API requests per second for object patches of hooks, 0: no limit.',
  ),
  objectPatcherBurst: setting(
    'object-patcher-kube-client-burst',
    'OBJECT_PATCHER_KUBE_CLIENT_BURST',
    countType,
    '10',
    'Burst of API requests for object patches of hooks, with --object-patcher-kube-client-qps.',
  ),
  objectPatcherTimeoutMs: setting(
    'object-patcher-kube-client-timeout',
    'OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT',
    durationType,
    '10s',
    'Time limit of an API request for object patches of hooks.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type KubeSettings = SettingsOf<typeof KUBE_SETTINGS>;

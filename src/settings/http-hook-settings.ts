import { type Setting, setting } from './setting.ts';
import { listType } from './setting-type.ts';

/** Settings of HTTP hooks and of the reconcile webhooks of modules. */
export const HTTP_HOOK_SETTINGS = {
  httpHookAllowedHosts: setting(
    'http-hook-allowed-hosts',
    'ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS',
    listType(',', 'list'),
    '*.svc,*.svc.cluster.local',
    'Hosts that objects in the cluster may name for HTTP hooks: names, *.ENDING, addresses. Local addresses must be on it for any HTTP hook.',
  ),
  httpHookChildNamespaces: setting(
    'http-hook-child-namespaces',
    'ADDON_OPERATOR_HTTP_HOOK_CHILD_NAMESPACES',
    listType(',', 'list'),
    '',
    'Where reconcile webhooks of modules may add objects besides the namespaces of their module: namespaces, * for all, Cluster for cluster-scoped kinds.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

import { type Setting, setting } from './setting.ts';
import { listType } from './setting-type.ts';

/** Settings of HTTP hooks and of the reconcile webhooks of modules. */
export const HTTP_HOOK_SETTINGS = {
  httpHookAllowedHosts: setting(
    'http-hook-allowed-hosts',
    'ADDON_OPERATOR_HTTP_HOOK_ALLOWED_HOSTS',
    listType(',', 'list'),
    '*.svc,*.svc.cluster.local',
    'Allowed hosts for HTTP hooks whose URL comes from objects in the cluster: names, *.SUFFIX, addresses. Local addresses must be listed for any HTTP hook.',
  ),
  httpHookChildNamespaces: setting(
    'http-hook-child-namespaces',
    'ADDON_OPERATOR_HTTP_HOOK_CHILD_NAMESPACES',
    listType(',', 'list'),
    '',
    'Where reconcile webhooks may add objects in addition to the namespaces of their module: namespaces, * for all, Cluster for cluster-scoped kinds.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

import { type Setting, setting } from './setting.ts';
import {
  booleanType,
  countType,
  durationType,
  rateType,
  type SettingType,
  textType,
  wordType,
} from './setting-type.ts';

const HELM_DRIVERS = ['secret', 'secrets', 'configmap', 'configmaps'] as const;

/** helm has drivers `memory` and `sql` too. */
export const helmDriverType: SettingType<(typeof HELM_DRIVERS)[number]> = {
  ...wordType(HELM_DRIVERS),
  accepted: `${HELM_DRIVERS.join(', ')}; not memory or sql, for releases are read from the cluster`,
};

/** Settings of helm and of what it has deployed. */
export const HELM_SETTINGS = {
  helmHistoryMax: setting(
    'helm-history-max',
    'HELM_HISTORY_MAX',
    countType,
    '10',
    'Revisions that helm keeps of a release; 0 keeps all.',
  ),
  helmTimeoutMs: setting(
    'helm-timeout',
    'HELM_TIMEOUT',
    durationType,
    '20m',
    'Time limit of a helm operation.',
  ),
  helmIgnoreRelease: setting(
    'helm-ignore-release',
    'HELM_IGNORE_RELEASE',
    textType,
    '',
    'Release that the clean-up of unknown releases spares.',
  ),
  purgesForeignReleases: setting(
    'purge-foreign-releases',
    'ADDON_OPERATOR_PURGE_FOREIGN_RELEASES',
    booleanType,
    'false',
    'Let the clean-up after the first converge also remove releases without a module that others made.',
  ),
  allowsEmptyModulesDir: setting(
    'allow-empty-modules-dir',
    'ADDON_OPERATOR_ALLOW_EMPTY_MODULES_DIR',
    booleanType,
    'false',
    'Let the clean-up after the first converge remove releases although a modules directory that held modules before is empty now.',
  ),
  helmBinPath: setting(
    'helm-bin-path',
    'HELM_BIN_PATH',
    textType,
    '',
    'The helm executable; empty looks in PATH, then takes the pinned copy.',
  ),
  helmMonitorQps: setting(
    'helm-monitor-kube-client-qps',
    'HELM_MONITOR_KUBE_CLIENT_QPS',
    rateType,
    '5',
    'API requests per second of the resource monitor.',
  ),
  helmMonitorBurst: setting(
    'helm-monitor-kube-client-burst',
    'HELM_MONITOR_KUBE_CLIENT_BURST',
    countType,
    '10',
    'API requests of the resource monitor at once.',
  ),
  driftMode: setting(
    'drift-mode',
    'ADDON_OPERATOR_DRIFT_MODE',
    wordType(['off', 'warn', 'heal']),
    'off',
    'What is done when others change objects of releases, unless module.yaml says so: off (nothing), warn, heal (change them back).',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;

/** Settings of helm, of drift detection and of the clean-up of unknown releases. */

import { type Setting, type SettingsOf, setting, variable } from './setting.ts';
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
const helmDriverType: SettingType<(typeof HELM_DRIVERS)[number]> = {
  ...wordType(HELM_DRIVERS),
  accepted: `${HELM_DRIVERS.join(', ')}; memory and sql are not supported, because releases are read from the cluster`,
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
  helmParallel: setting(
    'helm-parallel',
    'ADDON_OPERATOR_HELM_PARALLEL',
    countType,
    '0',
    'Releases that helm deploys or uninstalls at the same time; 0: one more than the machine has processors.',
  ),
  helmIgnoreRelease: setting(
    'helm-ignore-release',
    'HELM_IGNORE_RELEASE',
    textType,
    '',
    'Release that the clean-up of unknown releases never removes.',
  ),
  purgesForeignReleases: setting(
    'purge-foreign-releases',
    'ADDON_OPERATOR_PURGE_FOREIGN_RELEASES',
    booleanType,
    'false',
    'Also remove releases without a module that were not created by this operator in the clean-up after the first converge.',
  ),
  allowsEmptyModulesDir: setting(
    'allow-empty-modules-dir',
    'ADDON_OPERATOR_ALLOW_EMPTY_MODULES_DIR',
    booleanType,
    'false',
    'Remove releases in the clean-up after the first converge even if a modules directory that contained modules before is now empty.',
  ),
  helmBinPath: setting(
    'helm-bin-path',
    'HELM_BIN_PATH',
    textType,
    '',
    'The helm executable; empty means the one in PATH, else the pinned copy.',
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
    'Burst of API requests of the resource monitor.',
  ),
  // The default for modules whose module.yaml sets no mode.
  driftMode: setting(
    'drift-mode',
    'ADDON_OPERATOR_DRIFT_MODE',
    wordType(['off', 'warn', 'heal']),
    'off',
    'What happens when other clients change objects of releases, unless module.yaml sets it: off (nothing), warn, heal (correct them).',
  ),
  // Releases are read from the cluster, so only drivers that store them there are accepted.
  helmDriver: variable('HELM_DRIVER', helmDriverType, 'secret', 'Where helm stores releases.'),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type HelmSettings = SettingsOf<typeof HELM_SETTINGS>;

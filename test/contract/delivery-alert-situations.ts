import { type AlertSituation, of } from './alert-situation.ts';

const WEB = { module: 'web' };

/** Situations of modules that come from sources. */
export const DELIVERY_ALERT_SITUATIONS: readonly AlertSituation[] = [
  {
    alert: 'AddonOperatorModuleSourceUnavailable',
    severity: 'warning',
    fires: [of('module_source_ready', '0x40', { source: 'platform' })],
    // It was away for twenty minutes.
    quiet: [of('module_source_ready', '0x20 1x20', { source: 'platform' })],
    atMinutes: 35,
    labels: { source: 'platform' },
    summary: 'ModuleSource platform cannot be read',
  },
  {
    alert: 'AddonOperatorModuleUpdateRefused',
    severity: 'warning',
    fires: [of('module_update_pending', '1x30', { ...WEB, reason: 'Unverified', needs: 'fix' })],
    quiet: [of('module_update_pending', '1x30', { ...WEB, reason: 'Soaking', needs: 'time' })],
    atMinutes: 20,
    labels: { ...WEB, reason: 'Unverified', needs: 'fix' },
    summary: 'An update of module web is refused (Unverified)',
  },
  {
    alert: 'AddonOperatorModuleUpdateWaits',
    severity: 'info',
    fires: [of('module_update_pending', '1x1500', { ...WEB, reason: 'NeedsApproval', needs: 'decision' })],
    // A window that opens needs no person.
    quiet: [of('module_update_pending', '1x1500', { ...WEB, reason: 'OutsideWindow', needs: 'time' })],
    atMinutes: 1_500,
    labels: { ...WEB, reason: 'NeedsApproval', needs: 'decision' },
    summary: 'An update of module web has been waiting for a person for a day (NeedsApproval)',
  },
  {
    alert: 'AddonOperatorModuleUpdateFailed',
    severity: 'warning',
    fires: [of('module_update_failed', '1x10', WEB)],
    quiet: [of('module_update_running', '1x10', WEB)],
    atMinutes: 5,
    labels: WEB,
    summary: 'An update of module web has failed',
  },
  {
    alert: 'AddonOperatorModuleUpdateHangs',
    severity: 'warning',
    fires: [of('module_update_running', '1x400', WEB)],
    // Its gates pass after an hour.
    quiet: [of('module_update_running', '1x60 stale', WEB)],
    atMinutes: 390,
    labels: WEB,
    summary: 'An update of module web has not passed its gates for six hours',
  },
  {
    alert: 'AddonOperatorModuleContentMissing',
    severity: 'critical',
    fires: [of('module_content_missing', '1x20', WEB)],
    // A pull that takes a minute.
    quiet: [of('module_content_missing', '1x1 stale', WEB)],
    atMinutes: 10,
    labels: WEB,
    summary: 'The files of module web are missing',
  },
];

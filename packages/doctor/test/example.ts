import { findingsOf, findingsText } from '@addon-operator/doctor';

const findings = findingsOf({
  machine: { tmpDir: { path: '/tmp', isNoexec: false, freeBytes: 20 * 1024 * 1024 } },
  failure: { code: 'MODULE_INVALID', message: '/modules/030-web/module.yaml: requirez: unknown key' },
});
process.stdout.write(findingsText(findings));

/** Commands of the pages that `test/node/pages.test.ts` runs on a real node, in this order. */
export const POD_COMMANDS: readonly string[] = [
  'install',
  'rbac',
  'running-deploy',
  'deploy',
  'deploy-check',
  'running-pod',
  'running-rules',
  'deploy-high-availability',
  'uninstall-modules',
  'uninstall-chart',
  'uninstall-rest',
];

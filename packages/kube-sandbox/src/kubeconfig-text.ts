/** A kubeconfig for the sandbox: no credentials, for it asks for none. */
export function kubeconfigText(url: string): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: sandbox',
    '  cluster:',
    `    server: ${url}`,
    'contexts:',
    '- name: sandbox',
    '  context:',
    '    cluster: sandbox',
    '    user: sandbox',
    'current-context: sandbox',
    'users:',
    '- name: sandbox',
    '  user: {}',
    '',
  ].join('\n');
}

import { freePorts } from './control-plane/free-ports.ts';
import { type Backend, World } from './world.ts';

const ROOT = '/apis/admissionregistration.k8s.io/v1';
/** Path of the configurations of validating webhooks. */
export const VALIDATING = `${ROOT}/validatingwebhookconfigurations`;
const MUTATING = `${ROOT}/mutatingwebhookconfigurations`;

/** A world whose webhooks the API server reaches on a loopback port. */
export async function createWorld(backend: Backend, flags: Readonly<Record<string, string>> = {}) {
  const [port = 0] = await freePorts(1);
  const name = `test-${port}`;
  const world = await World.create(backend, {
    flags: {
      'webhook-url': 'https://127.0.0.1',
      'validating-webhook-listen-address': '127.0.0.1',
      'validating-webhook-listen-port': String(port),
      'validating-webhook-configuration-name': name,
      ...flags,
    },
  });
  return {
    world,
    port,
    name: `${name}-hooks`,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      for (const root of [VALIDATING, MUTATING])
        await backend.request({ method: 'DELETE', path: `${root}/${name}-hooks` });
    },
  };
}

/** Configuration of a webhook for ConfigMaps with the label `checked` in the namespace of the world. */
export function webhook(
  world: World,
  kind: 'kubernetesValidating' | 'kubernetesMutating',
  more = '',
): string {
  return `${kind}:
- name: ${kind === 'kubernetesValidating' ? 'check' : 'change'}.example.com
  namespace: {labelSelector: {matchLabels: {kubernetes.io/metadata.name: ${world.namespace}}}}
  labelSelector: {matchLabels: {checked: "yes"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE], scope: Namespaced}]
${more}`;
}

/** Creates a ConfigMap that webhooks are asked about, unless it has other labels. */
export const create = (
  world: World,
  name: string,
  labels: Readonly<Record<string, string>> = { checked: 'yes' },
) =>
  world.backend.request({
    method: 'POST',
    path: world.path('configmaps'),
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { number: '1' } },
  });

/** The API server takes up to a second to use what it was sent. */
export async function eventually<T>(ask: () => Promise<T>, isFine: (response: T) => boolean): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await ask();
    if (isFine(response) || attempt === 600) return response;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether the API server refused, for another reason than that there is such an object: one that came before it knew of webhooks. */
export const isDenied = ({ status }: { readonly status: number }): boolean => status >= 400 && status !== 409;

/** Answers by the name of the object: `bad…` is denied, `warn…` allowed with a warning, the rest allowed. */
export const CHECKER = `
case "$(cat "$BINDING_CONTEXT_PATH")" in
  *'"name":"bad'*) echo '{"allowed":false,"message":"this name is bad","warnings":["try another"]}' ;;
  *'"name":"warn'*) echo '{"allowed":true,"warnings":["look out"]}' ;;
  *) echo '{"allowed":true}' ;;
esac > "$VALIDATING_RESPONSE_PATH"
cat "$BINDING_CONTEXT_PATH"; echo`;

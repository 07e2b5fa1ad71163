import type { PodOperator } from './pod-operator.ts';
import type { TestNode } from './test-node.ts';

/** The name of the webhook that {@link ANSWERING_HOOK} registers; it is called for ConfigMaps with the label `answered`. */
const LABEL = 'answered';

/** Adds the name of the pod that responds to a ConfigMap. */
export const ANSWERING_HOOK = `#!/bin/sh
if [ "$1" = --config ]; then
  cat <<'YAML'
configVersion: v1
kubernetesMutating:
- name: answer.example.com
  timeoutSeconds: 30
  labelSelector: {matchLabels: {${LABEL}: "yes"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], scope: Namespaced}]
YAML
  exit
fi
patch=$(printf '[{"op": "add", "path": "/data/by", "value": "%s"}]' "$HOSTNAME" | base64 -w 0)
echo "{\\"allowed\\": true, \\"patch\\": \\"$patch\\"}" > "$VALIDATING_RESPONSE_PATH"
`;

/** One request that a webhook was called for. Times are steady, in milliseconds. */
export interface AdmissionResult {
  readonly startMs: number;
  readonly endMs: number;
  /** The pod that answered; undefined when the request failed. */
  readonly pod: string | undefined;
  /** Why the request failed. */
  readonly error: string | undefined;
}

/** Sends requests that a webhook is called for, from several clients, until it is stopped. */
export class AdmissionLoad implements AsyncDisposable {
  readonly results: AdmissionResult[] = [];
  readonly #node: TestNode;
  readonly #namespace: string;
  readonly #clients: Promise<unknown>;
  #isStopped = false;

  constructor(node: TestNode, { namespace }: PodOperator, clients = 3) {
    this.#node = node;
    this.#namespace = namespace;
    this.#clients = Promise.all(Array.from({ length: clients }, async () => await this.#send()));
  }

  /** Resolves when the requests that are under way have ended. */
  async stop(): Promise<readonly AdmissionResult[]> {
    this.#isStopped = true;
    await this.#clients;
    return this.results;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get failures(): readonly AdmissionResult[] {
    return this.results.filter(({ error }) => error !== undefined);
  }

  async #send(): Promise<void> {
    while (!this.#isStopped) this.results.push(await askOnce(this.#node, this.#namespace));
  }
}

/** One request; it creates nothing. */
export async function askOnce(node: TestNode, namespace: string): Promise<AdmissionResult> {
  const startMs = performance.now();
  const end = (result: Pick<AdmissionResult, 'pod' | 'error'>): AdmissionResult => ({
    startMs,
    endMs: performance.now(),
    ...result,
  });
  try {
    const { status, body } = await node.probe.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
      body: { metadata: { generateName: 'asked-', labels: { [LABEL]: 'yes' } }, data: { asked: 'yes' } },
    });
    const { data, message } = body as {
      readonly data?: Readonly<Record<string, string>>;
      readonly message?: string;
    };
    const pod = data?.['by'];
    if (pod !== undefined) return end({ pod, error: undefined });
    return end({ pod, error: `${status}: ${message ?? 'no webhook was called'}` });
  } catch (error) {
    return end({ pod: undefined, error: String(error) });
  }
}

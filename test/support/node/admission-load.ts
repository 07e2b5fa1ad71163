import type { ProbeRequest } from '../control-plane/api-probe.ts';
import type { PodOperator } from './pod-operator.ts';
import type { TestNode } from './test-node.ts';

/** ConfigMaps with this label are changed (`yes`) or refused (`no`) by {@link RESPONDING_HOOK}. */
const LABEL = 'answered';
const GROUP = 'answers.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const WEBHOOK = (value: string): string => `
  timeoutSeconds: 30
  labelSelector: {matchLabels: {${LABEL}: "${value}"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], scope: Namespaced}]`;

/** Responds with the name of its pod: in a changed ConfigMap, in the refusal of one, and in a converted object. */
export const RESPONDING_HOOK = `#!/bin/sh
if [ "$1" = --config ]; then
  cat <<'YAML'
configVersion: v1
kubernetesMutating:
- name: change.example.com${WEBHOOK('yes')}
kubernetesValidating:
- name: refuse.example.com${WEBHOOK('no')}
kubernetesCustomResourceConversion:
- name: convert
  crdName: answers.${GROUP}
  conversions: [{fromVersion: ${GROUP}/v1, toVersion: ${GROUP}/v2}]
YAML
  exit
fi
case $(jq -r '.[0].binding' "$BINDING_CONTEXT_PATH") in
change.example.com)
  patch=$(printf '[{"op": "add", "path": "/data/by", "value": "%s"}]' "$HOSTNAME" | base64 -w 0)
  echo "{\\"allowed\\": true, \\"patch\\": \\"$patch\\"}" > "$VALIDATING_RESPONSE_PATH" ;;
refuse.example.com)
  echo "{\\"allowed\\": false, \\"message\\": \\"refused by=$HOSTNAME\\"}" > "$VALIDATING_RESPONSE_PATH" ;;
*)
  jq --arg by "$HOSTNAME" '{convertedObjects: [.[0].review.request.objects[] | .apiVersion = "${GROUP}/v2" | .spec = {by: $by}]}' \
    "$BINDING_CONTEXT_PATH" > "$CONVERSION_RESPONSE_PATH" ;;
esac
`;

/** Creates the kind that {@link RESPONDING_HOOK} converts. */
export async function createConvertedKind({ probe }: TestNode): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = (name: string, storage: boolean): object => ({ name, storage, served: true, schema });
  await probe.expect({
    method: 'POST',
    path: DEFINITIONS,
    body: {
      metadata: { name: `answers.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: 'answers', kind: 'Answer' },
        versions: [version('v1', true), version('v2', false)],
      },
    },
  });
}

/** Where the API server has that kind. */
export const CONVERTED_KIND = `${DEFINITIONS}/answers.${GROUP}`;

/** An object that {@link RESPONDING_HOOK} converts whenever it is read as v2. */
export async function createConverted({ probe }: TestNode, namespace: string): Promise<void> {
  const path = `/apis/${GROUP}/v1/namespaces/${namespace}/answers`;
  const body = { apiVersion: `${GROUP}/v1`, kind: 'Answer', metadata: { name: 'one' }, spec: {} };
  await probe.expect({ method: 'POST', path, body });
}

export const WEBHOOK_KINDS = ['mutating', 'validating', 'conversion'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** One request that a webhook was called for. Times are steady, in milliseconds. */
export interface AdmissionResult {
  readonly kind: WebhookKind;
  readonly startMs: number;
  readonly endMs: number;
  /** The pod that answered; undefined when the request failed. */
  readonly pod: string | undefined;
  /** Why the request failed. */
  readonly error: string | undefined;
}

/** Sends requests that webhooks of all kinds are called for, from several clients, until it is stopped. */
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
    for (let sent = 0; !this.#isStopped; sent += 1) {
      const kind = WEBHOOK_KINDS[sent % WEBHOOK_KINDS.length] ?? 'mutating';
      this.results.push(await requestOnce(this.#node, this.#namespace, kind));
    }
  }
}

/** One request; it creates nothing. */
export async function requestOnce(
  node: TestNode,
  namespace: string,
  kind: WebhookKind,
): Promise<AdmissionResult> {
  const startMs = performance.now();
  const end = (result: Pick<AdmissionResult, 'pod' | 'error'>): AdmissionResult => ({
    kind,
    startMs,
    endMs: performance.now(),
    ...result,
  });
  try {
    const { status, body } = await node.probe.request(requestOf(kind, namespace));
    const pod = responderOf(body as Reply);
    if (pod !== undefined) return end({ pod, error: undefined });
    return end({ pod, error: `${kind}: ${status}: ${(body as Reply).message ?? 'no webhook was called'}` });
  } catch (error) {
    return end({ pod: undefined, error: `${kind}: ${String(error)}` });
  }
}

interface Reply {
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly by?: string };
  readonly message?: string;
}

function requestOf(kind: WebhookKind, namespace: string): ProbeRequest {
  if (kind === 'conversion') return { path: `/apis/${GROUP}/v2/namespaces/${namespace}/answers/one` };
  const labels = { [LABEL]: kind === 'mutating' ? 'yes' : 'no' };
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
    body: { metadata: { generateName: 'asked-', labels }, data: { asked: 'yes' } },
  };
}

function responderOf({ data, spec, message }: Reply): string | undefined {
  return data?.['by'] ?? spec?.by ?? /refused by=(\S+)/.exec(message ?? '')?.[1];
}

import { fieldsOf, isObject } from '@addon-operator/json';
import { type Fields, fieldsAt } from './json-access.ts';

/** Defaults of the fields of a pod spec. */
const POD_DEFAULTS: Fields = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

const CONTAINER_DEFAULTS: Fields = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

const PROBE_DEFAULTS: Fields = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

const DEFAULT_FILE_MODE = 420;

/** `defaults` under what `value` says. */
export function withDefaults(value: unknown, defaults: Fields): Record<string, unknown> {
  return { ...defaults, ...fieldsOf(value) };
}

/** Applies `change` to the field of `owner` if it is present. */
export function changeField(owner: Fields, field: string, change: (value: unknown) => unknown): Fields {
  return owner[field] === undefined || owner[field] === null
    ? owner
    : { ...owner, [field]: change(owner[field]) };
}

/** Applies `change` to each object in the list `field` of `owner`. */
export function changeItems(owner: Fields, field: string, change: (item: Fields) => Fields): Fields {
  return changeField(owner, field, (items) =>
    Array.isArray(items) ? items.map((item) => (isObject(item) ? change(item) : item)) : items,
  );
}

/** A pod spec as the API keeps it. */
export function defaultPodSpec(value: unknown): Fields {
  let spec: Fields = withDefaults(value, POD_DEFAULTS);
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    spec = changeItems(spec, field, defaultContainer);
  }
  if (typeof spec['serviceAccountName'] === 'string' && spec['serviceAccount'] === undefined)
    spec = { ...spec, serviceAccount: spec['serviceAccountName'] };
  return changeItems(spec, 'volumes', defaultVolume);
}

/** A pod template as the API keeps it. */
export function defaultPodTemplate(value: unknown): Fields {
  const template = fieldsAt(value);
  return { ...template, metadata: fieldsAt(template, 'metadata'), spec: defaultPodSpec(template['spec']) };
}

function defaultContainer(container: Fields): Fields {
  let changed: Fields = {
    ...withDefaults(container, CONTAINER_DEFAULTS),
    imagePullPolicy: container['imagePullPolicy'] ?? pullPolicyOf(container['image']),
  };
  changed = changeItems(changed, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }));
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    changed = changeField(changed, probe, (value) => defaultHttpGet(withDefaults(value, PROBE_DEFAULTS)));
  }
  return changeItems(changed, 'env', (variable) => changeField(variable, 'valueFrom', defaultEnvSource));
}

function pullPolicyOf(image: unknown): string {
  if (typeof image !== 'string' || image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultHttpGet(probe: Fields): Fields {
  const withHttp = changeField(probe, 'httpGet', (value) =>
    withDefaults(value, { path: '/', scheme: 'HTTP' }),
  );
  return changeField(withHttp, 'grpc', (value) => withDefaults(value, { service: '' }));
}

function defaultEnvSource(source: unknown): unknown {
  return isObject(source)
    ? changeField(source, 'fieldRef', (value) => withDefaults(value, { apiVersion: 'v1' }))
    : source;
}

const SOURCES_WITH_MODE = ['configMap', 'secret', 'downwardAPI', 'projected'];

function defaultVolume(volume: Fields): Fields {
  if (!Object.values(volume).some(isObject)) return { ...volume, emptyDir: {} };
  let changed = volume;
  for (const source of SOURCES_WITH_MODE) {
    changed = changeField(changed, source, (value) =>
      withDefaults(value, { defaultMode: DEFAULT_FILE_MODE }),
    );
  }
  return changeField(changed, 'hostPath', (value) => withDefaults(value, { type: '' }));
}

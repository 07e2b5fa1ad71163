/**
 * The kinds of Flux and Argo CD that the page about GitOps uses: their names, versions, required fields and the fields of the
 * page, as facts in our own words. With strict validation the API server refuses a field that is misspelt, has another type, or
 * belongs elsewhere.
 */

type Schema = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, Schema>>;

interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: Schema;
}

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer' };
const duration: Schema = { type: 'string', pattern: String.raw`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$` };
const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

/** Fields that end with `!` are required. */
function fields(entries: Fields): Schema {
  const names = Object.keys(entries);
  const properties = Object.fromEntries(
    Object.entries(entries).map(([name, schema]) => [name.replace('!', ''), schema]),
  );
  const required = names.filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function list(items: Schema): Schema {
  return { type: 'array', items };
}

function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

const strategy = fields({ 'name!': oneOf('RemediateOnFailure', 'RetryOnFailure'), retryInterval: duration });
const crds = oneOf('Skip', 'Create', 'CreateReplace');
const flux = { version: 'v1' } as const;

const KINDS: readonly KindFacts[] = [
  {
    ...flux,
    group: 'source.toolkit.fluxcd.io',
    kind: 'OCIRepository',
    plural: 'ocirepositories',
    spec: fields({
      'interval!': duration,
      'url!': { type: 'string', pattern: '^oci://.*$' },
      layerSelector: fields({ mediaType: text, operation: oneOf('extract', 'copy') }),
      ref: fields({ digest: text, semver: text, semverFilter: text, tag: text }),
    }),
  },
  {
    group: 'helm.toolkit.fluxcd.io',
    version: 'v2',
    kind: 'HelmRelease',
    plural: 'helmreleases',
    spec: fields({
      'interval!': duration,
      releaseName: text,
      targetNamespace: text,
      chartRef: fields({
        'kind!': oneOf('OCIRepository', 'HelmChart', 'ExternalArtifact'),
        'name!': text,
        namespace: text,
      }),
      install: fields({ createNamespace: flag, crds, strategy }),
      upgrade: fields({ crds, strategy }),
      driftDetection: fields({ mode: oneOf('enabled', 'warn', 'disabled') }),
      values: anything,
    }),
  },
  {
    ...flux,
    group: 'image.toolkit.fluxcd.io',
    kind: 'ImageRepository',
    plural: 'imagerepositories',
    spec: fields({ 'image!': text, 'interval!': duration }),
  },
  {
    ...flux,
    group: 'image.toolkit.fluxcd.io',
    kind: 'ImagePolicy',
    plural: 'imagepolicies',
    spec: fields({
      'imageRepositoryRef!': fields({ 'name!': text, namespace: text }),
      'policy!': fields({ semver: fields({ 'range!': text }) }),
    }),
  },
  {
    ...flux,
    group: 'image.toolkit.fluxcd.io',
    kind: 'ImageUpdateAutomation',
    plural: 'imageupdateautomations',
    spec: fields({
      'interval!': duration,
      'sourceRef!': fields({ 'kind!': oneOf('GitRepository'), 'name!': text, namespace: text }),
      git: fields({
        checkout: fields({ 'ref!': fields({ branch: text }) }),
        'commit!': fields({ 'author!': fields({ 'email!': text, name: text }), messageTemplate: text }),
        push: fields({ branch: text }),
      }),
      update: fields({ path: text, strategy: oneOf('Setters') }),
    }),
  },
  {
    ...flux,
    group: 'kustomize.toolkit.fluxcd.io',
    kind: 'Kustomization',
    plural: 'kustomizations',
    spec: fields({
      'interval!': duration,
      'prune!': flag,
      'sourceRef!': fields({
        'kind!': oneOf('OCIRepository', 'GitRepository', 'Bucket', 'ExternalArtifact'),
        'name!': text,
      }),
      retryInterval: duration,
      timeout: duration,
      path: text,
      wait: flag,
      dependsOn: list(fields({ 'name!': text, namespace: text })),
    }),
  },
  {
    group: 'argoproj.io',
    version: 'v1alpha1',
    kind: 'Application',
    plural: 'applications',
    spec: fields({
      'project!': text,
      'destination!': fields({ name: text, namespace: text, server: text }),
      source: fields({
        'repoURL!': text,
        chart: text,
        path: text,
        targetRevision: text,
        helm: fields({ releaseName: text, skipTests: flag, valuesObject: { type: 'object', ...anything } }),
      }),
      ignoreDifferences: list(
        fields({
          'kind!': text,
          group: text,
          name: text,
          namespace: text,
          managedFieldsManagers: list(text),
        }),
      ),
      syncPolicy: fields({
        automated: fields({ prune: flag, selfHeal: flag }),
        syncOptions: list(text),
        retry: fields({
          limit: count,
          backoff: fields({ duration: text, factor: count, maxDuration: text }),
        }),
      }),
    }),
  },
];

/** The part of a CustomResourceDefinition that says where its objects are. */
export interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/** Their definitions, as objects for the API server. */
export const GITOPS_DEFINITIONS: readonly Definition[] = KINDS.map(
  ({ group, version, kind, plural, spec }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: fields({ 'spec!': spec }) },
        },
      ],
    },
  }),
);

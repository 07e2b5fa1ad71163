import { gzipSync } from 'node:zlib';
import { oldApi } from '../api-versions.ts';
import { parseHelmIgnore } from '../helm-ignore.ts';
import { type FileFacts, type LintFacts, textAt } from '../lint-facts.ts';
import { allObjects, containersOf, podSpecOf, type RenderedObject, renderedObjects } from '../rendered.ts';
import type { Check, Found, Rule } from '../rule.ts';

const MIB = 1024 * 1024;
const NEAR_LIMIT = 0.7;
/** base64 has four characters for three bytes. */
const BASE64_FACTOR = 4 / 3;

/** A rule about each rendered object. */
export function ofObjects(
  check: (object: RenderedObject, parsed: LintFacts['parsed']) => Iterable<string>,
): Check {
  return function* (module): Iterable<Found> {
    for (const object of allObjects(module))
      for (const message of check(object, module.parsed))
        yield { path: object.template, object: object.title, message };
  };
}

/** Rules about what the chart renders to. */
export const CHART_RULES: readonly Rule[] = [
  {
    code: 'render-fails',
    level: 'error',
    summary: 'The chart renders with the values that the module has, and with each file in tests/values/.',
    explanation:
      'Helm renders the chart with the merged values of the module, and once more with each `tests/values/*.yaml` merged over them, which has the form of the ConfigMap: a key for the module, and `global`. The message is that of helm.',
  },
  {
    code: 'render-differs',
    level: 'warning',
    summary: 'Two renderings with the same values are equal.',
    explanation:
      'A template with `now`, `randAlphaNum` or `genCA` renders differently each time, so the release is upgraded each time. Generate values in a hook, or use `lookup`.',
    check: differences,
  },
  {
    code: 'object-twice',
    level: 'error',
    summary: 'The chart renders each object once.',
    explanation:
      'Of two objects with the same kind, namespace and name helm applies one over the other, or fails.',
    check: repeatedObjects,
  },
  {
    code: 'namespace-missing',
    level: 'warning',
    onlyWith: 'code',
    summary: 'Namespaced objects name their namespace.',
    explanation:
      'Objects without one are deployed to the namespace of the operator, with its Secrets and its account. Add `metadata.namespace`.',
    check: ofObjects(function* ({ apiVersion, kind, namespace }, { namespacedKinds }) {
      if (namespace === '' && namespacedKinds.has(`${apiVersion}/${kind}`))
        yield 'has no namespace, so it comes to that of the operator';
    }),
  },
  {
    code: 'api-removed',
    level: 'error',
    summary: 'Objects have API versions that Kubernetes serves.',
    explanation:
      'The API server refuses the object. Use the version that the message names; fields may differ.',
    check: ofObjects(function* ({ apiVersion, kind }) {
      const old = oldApi(apiVersion, kind);
      if (old?.removedIn !== undefined)
        yield `${apiVersion} ${kind} is not served since Kubernetes ${old.removedIn}: use ${old.use}`;
    }),
  },
  {
    code: 'api-deprecated',
    level: 'warning',
    summary: 'Objects have API versions that are not deprecated.',
    explanation: 'A later version of Kubernetes will not serve it any more.',
    check: ofObjects(function* ({ apiVersion, kind }) {
      const old = oldApi(apiVersion, kind);
      if (old !== undefined && old.removedIn === undefined)
        yield `${apiVersion} ${kind} is deprecated: use ${old.use}`;
    }),
  },
  {
    code: 'crd-in-templates',
    level: 'warning',
    summary: 'CustomResourceDefinitions are in crds/.',
    explanation:
      'With the release of the module helm deletes its CRDs, and with them all objects of their kinds. The operator installs `crds/` before the module runs, and keeps them.',
    check: ofObjects(function* ({ kind }) {
      if (kind === 'CustomResourceDefinition')
        yield 'is deleted with the release, and all objects of its kind with it';
    }),
  },
  {
    code: 'release-near-limit',
    level: 'warning',
    summary: 'A release is smaller than 70 % of 1 MiB.',
    explanation:
      'Helm keeps the chart and its manifests in one Secret, which can have 1 MiB. Leave out files with `.helmignore`, or split the module.',
    check: function* (module) {
      const bytes = releaseBytes(module);
      if (bytes > NEAR_LIMIT * MIB)
        yield {
          path: '',
          message: `a release takes about ${Math.round(bytes / 1024)} KiB of the 1024 KiB that a Secret can have`,
        };
    },
  },
  {
    code: 'image-not-pinned',
    level: 'warning',
    summary: 'Images have a tag other than latest, or a digest.',
    explanation:
      'What `latest` means changes without a change of the module, and nodes may run different images. Name a version, better a digest.',
    check: ofObjects((object) =>
      imagesOf(object)
        .filter(isFloating)
        .map((image) => `image ${image} is not pinned`),
    ),
  },
  {
    code: 'image-without-digest',
    level: 'warning',
    onlyWith: 'code',
    summary: 'Images have a digest.',
    explanation: 'A tag can be moved to another image, a digest cannot.',
    check: ofObjects((object) =>
      imagesOf(object)
        .filter((image) => !image.includes('@'))
        .map((image) => `image ${image} has no digest`),
    ),
  },
];

function* differences({ parsed }: LintFacts): Iterable<Found> {
  for (const { manifests, valuesFile } of parsed.renderings) {
    const [first, second] = manifests;
    if (first === second) continue;
    const others = new Map(
      renderedObjects(second).map((object) => [object.title, JSON.stringify(object.object)]),
    );
    const changed = renderedObjects(first).filter(
      ({ title, object }) => others.get(title) !== JSON.stringify(object),
    );
    const values = valuesFile === '' ? '' : ` with ${valuesFile}`;
    if (changed.length === 0) yield { path: 'templates', message: `renders differently each time${values}` };
    for (const { template, title } of changed)
      yield { path: template, object: title, message: `renders differently each time${values}` };
  }
}

function* repeatedObjects({ parsed }: LintFacts): Iterable<Found> {
  const reported = new Set<string>();
  for (const { manifests } of parsed.renderings) {
    const seen = new Map<string, string>();
    for (const { title, template } of renderedObjects(manifests[0])) {
      const before = seen.get(title);
      if (before !== undefined && !reported.has(title)) {
        reported.add(title);
        yield { path: template, object: title, message: `is rendered by ${before} too` };
      }
      seen.set(title, template);
    }
  }
}

/** Helm packs the files of the chart and the manifests, compresses them, and writes them as base64. */
function releaseBytes({ files, parsed }: LintFacts): number {
  const [rendering] = parsed.renderings;
  if (rendering === undefined) return 0;
  const isIgnored = parseHelmIgnore(textAt(files, '.helmignore'));
  const isPacked = ({ path }: FileFacts): boolean =>
    parsed.chartFiles.includes(path) && (parsed.module?.chart !== 'chart-yaml' || !isIgnored(path, false));
  const packed = files.filter(isPacked);
  const opaque = packed
    .filter(({ text }) => text === undefined)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const content = packed.map(({ text = '' }) => Buffer.from(text).toString('base64'));
  return (gzipSync(`${rendering.manifests[0]}${content.join('')}`).length + opaque) * BASE64_FACTOR;
}

function imagesOf(object: RenderedObject): readonly string[] {
  return containersOf(podSpecOf(object) ?? {}).flatMap(({ image }) =>
    typeof image === 'string' ? [image] : [],
  );
}

function isFloating(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = image.split('/').at(-1)?.split(':')[1];
  return tag === undefined || tag === 'latest';
}

import { readFile } from 'node:fs/promises';
import type { Clock } from '@addon-operator/base/clock';
import { hasCode, messageOf } from '@addon-operator/base/errors';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { fieldsOf, stringOf } from '@addon-operator/json';
import { type KubeClient, metadataOf, requestIfPresent } from '@addon-operator/kube-client/kube-client';
import { type ApiResource, resourcePath } from '@addon-operator/kube-client/kube-object';
import { Redactor } from '@addon-operator/masking/redactor';
import { registryConnector } from '../app/artifact-tools.ts';
import { type DeliveryOptions, sourceOpener } from '../app/start-delivery.ts';
import { parseCosignKeys } from '../artifacts/cosign-keys.ts';
import { readKeyring } from '../authorization/keyring.ts';
import type { DeliverySpecs } from '../delivery/delivery.ts';
import { MODULE_INSTALLS, MODULE_SOURCES } from '../delivery/delivery-crds.ts';
import { type Parsed, parseInstall, parseSource, type Source } from '../delivery/parse-spec.ts';
import { parseSpecFile } from '../delivery/spec-file.ts';
import type { SourceProblem } from '../tools/doctor/facts.ts';

const SOURCES_AT_ONCE = 4;
/** Of one source. */
const MODULES_AT_ONCE = 4;

export interface SourceChecks {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Path of `--module-sources`; empty for the objects of the cluster. */
  readonly file: string;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The problems that keep sources from being read: their specs, credentials, certificates and keys, and the registry itself. */
export async function sourceProblems(
  checks: SourceChecks,
  signal: AbortSignal,
): Promise<readonly SourceProblem[]> {
  const { kube, namespace, file, clock, env } = checks;
  let specs: Pick<DeliverySpecs, 'sources' | 'installs'>;
  try {
    specs = file === '' ? await specsOf(kube, signal) : parseSpecFile(await readFile(file, 'utf8'), file);
  } catch (error) {
    signal.throwIfAborted();
    return [{ source: '', message: messageOf(error) }];
  }
  const connect: DeliveryOptions['connect'] = registryConnector({ clock, env });
  const open = sourceOpener({ settings: { namespace }, kube, redactor: new Redactor(), connect });
  const found = await mapParallel(specs.sources, SOURCES_AT_ONCE, async (spec) => {
    if (spec.type === 'invalid') return spec.problems.map((message) => ({ source: spec.name, message }));
    const modules = specs.installs.flatMap((each) =>
      each.type === 'valid' && each.value.source === spec.value.name ? [each.value.name] : [],
    );
    const messages = await problemsOf(spec.value, modules, open, signal);
    return messages.map((message) => ({ source: spec.value.name, message }));
  });
  return found.flat();
}

/** Looks up the tags of its modules, as the operator does, until the registry does not respond. */
async function problemsOf(
  source: Source,
  modules: readonly string[],
  open: ReturnType<typeof sourceOpener>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const access = await open(source, signal);
    const { policy } = access;
    if (policy.cosignKeys !== undefined) parseCosignKeys(policy.cosignKeys);
    if (policy.keyring !== undefined) await readKeyring({ content: policy.keyring, title: 'the keyring' });
    const found = await mapParallel(modules, MODULES_AT_ONCE, async (module) => {
      try {
        await access.repository(module).tags(signal);
        return [];
      } catch (error) {
        if (hasCode(error, 'REGISTRY_UNREACHABLE')) throw error;
        return [messageOf(error)];
      }
    });
    return found.flat();
  } catch (error) {
    signal.throwIfAborted();
    return [messageOf(error)];
  }
}

/** None where the definitions are not served. */
async function specsOf(
  kube: KubeClient,
  signal: AbortSignal,
): Promise<Pick<DeliverySpecs, 'sources' | 'installs'>> {
  const read = async <T>(
    resource: ApiResource,
    parse: (document: { readonly name: string; readonly spec: unknown }) => Parsed<T>,
  ): Promise<readonly Parsed<T>[]> => {
    const path = resourcePath(resource);
    const { items } = fieldsOf(await requestIfPresent(kube, { method: 'GET', path }, signal));
    const objects: readonly unknown[] = Array.isArray(items) ? items : [];
    return objects.map((object) =>
      parse({ name: stringOf(metadataOf(object)['name']), spec: fieldsOf(object)['spec'] }),
    );
  };
  return {
    sources: await read(MODULE_SOURCES, parseSource),
    installs: await read(MODULE_INSTALLS, parseInstall),
  };
}

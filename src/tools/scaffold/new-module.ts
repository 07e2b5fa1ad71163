import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { NewFile } from './files.ts';
import type { Language } from './languages.ts';
import { newHook } from './new-hook.ts';

export const MODULE_PARTS = ['chart', 'schema', 'hook', 'crd'] as const;

export interface NewModuleOptions {
  readonly name: string;
  /** Key of its values, such as `webShop`. */
  readonly key: string;
  /** Absolute path of the modules directory. */
  readonly modulesDir: string;
  /** The number in the name of its directory. */
  readonly order: number;
  /** Some of `MODULE_PARTS`. */
  readonly parts: readonly string[];
  readonly language?: Language;
  /** See `newHook`. */
  readonly testSchema?: string;
}

const MAX_ORDER = 999;

/**
 * A module: a chart with one ConfigMap, a schema with one value, and a hook with its test.
 *
 * @throws OperatorError CONFIG_INVALID for a part that does not exist, or a number that is none
 */
export function newModule(options: NewModuleOptions): readonly NewFile[] {
  const { name, key, order, parts } = options;
  const unknown = parts.find((part) => !MODULE_PARTS.some((known) => known === part));
  if (unknown !== undefined)
    throw new OperatorError(
      'CONFIG_INVALID',
      `--with ${unknown}: there are ${MODULE_PARTS.join(', ')}${didYouMean(unknown, MODULE_PARTS)}`,
    );
  const directory = join(options.modulesDir, directoryName(String(order), name));
  const has = (part: (typeof MODULE_PARTS)[number]): boolean => parts.includes(part);
  const files: Readonly<Record<string, string>> = {
    'values.yaml': `${key}Enabled: true\n${has('schema') ? '' : `${key}:\n  greeting: hello\n`}`,
    ...(has('schema') && { 'openapi/config-values.yaml': SCHEMA }),
    ...(has('chart') && {
      'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`,
      '.helmignore': '/hooks/\n/tests/\n',
      'templates/config-map.yaml': template(name, key),
    }),
    ...(has('crd') && { [`crds/${name}.yaml`]: crdText(name) }),
  };
  const { language, testSchema } = options;
  const hook = has('hook')
    ? newHook({
        path: join(directory, 'hooks', name),
        ...(language && { language }),
        ...(testSchema !== undefined && { testSchema }),
      })
    : [];
  return [...Object.entries(files).map(([path, text]) => ({ path: join(directory, path), text })), ...hook];
}

/** The name of the directory of a module. @throws OperatorError CONFIG_INVALID for a number that is none */
export function directoryName(order: string, name: string): string {
  const number = Number(order);
  if (!Number.isInteger(number) || number < 0 || number > MAX_ORDER)
    throw new OperatorError('CONFIG_INVALID', `--order must be a number from 0 to ${MAX_ORDER}`);
  return `${String(number).padStart(3, '0')}-${name}`;
}

const SCHEMA = `type: object
properties:
  greeting:
    type: string
    description: What the ConfigMap says.
    default: hello
`;

function template(name: string, key: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  namespace: {{ .Release.Namespace }}
data:
  greeting: {{ .Values.${key}.greeting | quote }}
`;
}

function crdText(name: string): string {
  const singular = name.replaceAll('-', '');
  const kind = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_part, letter: string) => letter.toUpperCase());
  const plural = `${singular}s`;
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: ${kind}, listKind: ${kind}List, plural: ${plural}, singular: ${singular}}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              greeting: {type: string}
`;
}

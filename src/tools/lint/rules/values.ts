import { isObject } from '@addon-operator/json';
import type { FileFacts, LintFacts } from '../lint-facts.ts';
import type { Found, Rule } from '../rule.ts';

/** The last word of a key whose value is to be kept secret. */
const SECRET_KEY = /(?:password|passwd|passphrase|secret|token|apikey|api_key|privatekey|private_key)$/i;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
/** Shorter texts are words, or empty on purpose. */
const MIN_SECRET_CHARACTERS = 6;
/** An action that may do without the value. */
const TAKES_ABSENCE = /\b(?:default|hasKey|if|with|dig|empty|coalesce|ternary|get|required)\b/;

/** Rules about values and their schemas. */
export const VALUES_RULES: readonly Rule[] = [
  {
    code: 'values-invalid',
    level: 'error',
    summary: 'values.yaml can be read.',
    explanation:
      'The operator does not start if the file has duplicate keys or numbers that JSON does not have (`.inf`, `1e999`), or is not YAML.',
  },
  {
    code: 'schema-invalid',
    level: 'error',
    summary: 'Files in openapi/ are schemas.',
    explanation:
      'The operator does not start with a schema that it cannot use. The message lists what is wrong.',
  },
  {
    code: 'default-violates-schema',
    level: 'error',
    summary: 'Defaults in a schema match the schema.',
    explanation: 'With a default that breaks its own schema the module fails wherever the value is not set.',
  },
  {
    code: 'values-violate-schema',
    level: 'error',
    summary: 'values.yaml matches the schema.',
    explanation:
      'Values are checked before helm runs, so the module fails until they are set otherwise. Values that are required and not set are not reported: the ConfigMap or a hook may set them.',
  },
  {
    code: 'value-undeclared',
    level: 'warning',
    summary: 'A value that a template uses is declared somewhere.',
    explanation:
      'A misspelt value is rendered as nothing. Add it to `values.yaml` or to a schema, or use it with `default`. Modules with hooks but without `openapi/values.yaml` are not checked: hooks may set values.',
    check: undeclaredValues,
  },
  {
    code: 'secret-in-plain-text',
    level: 'warning',
    summary: 'values.yaml has no passwords, tokens and keys.',
    explanation:
      'Files of modules are read by many, and kept in version control. Refer to a Secret, or leave the value to the ConfigMap.',
    check: function* ({ files, parsed }) {
      const file = files.find(({ path }) => path === 'values.yaml');
      if (PRIVATE_KEY.test(file?.text ?? '')) yield { path: 'values.yaml', message: 'has a private key' };
      if (file === undefined) return;
      for (const path of secretPaths(parsed.values ?? {}, ''))
        yield { path: 'values.yaml', message: `${path} has a value in plain text` };
    },
  },
];

function* secretPaths(value: unknown, at: string): Iterable<string> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* secretPaths(item, `${at}[${index}]`);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const path = at === '' ? key : `${at}.${key}`;
    const isSecret = typeof item === 'string' && item.length >= MIN_SECRET_CHARACTERS && SECRET_KEY.test(key);
    if (isSecret && !/^<.*>$|^\$\{|^changeme$/i.test(item)) yield path;
    else yield* secretPaths(item, path);
  }
}

function* undeclaredValues({ files, parsed }: LintFacts): Iterable<Found> {
  const { values, module } = parsed;
  const key = module?.key;
  const areSetByHooks =
    parsed.hookFiles.length > 0 && !files.some(({ path }) => path === 'openapi/values.yaml');
  if (key === undefined || values === undefined || areSetByHooks) return;
  const declared = new Set([...Object.keys(values), ...schemaProperties(files)]);
  for (const { path, text = '' } of files) {
    if (!path.startsWith('templates/')) continue;
    const used = new Set<string>();
    for (const [action] of text.matchAll(/\{\{[^{}]*\}\}/g)) {
      if (TAKES_ABSENCE.test(action)) continue;
      for (const [, name] of action.matchAll(/\.Values\.(\w+(?:\.\w+)?)/g)) {
        const [section, first] = (name ?? '').split('.');
        if (section === key && first !== undefined && !declared.has(first)) used.add(first);
      }
    }
    for (const name of used)
      yield { path, message: `uses .Values.${key}.${name}, which neither values.yaml nor a schema has` };
  }
}

/** Names below `properties:` at any depth: more than the properties of the section, so that nothing is reported wrongly. */
function schemaProperties(files: readonly FileFacts[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('openapi/'))
    .flatMap(({ text = '' }) => [...text.matchAll(/["']?(\w+)["']?\s*:/g)].map(([, name]) => name ?? ''));
}

import type { MutatedFile } from '../mutant.ts';

/** Admission and conversion. */
export const WEBHOOKS: readonly MutatedFile[] = [
  {
    file: 'src/webhooks/admission/admission-webhooks.ts',
    mutants: [
      {
        find: "return { type: 'denied', code: 403, message: `Hook failed: ${hook.title}`, warnings: [] };",
        replace:
          "return { type: binding.failurePolicy === 'Ignore' ? 'allowed' : 'denied', code: 403, message: `Hook failed: ${hook.title}`, warnings: [], patch: '' };",
        breaks: 'A failed hook allows what its policy ignores.',
      },
      {
        find: 'return pending(`hook task prop error: ${hook.title} wrote no answer`);',
        replace: "return { type: 'allowed', warnings: [], patch: '' };",
        breaks: 'A hook without a response allows.',
      },
      {
        find: "return failurePolicy === 'Ignore'",
        replace: "return failurePolicy !== 'Ignore'",
        breaks: 'A hook that takes too long allows what it should deny.',
      },
      {
        find: 'Math.min(binding.timeoutSeconds * 1_000, timeoutMs ?? Number.POSITIVE_INFINITY)',
        replace: 'binding.timeoutSeconds * 1_000',
        breaks: 'A response comes after the deadline of the API server.',
      },
      {
        find: 'this.#hooks = before;\n        throw error;',
        replace: 'throw error;',
        breaks: 'Hooks are in operation that are not registered.',
      },
      { find: '      checkIds(all);\n', replace: '', breaks: 'Two bindings are called under one path.' },
      {
        find: '      await this.#register(signal, rest);\n',
        replace: '',
        breaks: 'Removed hooks stay registered, and deny everything.',
      },
      { find: 'if (this.#isClean) return;', replace: '', breaks: 'Webhooks are looked for with each hook.' },
      {
        find: 'if (next.ca === ca) return;',
        replace: '',
        breaks: 'Webhooks are registered again for each certificate.',
      },
      {
        find: '      void this.#registerAgain();\n',
        replace: '',
        breaks: 'The API server does not know a new authority.',
      },
      {
        find: 'await clock.sleep(jittered(REGISTER_AGAIN_MS, random), stop).catch(() => undefined);',
        replace: 'return;',
        breaks: 'A new authority is registered once only.',
      },
      {
        find: 'configuration === HOOKS_PATH ? this.#routeOf(id) : undefined',
        replace: 'this.#routeOf(id)',
        breaks: 'Hooks are called under any path.',
      },
      {
        find: 'return isAllowed ? {',
        replace: 'return isAllowed || warnings.length > 0 ? {',
        breaks: 'A denial with a warning allows.',
      },
    ],
  },
  {
    file: 'src/webhooks/admission/admission-review.ts',
    mutants: [
      {
        find: "...(verdict.patch === '' ? {} : { patch: verdict.patch, patchType: 'JSONPatch' }),",
        replace: '',
        breaks: 'Changes of mutating hooks are lost.',
      },
      {
        find: '          uid,\n          allowed: true,',
        replace: '          allowed: true,',
        breaks: 'The API server refuses responses without a uid.',
      },
      { find: 'allowed: false,', replace: 'allowed: true,', breaks: 'A denial allows.' },
      {
        find: 'request: { ...request, object, oldObject, options }',
        replace: 'request',
        breaks: 'Hooks miss fields that the API server left out.',
      },
    ],
  },
  {
    file: 'src/webhooks/admission/webhook-configurations.ts',
    mutants: [
      {
        find: "!names.has(entry['name']) && !leadsTo(",
        replace: '!leadsTo(',
        breaks: 'Entries of one name are there twice.',
      },
      {
        find: "!names.has(entry['name']) && !leadsTo(this.#options.target, entry['clientConfig'])",
        replace: "!names.has(entry['name'])",
        breaks: 'Entries of hooks that are gone stay.',
      },
      {
        find: 'const webhooks = [...this.#othersIn(current, desired), ...desired];',
        replace: 'const webhooks = [...desired];',
        breaks: 'Entries of other servers are removed.',
      },
      {
        find: 'if (isInvalidRequest(error)) throw error;',
        replace: '',
        breaks: 'An invalid registration is tried again.',
      },
      {
        find: 'body: { ...current, webhooks }',
        replace: 'body: { webhooks }',
        breaks: 'A registration overwrites that of others.',
      },
      {
        find: '(!isNeeded && hasStatus(error, 403))',
        replace: 'hasStatus(error, 403)',
        breaks: 'A missing permission is taken for no registration.',
      },
      {
        find: '        await clock.sleep(delayMs, signal);\n',
        replace: '',
        breaks: 'A registration that failed is repeated without a pause.',
      },
    ],
  },
  {
    file: 'src/webhooks/admission/webhook-entries.ts',
    mutants: [
      {
        find: '...(rules.some(reachesOwnState) ? [exceptOwnState(ownState)] : []),',
        replace: '',
        breaks: 'A hook that fails locks the operator out of its own state.',
      },
      {
        find: "resources.includes('*') || resources.includes('*/*')",
        replace: "resources.includes('*')",
        breaks: 'A webhook for everything is not warned of.',
      },
      {
        find: "apiGroups.includes('') || apiGroups.includes('*')",
        replace: "apiGroups.includes('')",
        breaks: 'A webhook of all groups reaches the state of the operator.',
      },
    ],
  },
  {
    file: 'src/webhooks/within-limit.ts',
    mutants: [
      {
        find: 'Math.min(MARGIN_MS, timeoutMs / MARGIN_SHARE)',
        replace: '0',
        breaks: 'The reason of a time-out arrives too late.',
      },
      { find: '    work.abort();\n', replace: '', breaks: 'A hook that is late goes on.' },
      { find: '    timer.abort();\n', replace: '', breaks: 'Each response leaves a timer behind.' },
    ],
  },
  {
    file: 'src/webhooks/conversion/convert-objects.ts',
    mutants: [
      {
        find: 'if (problem !== undefined) return failure(',
        replace: "if (problem === '') return failure(",
        breaks: 'Objects are converted to others.',
      },
      {
        find: "if (response.type === 'failed') return failure(response.message);\n",
        replace: "if (response.type === 'failed') return { type: 'success', objects };\n",
        breaks: 'A conversion that failed counts as done.',
      },
      {
        find: '      objects = result.objects;\n',
        replace: '',
        breaks: 'A chain of hooks does not continue with what was converted.',
      },
      {
        find: '      if (areConverted(objects, desired)) return result;\n',
        replace: '',
        breaks: 'Converted objects are given to further hooks.',
      },
    ],
  },
  {
    file: 'src/webhooks/conversion/conversion-chain.ts',
    mutants: [
      {
        find: '.toSorted((a, b) => exactness(b, from, to) - exactness(a, from, to))',
        replace: '',
        breaks: 'A rule for short versions wins over an exact one.',
      },
      {
        find: "longer.slice(longer.indexOf('/') + 1) === shorter",
        replace: 'longer.endsWith(shorter)',
        breaks: 'A version is confused with one that ends alike.',
      },
    ],
  },
  {
    file: 'src/webhooks/conversion/converted-objects-problem.ts',
    mutants: [
      {
        find: 'if (after.length !== before.length)',
        replace: 'if (after.length < before.length)',
        breaks: 'A conversion adds objects.',
      },
      {
        find: "['name', 'namespace', 'uid']",
        replace: "['name', 'namespace']",
        breaks: 'A conversion changes the uid of an object.',
      },
      {
        find: "if (object['kind'] !== original['kind'])",
        replace: "if (object['kind'] === undefined)",
        breaks: 'A conversion changes the kind of an object.',
      },
    ],
  },
  {
    file: 'src/hooks/webhook-responses.ts',
    mutants: [
      {
        find: 'const { allowed = false,',
        replace: 'const { allowed = true,',
        breaks: 'A response without a verdict allows.',
      },
      {
        find: '  checkPatch(patch);\n',
        replace: '',
        breaks: 'A patch that the API server cannot apply is sent.',
      },
      {
        find: "if (typeof allowed !== 'boolean') throw new Error(\"'allowed' must be true or false\");",
        replace: '',
        breaks: "The text 'false' allows.",
      },
      {
        find: "if (failedMessage !== undefined && failedMessage !== '') {",
        replace: "if (failedMessage === '') {",
        breaks: 'A conversion that failed counts as done.',
      },
    ],
  },
];

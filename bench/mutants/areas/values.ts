import type { MutatedFile } from '../mutant.ts';

/** Values and the ConfigMap. */
export const VALUES: readonly MutatedFile[] = [
  {
    file: 'src/values/values-store.ts',
    tests: ['src/values/values-store-checks.test.ts'],
    mutants: [
      {
        find: 'if (missing.length > 0) throw',
        replace: 'if (missing.length > 1) throw',
        breaks: 'A module is deployed without a Secret.',
      },
      {
        find: 'known?.config === config && known.files === files && known.patches === patches',
        replace: 'known?.config === config && known.patches === patches',
        breaks: 'Edited files of values have no effect.',
      },
      {
        find: 'known?.config === config && known.files === files && known.patches === patches',
        replace: 'known?.files === files && known.patches === patches',
        breaks: 'Edits of the ConfigMap have no effect.',
      },
      {
        find: 'if (this.#secrets?.isResolvedFor(owner) === true) return this.#merge(owner, config, patches);',
        replace: '',
        breaks: 'Changed Secrets have no effect.',
      },
      {
        find: "if (problems.length > 0) throw new OperatorError('VALUES_INVALID', problems.join('\\n'));",
        replace: '',
        breaks: 'A ConfigMap that does not match its schema is taken over.',
      },
      {
        find: 'for (const owner of this.#owners()) this.#merge(owner, content, this.#patches.get(owner) ?? []);',
        replace: '',
        breaks: 'A ConfigMap is taken over to which patches do not apply.',
      },
      {
        find: '|| !isInUse(owner))) return [];',
        replace: ')) return [];',
        breaks: 'The section of a disabled module keeps a ConfigMap from being used.',
      },
      {
        find: '    this.#merge(owner, content, this.#patches.get(owner) ?? []);\n    this.#config = content;',
        replace: '    this.#config = content;',
        breaks: 'A section is saved to which patches do not apply.',
      },
      {
        find: '    this.#patches.set(owner, patches);\n    return true;',
        replace: '    return true;',
        breaks: 'Patches of hooks are lost.',
      },
      {
        find: '    this.#patches.set(name, []);\n',
        replace: '',
        breaks: 'A deleted module keeps the patches of its hooks.',
      },
      {
        find: 'if (canonicalJson(after) === canonicalJson(before)) return undefined;',
        replace: '',
        breaks: 'A patch that changes nothing leads to another run.',
      },
      {
        find: 'if (problems.length > 0) {\n      const whose',
        replace: 'if (problems.length > 1_000) {\n      const whose',
        breaks: 'Patches are kept that do not match their schema.',
      },
      {
        find: 'const patches = foldPatch(stored, operations);',
        replace: 'const patches = foldPatch([], operations);',
        breaks: 'A patch drops those before it.',
      },
      {
        find: '    this.#merge(owner, this.#config, patches);\n    this.#patches.set(owner, patches);',
        replace: '    this.#patches.set(owner, patches);',
        breaks: 'Patches are taken over that do not apply.',
      },
      {
        find: 'withDefaults(schemas.values, mergeValues(base, sectionIn(config, sectionOf(owner)) ?? {}))',
        replace: 'withDefaults(schemas.values, mergeValues(sectionIn(config, sectionOf(owner)) ?? {}, base))',
        breaks: 'Files override the ConfigMap.',
      },
      {
        find: 'withDefaults(schemas.config, this.fileValues(owner))',
        replace: 'this.fileValues(owner)',
        breaks: 'Defaults of the schema of config values are missing.',
      },
      {
        find: 'if (canonicalJson(patched) !== canonicalJson(section)) this.checkConfigSection(owner, patched);',
        replace: '',
        breaks: 'A patch of the ConfigMap is not checked.',
      },
    ],
  },
  {
    file: 'src/values/section-patch.ts',
    mutants: [
      {
        find: "if (operation.op !== 'test' && !isCovered(operation.path, kept))",
        replace: "if (operation.op !== 'test')",
        breaks: 'Stored patches contain older values.',
      },
      { find: "operation.op !== 'test' && ", replace: '', breaks: 'Tests of patches are stored.' },
      {
        find: '.toSorted((a, b) => (a.path < b.path ? -1 : 1))',
        replace: '.toSorted((a, b) => (a.path < b.path ? 1 : -1))',
        breaks: 'Children of a path are set before their parents.',
      },
      {
        find: '[...stored, ...operations].toReversed()',
        replace: '[...operations, ...stored].toReversed()',
        breaks: 'Older patches win.',
      },
      {
        find: "end > 0; end = path.lastIndexOf('/', end - 1)",
        replace: 'end === path.length; end -= 1',
        breaks: 'A patch below a newer one is kept.',
      },
      {
        find: 'if (isJsonMap(section)) return section;',
        replace: 'return section as JsonObject;',
        breaks: 'A section that is no map is kept.',
      },
    ],
  },
  {
    file: 'src/values/apply-patch.ts',
    mutants: [
      {
        find: "if (operation.op === 'add' || mode === 'strict') throw missing(operation);",
        replace: "if (operation.op === 'add') throw missing(operation);",
        breaks: 'A hook is not told that it removes nothing.',
      },
      {
        find: "if (operation.op === 'test') throw testFailed(operation);",
        replace: '',
        breaks: 'A test of a missing path passes.',
      },
      {
        find: "if (key !== '__proto__') map[key] = value;\n  else ",
        replace: "map[key] = value;\n  if (key === '') ",
        breaks: 'A patch changes the prototype of values.',
      },
      {
        find: 'Number(segment) <= list.length ?',
        replace: 'Number(segment) < list.length ?',
        breaks: 'An item cannot be put at the end of a list by its index.',
      },
      {
        find: 'if (!Array.isArray(root)) this.#document = root;',
        replace: '',
        breaks: 'Patches at the root are lost.',
      },
      {
        find: 'Object.hasOwn(value, segment) ? value[segment] : undefined',
        replace: 'value[segment]',
        breaks: 'A patch finds what every object inherits.',
      },
      {
        find: 'own.splice(Number(last), 1)',
        replace: 'own.splice(Number(last))',
        breaks: 'A removed item takes those behind it along.',
      },
    ],
  },
  {
    file: 'src/values/config-map-content.ts',
    mutants: [
      {
        find: 'if (problems.length > 0) throw',
        replace: 'if (problems.length > 1) throw',
        breaks: 'A ConfigMap with one error is used in part.',
      },
      {
        find: 'if (parseMaintenance(dataKey, content)) maintenance.add(entry.key);',
        replace: '',
        breaks: 'Maintenance of modules has no effect.',
      },
      {
        find: "isGlobal ? 'yaml-1.1' : 'yaml-1.2'",
        replace: "'yaml-1.2'",
        breaks: 'Booleans in global values mean something else.',
      },
      {
        find: 'flags: changedKeys(previous.flags, next.flags, Object.is),',
        replace: 'flags: [],',
        breaks: 'Modules are not enabled by the ConfigMap.',
      },
      {
        find: 'maintenance: changedKeys(previousMaintenance, nextMaintenance, Object.is),',
        replace: 'maintenance: [],',
        breaks: 'Maintenance of a module is not noticed.',
      },
      {
        find: 'new Set([...previous.keys(), ...next.keys()])',
        replace: 'new Set([...next.keys()])',
        breaks: 'Sections that are removed have an effect until the next restart.',
      },
      {
        find: 'canonicalJson(a) === canonicalJson(b)',
        replace: 'JSON.stringify(a) === JSON.stringify(b)',
        breaks: 'Another order of keys runs modules again.',
      },
      {
        find: 'if (isGlobal && value === null) return {};',
        replace: '',
        breaks: 'An empty global section is an error.',
      },
    ],
  },
  {
    file: 'src/values/config-map-save.ts',
    tests: ['src/values/config-map-store-save.test.ts'],
    mutants: [
      {
        find: 'const data = { ...current?.data, [key]: changedText };',
        replace: 'const data = { [key]: changedText };',
        breaks: 'A save removes all other sections.',
      },
      {
        find: 'if (!isUnknown && !isOutrun(error, current === undefined)) throw error;',
        replace: 'if (!isUnknown) throw error;',
        breaks: 'A save that loses a race fails.',
      },
      {
        find: 'if (attempt === MAX_ATTEMPTS)',
        replace: 'if (attempt === 1)',
        breaks: 'A save that loses a race is not repeated.',
      },
      {
        find: 'if (attempt === MAX_ATTEMPTS)',
        replace: 'if (attempt === 1_000_000)',
        breaks: 'A save that loses each race is repeated for ever.',
      },
      {
        find: 'content !== undefined && content === unconfirmed',
        replace: "content === 'never'",
        breaks: 'A save whose response was lost is done twice.',
      },
      {
        find: 'if (current === undefined && !isCreated) return undefined;',
        replace: '',
        breaks: 'A ConfigMap is created that may come back with other content.',
      },
      {
        find: 'Object.hasOwn(current.data, key) ? current.data[key]',
        replace: 'key in current.data ? current.data[key]',
        breaks: 'A module is confused with what objects inherit.',
      },
      {
        find: '      checkSize(ref.name, data, current?.binaryData ?? {});\n',
        replace: '',
        breaks: 'A ConfigMap that is too large is sent.',
      },
      {
        find: 'if (canonicalJson(changed) === canonicalJson(section)) return { section, resourceVersion: undefined };',
        replace: '',
        breaks: 'The ConfigMap is written although nothing changes.',
      },
    ],
  },
  {
    file: 'src/values/config-map-store.ts',
    tests: [
      'src/values/config-map-store-save.test.ts',
      'src/values/config-map-store-grace.test.ts',
      'src/values/config-map-presence.test.ts',
    ],
    mutants: [
      {
        find: 'const isCreated = !this.#isPresent || this.#grace.graceMs === 0;',
        replace: 'const isCreated = true;',
        breaks: 'A save creates a ConfigMap that was deleted a moment ago.',
      },
      {
        find: '          this.#ahead = [...this.#ahead, written.resourceVersion];\n',
        replace: '',
        breaks: 'Our own write is taken for one of a person.',
      },
      {
        find: '          this.#adoptOwnWrite(owner, change);\n',
        replace: '',
        breaks: 'What a hook saved is reported as a change.',
      },
      {
        find: "if (!hasCode(error, 'VALUES_PATCH_INVALID')) throw error;",
        replace: 'throw error;',
        breaks: 'A save fails although it was written.',
      },
      {
        find: 'if (!isPresent) await this.#handleSeen(undefined, signal);',
        replace: '',
        breaks: 'A ConfigMap that was deleted while the operator was down stays in force.',
      },
      {
        find: 'if (now === undefined && this.#isPresent && this.#grace.graceMs > 0) return this.#startGrace(signal);',
        replace: '',
        breaks: 'A ConfigMap that is replaced is taken for deleted.',
      },
      {
        find: 'this.#ahead = isAhead ? [now.resourceVersion] : [];',
        replace: 'this.#ahead = [];',
        breaks: 'An event of the watch brings older content back.',
      },
      {
        find: 'if (this.#grace.isRunning) return;\n    this.#state',
        replace: 'this.#state',
        breaks: 'The grace of a deleted ConfigMap begins again.',
      },
      {
        find: 'if (object !== undefined) this.#grace.end();',
        replace: '',
        breaks: 'A ConfigMap that came back is taken for deleted.',
      },
      {
        find: "if (previous.type === 'invalid' && previous.error.message === error.message) return;",
        replace: '',
        breaks: 'An invalid ConfigMap is reported with each event.',
      },
      {
        find: "      this.#state = { type: 'invalid', error };\n",
        replace: '',
        breaks: 'An invalid ConfigMap is not shown.',
      },
      {
        find: 'if (isEmptyDifference(difference)) return;',
        replace: '',
        breaks: 'A ConfigMap that means the same runs modules again.',
      },
      {
        find: "    this.#content = content;\n    this.#onChange({ type: 'changed'",
        replace: "    this.#onChange({ type: 'changed'",
        breaks: 'The next change is compared with an older content.',
      },
    ],
  },
  {
    file: 'src/values/config-map-presence.ts',
    tests: ['src/values/config-map-store-grace.test.ts'],
    mutants: [
      {
        find: '      await clock.sleep(Math.min(leftMs, READ_INTERVAL_MS), signal);\n',
        replace: '',
        breaks: 'The grace of a missing ConfigMap spins.',
      },
      {
        find: "if (!hasCode(error, 'KUBE_API')) throw error;",
        replace: '',
        breaks: 'An outage is taken for a memory that cannot be read.',
      },
      {
        find: '      return true;\n    }\n  }',
        replace: '      return false;\n    }\n  }',
        breaks: 'A memory that cannot be read counts as an absent ConfigMap.',
      },
      {
        find: 'while (written !== this.#isPresent) await',
        replace: 'if (written !== this.#isPresent) await',
        breaks: 'A change during a write is not remembered.',
      },
      {
        find: 'if (this.#isPresent === isPresent) return;',
        replace: '',
        breaks: 'What is remembered is written again and again.',
      },
      {
        find: 'return { ...data, [KEY]: PRESENT };',
        replace: 'return { [KEY]: PRESENT };',
        breaks: 'Other facts that are remembered are lost.',
      },
      {
        find: 'if ((await read(signal)) === isPresent) return;',
        replace: '',
        breaks: 'What is remembered is written at each start.',
      },
    ],
  },
];

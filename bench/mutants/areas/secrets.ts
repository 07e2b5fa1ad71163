import type { MutatedFile } from '../mutant.ts';

/** Signed modules, and what is masked. */
export const SECRETS: readonly MutatedFile[] = [
  {
    file: 'src/authorization/module-content.ts',
    mutants: [
      {
        find: 'if (paths.has(path)) throw',
        replace: "if (paths.has('')) throw",
        breaks: 'A link that is replaced while a module is read leads a copy elsewhere.',
      },
      {
        find: '    await refuseLinksOut(walk);\n',
        replace: '',
        breaks: 'Links lead out of a signed module.',
      },
      {
        find: "if (below === '' && NO_CONTENT.includes(name)) continue;",
        replace: 'if (NO_CONTENT.includes(name)) continue;',
        breaks: 'A file below a module is not signed.',
      },
      {
        find: 'isExecutable ? 0o500 : 0o400',
        replace: '0o500',
        breaks: 'Any file of a copy can be executed.',
      },
      {
        find: '...(isExecutable && { executable: true })',
        replace: '',
        breaks: 'What is executable is not signed.',
      },
      { find: '    hash.update(bytes);\n', replace: '', breaks: 'The content of files is not signed.' },
      {
        find: '    walk.bytes += bytesRead;\n',
        replace: '',
        breaks: 'Many files exceed the limit of a module.',
      },
      {
        find: 'link.startsWith(sep) || isOutside',
        replace: 'isOutside',
        breaks: 'A link to an absolute path passes.',
      },
    ],
  },
  {
    file: 'packages/masking/src/redactor.ts',
    mutants: [
      { find: '    this.#revision += 1;\n', replace: '', breaks: 'What was masked before is sent unmasked.' },
    ],
  },
];

import { textAt } from '../lint-facts.ts';
import type { Rule } from '../rule.ts';

/** Rules about versions of modules. */
export const DELIVERY_RULES: readonly Rule[] = [
  {
    code: 'version-mismatch',
    level: 'warning',
    summary: 'module.yaml, Chart.yaml and CHANGELOG.md name one version.',
    explanation:
      'Other modules require the version of `module.yaml`, or of `Chart.yaml` without one. People read the newest version of `CHANGELOG.md`. Change the one that is behind.',
    check: function* ({ files, parsed: { module } }) {
      const version = module?.version;
      if (version === undefined) return;
      const chart = /^version:\s*["']?([^\s"'#]+)/m.exec(textAt(files, 'Chart.yaml'))?.[1];
      if (chart !== undefined && chart !== version)
        yield { path: 'Chart.yaml', message: `has version ${chart}, module.yaml has ${version}` };
      const newest = /^#+ \[?v?(\d[^\s\]]*)/m.exec(textAt(files, 'CHANGELOG.md'))?.[1];
      if (newest?.includes('.') === true && newest !== version)
        yield { path: 'CHANGELOG.md', message: `begins with version ${newest}, the module has ${version}` };
    },
  },
];

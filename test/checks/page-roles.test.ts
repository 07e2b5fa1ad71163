import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACTIONS } from '../../src/server/api/actions.ts';
import { projectRoot } from './checkout.ts';

test.each(['deploy/addon-operator/templates/ui-roles.yaml', 'docs/ui.md'])(
  '%s has the verbs of all actions of the page',
  (file) => {
    const text = readFileSync(join(projectRoot, file), 'utf8');
    const [, verbs = ''] =
      /(?:verbs: \[|^\| )`?(reconcile\b[^\]|]*?)(?:\]| on `modules` \|)/m.exec(text) ?? [];
    expect(verbs.replaceAll('`', '').split(', ')).toEqual([
      ...new Set(Object.values(ACTIONS).map(({ verb }) => verb)),
    ]);
  },
);

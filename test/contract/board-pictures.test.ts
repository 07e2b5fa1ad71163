import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Board } from '../../deploy/boards/board.ts';
import { MODULE_BOARD } from '../../deploy/boards/module-board.ts';
import { OPERATOR_BOARD } from '../../deploy/boards/operator-board.ts';
import { projectRoot } from '../checks/checkout.ts';
import { sandboxBackend } from '../support/backends.ts';
import { boardDigest } from '../support/boards/draw-board.ts';
import { boardPictures } from '../support/boards/scraped-world.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';

const MAX_BYTES = 100_000;
const PICTURES: readonly (readonly [name: string, board: Board])[] = [
  ['board-operator', OPERATOR_BOARD],
  ['board-module', MODULE_BOARD],
];

function fileOf(name: string): string {
  return join(projectRoot, `docs/images/${name}.svg`);
}

describe('pictures of the boards', () => {
  // They show real durations, so that they differ each time.
  beforeAll(async () => {
    if (process.env['UPDATE_BOARDS'] !== '1') return;
    const programs = await prometheusForTests();
    await using backend = await sandboxBackend();
    const boards = PICTURES.map(([, board]) => board);
    const pictures = await boardPictures(boards, backend, programs?.prometheus ?? '');
    for (const [index, [name]] of PICTURES.entries()) await writeFile(fileOf(name), pictures[index] ?? '');
  }, 600_000);

  // If this fails: UPDATE_BOARDS=1 npx vitest run --project contract test/contract/board-pictures.test.ts
  test.each(PICTURES)('docs/monitoring.md shows %s as it is now', async (name, board) => {
    const page = await readFile(join(projectRoot, 'docs/monitoring.md'), 'utf8');
    expect(page).toContain(`](images/${name}.svg)`);
    const picture = await readFile(fileOf(name), 'utf8');
    expect(picture.length).toBeLessThanOrEqual(MAX_BYTES);
    expect(picture).toContain(`data-board="${boardDigest(board)}"`);
  });
});

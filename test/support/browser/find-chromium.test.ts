import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTree } from '../world-files.ts';
import { findChromium } from './find-chromium.ts';

test('Chromium is the one that is named, else the first of PATH, else none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chromium-'));
  try {
    await writeTree(directory, { 'google-chrome': '#!/bin/sh\n', 'chromium-browser': '#!/bin/sh\n' });
    expect(findChromium({ PATH: directory })).toBe(join(directory, 'chromium-browser'));
    expect(findChromium({ PATH: directory, CHROMIUM_PATH: '/opt/chromium' })).toBe('/opt/chromium');
    expect(findChromium({ PATH: join(directory, 'none'), CHROMIUM_PATH: '' })).toBeUndefined();
  } finally {
    await rm(directory, { recursive: true });
  }
});

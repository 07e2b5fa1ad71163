/** The last runs of a module as a small chart. */

import type { VNode } from 'preact';
import { counted } from './names.ts';

const WIDTH = 5;
const GAP = 2;
const HEIGHT = 18;
/** Heights by result, so that colours are not needed to read it. */
const SHAPES = { s: 8, f: HEIGHT, a: 4 } as const;
const TONES = { s: 'ok', f: 'bad', a: 'off' } as const;

/** The last runs of a module, the newest at the right: failures are tall, so that the colour is not needed. */
export function RunStrip({ recent }: { recent: string }): VNode | null {
  if (recent === '') return null;
  const letters = recent.split('');
  const failures = letters.filter((letter) => letter === 'f').length;
  const label = `last ${counted(letters.length, 'run')}: ${failures === 0 ? 'none' : failures} failed`;
  const width = letters.length * (WIDTH + GAP) - GAP;
  return (
    <svg class="strip" width={width} height={HEIGHT} role="img" aria-label={label}>
      {(['s', 'f', 'a'] as const).map((kind) => (
        <path key={kind} class={TONES[kind]} d={bars(letters, kind)} />
      ))}
    </svg>
  );
}

/** One path for all bars of a kind: a row of a long table has few elements. */
function bars(letters: readonly string[], kind: keyof typeof SHAPES): string {
  const height = SHAPES[kind];
  return letters
    .map((letter, index) =>
      letter === kind ? `M${index * (WIDTH + GAP)} ${HEIGHT - height}h${WIDTH}v${height}h-${WIDTH}z` : '',
    )
    .join('');
}

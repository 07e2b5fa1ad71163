import { importsOf } from './import-graph.ts';
import { roomOf } from './rooms.ts';

const ALL_SETTINGS = 'settings.ts';
/** Rooms that start or inspect a whole operator. */
const ROOMS_WITH_ALL = ['cli', 'devkit', 'app', 'plan', 'settings'];
const MAX_PICKED = 3;
const PICKED = /\bPick<\s*Settings,(?<names>[^>]*)>/g;

/**
 * One sentence for each file of `src/` (path relative to it → source text) that takes all settings although its room uses
 * a few groups of them, and for each selection from all settings that should be a group.
 */
export function settingsProblems(sources: ReadonlyMap<string, string>): readonly string[] {
  const whole = importsOf(sources)
    .filter(({ from, to }) => to === ALL_SETTINGS && !ROOMS_WITH_ALL.includes(roomOf(from) ?? ''))
    .map(({ from }) => `src/${from} imports all settings: take the types of groups in src/settings/`);
  const picked = [...sources].flatMap(([file, source]) =>
    [...source.matchAll(PICKED)]
      .map(({ groups }) => groups?.['names']?.match(/'\w+'/g)?.length ?? 0)
      .filter((count) => count > MAX_PICKED)
      .map(
        (count) => `src/${file} picks ${count} of all settings: take the types of groups in src/settings/`,
      ),
  );
  return [...whole, ...picked];
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../support/world.ts';
import { formatSample } from './format-sample.ts';
import { normalise, SHOP } from './normalise.ts';

/** What a hook gets to read, by the variable that names the file. */
type Input = 'BINDING_CONTEXT_PATH' | 'VALUES_PATH' | 'CONFIG_VALUES_PATH';

/**
 * A hook with the configuration of a page that keeps what each of its runs got to read, then does `body`. It waits
 * while there is a file `hold` in the directory of the world.
 */
export function recordingHook(config: string, body = ''): string {
  return `#!/bin/sh
if [ "$1" = "--config" ]; then
cat <<'CONFIG'
${config.trim()}
CONFIG
exit 0
fi
kept="$WORLD/kept/$(basename "$0")"
mkdir -p "$kept"
run="$kept/$(ls "$kept" | wc -l | tr -d ' ')"
mkdir "$run"
cp "$BINDING_CONTEXT_PATH" "$run/BINDING_CONTEXT_PATH"
cp "$VALUES_PATH" "$run/VALUES_PATH"
cp "$CONFIG_VALUES_PATH" "$run/CONFIG_VALUES_PATH"
echo "run $(basename "$0") $(basename "$run")"
while [ -e "$WORLD/hold" ]; do sleep 0.05; done
${body}
`;
}

/** A text of a page with the namespace of this world. */
export function inWorld(world: World, text: string): string {
  return text.replaceAll(SHOP, world.namespace);
}

/**
 * What the hook got in its run number `run`, counted from 0, as pages show it: modules lie in `/modules`. Waits for that
 * run.
 */
export async function kept(
  world: World,
  hook: string,
  run: number,
  input: Input = 'BINDING_CONTEXT_PATH',
): Promise<string> {
  await world.log.untilPrinted(`run ${hook} ${run}`);
  const text = await readFile(join(world.directory, 'kept', hook, String(run), input), 'utf8');
  // Before it is formatted: lines are broken by their length.
  const value: unknown = JSON.parse(text.replaceAll(join(world.directory, 'modules'), '/modules'));
  return `${formatSample(normalise(value, world.namespace))}\n`;
}

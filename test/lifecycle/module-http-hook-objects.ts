import type { Backend } from '../support/world.ts';

export function moduleHookObjectTests(_backend: () => Backend): void {}

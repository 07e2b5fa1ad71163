import { escapeControls } from './escape-controls.ts';

/** The text in one line that is harmless in a terminal: lines are joined by a space, other control characters escaped. */
export function oneLine(text: string): string {
  return escapeControls(text.trim().replaceAll(/\s*\n\s*/g, ' '));
}

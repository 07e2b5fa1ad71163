import { expect, test } from 'vitest';
import { watchOutput } from './watch-output.ts';

class Terminal {
  readonly isTTY: boolean;
  columns = 20;
  rows = 5;
  text = '';
  onResize: (() => void) | undefined;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }

  on(_event: string, listener: () => void): void {
    this.onResize = listener;
  }

  off(): void {
    this.onResize = undefined;
  }

  take(): string {
    const { text } = this;
    this.text = '';
    return text.replaceAll('\u001b', 'ESC');
  }
}

test('on a terminal only lines that differ are written, and what is left is erased', () => {
  const terminal = new Terminal(true);
  const output = watchOutput(terminal);
  output.show('time 1', 'a\nb\n');
  expect(terminal.take()).toBe(
    'ESC[?1049hESC[HESC[2JESC[1;1Htime 1ESC[KESC[2;1HESC[KESC[3;1HaESC[KESC[4;1HbESC[K',
  );
  output.show('time 1', 'a\nc\n');
  expect(terminal.take()).toBe('ESC[4;1HcESC[K');
  output.show('time 1', 'a\nc');
  expect(terminal.take()).toBe('');
  output.show('time 2', 'a\n');
  expect(terminal.take()).toBe('ESC[1;1Htime 2ESC[KESC[4;1HESC[J');
  output.end();
  expect([terminal.take(), terminal.onResize]).toEqual(['ESC[?1049l', undefined]);
});

test('what does not fit is cut, and all is drawn again when the terminal has another size', () => {
  const terminal = new Terminal(true);
  const output = watchOutput(terminal);
  output.show('t', `${'x'.repeat(30)}\n2\n3\n4\n5`);
  expect(terminal.take()).toContain(`ESC[3;1H${'x'.repeat(19)}…ESC[4;1H2ESC[KESC[5;1H… 3 more linesESC[K`);
  terminal.columns = 40;
  terminal.rows = 10;
  terminal.onResize?.();
  const drawn = terminal.take();
  expect(drawn).toContain('ESC[2J');
  expect(drawn).toContain(`${'x'.repeat(30)}ESC[K`);
  expect(drawn).toContain('ESC[7;1H5');
});

test('a terminal that does not know its size is taken for one of 80 columns and 24 rows', () => {
  const terminal = new Terminal(true);
  terminal.columns = 0;
  terminal.rows = 0;
  watchOutput(terminal).show('time', 'a\nb\n');
  expect(terminal.take()).toContain('ESC[4;1HbESC[K');
});

test('elsewhere new lines are written as they come, without control characters', () => {
  const pipe = new Terminal(false);
  const output = watchOutput(pipe);
  output.show('time 1', 'NAME STATUS\nweb failing\ndb ready\n');
  output.show('time 2', 'NAME STATUS\nweb failing\ndb ready\n');
  output.show('time 3', 'NAME STATUS\nweb ready\ndb ready\n');
  output.end();
  expect(pipe.take()).toBe('NAME STATUS\nweb failing\ndb ready\nweb ready\n');
});

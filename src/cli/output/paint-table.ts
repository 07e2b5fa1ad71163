import type { Paint, Style } from './paint.ts';

const STYLES: Readonly<Record<string, Style>> = {
  yes: 'green',
  no: 'red',
  ready: 'green',
  success: 'green',
  running: 'green',
  deployed: 'green',
  undecided: 'yellow',
  starting: 'yellow',
  deleting: 'yellow',
  paused: 'yellow',
  'held-up': 'yellow',
  'held up': 'yellow',
  aborted: 'yellow',
  failing: 'red',
  failed: 'red',
  isolated: 'red',
  held: 'red',
  unauthorized: 'red',
  disabled: 'dim',
};
/** Columns whose words say how things are. */
const STATES: ReadonlySet<string> = new Set(['STATUS', 'READY', 'RESULT', 'TRUE']);
/** Such columns as rows of one thing. */
const STATE_ROW = /^(status|result)( {2,})(\S.*)$/;

interface Column {
  readonly isState: boolean;
  readonly start: number;
  readonly end: number | undefined;
}

/**
 * Colours the states in plain tables, in place: the text stays the same without the colours. A table begins at a line of
 * titles in capitals and ends at an empty line.
 */
export function paintTable(text: string, paint: Paint): string {
  let columns: readonly Column[] = [];
  return text
    .split('\n')
    .map((line) => {
      const titles = columnsIn(line);
      if (titles.length > 0 || line === '') columns = titles;
      return titles.length > 0 ? line : paintLine(line, columns, paint);
    })
    .join('\n');
}

function paintLine(line: string, columns: readonly Column[], paint: Paint): string {
  const row = STATE_ROW.exec(line);
  if (row !== null) return `${row[1]}${row[2]}${paintState(row[3] ?? '', paint)}`;
  return columns
    .filter(({ isState }) => isState)
    .toReversed()
    .reduce((painted, { start, end }) => {
      const cell = line.slice(start, end).trimEnd();
      return `${painted.slice(0, start)}${paintState(cell, paint)}${painted.slice(start + cell.length)}`;
    }, line);
}

function paintState(word: string, paint: Paint): string {
  const style = STYLES[word];
  return style === undefined ? word : paint(style, word);
}

/** The columns of a line of titles; none for another line. */
function columnsIn(line: string): readonly Column[] {
  if (!/^[A-Z#][A-Z #]*$/.test(line)) return [];
  const titles = [...line.matchAll(/\S+(?: \S+)*/g)];
  return titles.map(({ 0: title, index }, place) => ({
    isState: STATES.has(title),
    start: index,
    end: titles[place + 1]?.index,
  }));
}

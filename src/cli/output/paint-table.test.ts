import { expect, test } from 'vitest';
import { paintTable } from './paint-table.ts';

const paint = (style: string, text: string): string => `<${style}>${text}</>`;

test('states in the columns and rows for them are coloured, and other words are not', () => {
  const text = `NAME   READY  STATUS    MESSAGE
web    yes    ready
ready  no     failing   failed
off    -      disabled

status  held up
no      web
`;
  expect(paintTable(text, paint)).toBe(`NAME   READY  STATUS    MESSAGE
web    <green>yes</>    <green>ready</>
ready  <red>no</>     <red>failing</>   failed
off    -      <dim>disabled</>

status  <yellow>held up</>
no      web
`);
});

test('without colours every text stays as it is', () => {
  for (const text of ['', 'STATUS', 'STATUS\nready', 'a: b\n  - ready\n', 'NAME  STATUS\nweb'])
    expect(paintTable(text, (_style, word) => word)).toBe(text);
});

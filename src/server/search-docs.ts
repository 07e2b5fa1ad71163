/** A part of a page of the documentation, from one heading to the next. */
export interface DocsSection {
  /** File below docs/. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Parameters of BM25 with their usual values: how fast a repeated word counts less, and how much length counts. */
const K1 = 1.2;
const B = 0.75;
/** A word in the heading counts as if it was so often in the text. */
const HEADING_WEIGHT = 5;
const MAX_RESULTS = 8;
const MAX_TEXT = 2_000;

interface IndexedSection {
  readonly section: DocsSection;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Splits a page at its headings; those inside of code blocks do not count. */
export function sectionsOf(page: string, markdown: string): readonly DocsSection[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: page, lines: [] }];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const heading = isCode ? undefined : /^#+ +(?<text>.*)$/.exec(line)?.groups?.['text'];
    if (heading === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ heading, lines: [] });
  }
  return sections
    .map(({ heading, lines }) => ({ page, heading, text: lines.join('\n').trim() }))
    .filter(({ text }) => text !== '');
}

/** Finds sections by words, ranked with BM25. Made once for all searches. */
export class DocsSearch {
  readonly #sections: readonly IndexedSection[];
  /** In how many sections each word is. */
  readonly #frequencies = new Map<string, number>();
  readonly #meanLength: number;

  constructor(sections: readonly DocsSection[]) {
    this.#sections = sections.map(indexed);
    for (const { counts } of this.#sections)
      for (const word of counts.keys()) this.#frequencies.set(word, (this.#frequencies.get(word) ?? 0) + 1);
    const total = this.#sections.reduce((sum, { length }) => sum + length, 0);
    this.#meanLength = total / Math.max(1, this.#sections.length);
  }

  /** The best sections, at most eight, with their texts cut to 2,000 characters. */
  search(query: string): readonly DocsSection[] {
    const words = [...new Set(wordsOf(query))];
    return this.#sections
      .map((indexed) => ({ section: indexed.section, score: this.#scoreOf(indexed, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MAX_RESULTS)
      .map(({ section }) => ({ ...section, text: section.text.slice(0, MAX_TEXT) }));
  }

  #scoreOf({ counts, length }: IndexedSection, words: readonly string[]): number {
    let score = 0;
    for (const word of words) {
      const count = counts.get(word) ?? 0;
      if (count === 0) continue;
      const frequency = this.#frequencies.get(word) ?? 0;
      const rarity = Math.log(1 + (this.#sections.length - frequency + 0.5) / (frequency + 0.5));
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#meanLength));
    }
    return score;
  }
}

function indexed(section: DocsSection): IndexedSection {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  add(section.text, 1);
  add(section.heading, HEADING_WEIGHT);
  return { section, counts, length: [...counts.values()].reduce((sum, count) => sum + count, 0) };
}

/** Lower case, with a plural `s` dropped: `modules` finds `module`. Names such as `HELM_LOCKED` stay whole. */
function wordsOf(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)].map(([word]) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  );
}

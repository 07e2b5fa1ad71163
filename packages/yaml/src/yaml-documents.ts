const DOCUMENT_MARK = /^---(?=\s|$)/m;

/** One document of a text. */
export interface YamlDocument {
  /** With an empty line for each line before it, so that messages about it name the line of the whole text. */
  readonly text: string;
  /** Its first line, from 1. */
  readonly line: number;
}

/** The documents of a text, in order; empty ones are among them. */
export function* yamlDocuments(text: string): Generator<YamlDocument> {
  let linesBefore = 0;
  for (const document of text.split(DOCUMENT_MARK)) {
    yield { text: '\n'.repeat(linesBefore) + document, line: linesBefore + 1 };
    linesBefore += document.split('\n').length - 1;
  }
}

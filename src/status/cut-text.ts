import { headlineOf } from '@addon-operator/strings/headline';

/** The beginning of a text, with `…` in place of what is cut. */
export function startOf(sentence: string, maxLength: number): string {
  return sentence.length <= maxLength ? sentence : `${sentence.slice(0, maxLength - 1)}…`;
}

/** The part of an error that lists show: the end of its headline, since programs print the reason for their failure last. */
export function endOf(error: string, maxLength: number): string {
  const headline = headlineOf(error);
  return headline.length <= maxLength ? headline : `…${headline.slice(1 - maxLength)}`;
}

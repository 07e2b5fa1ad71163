/** The directory in which the pages run their commands. */
const CHECKOUT = '/home/me/addon-operator';

/**
 * What a command prints, without what differs from run to run: times, durations, how often something was
 * tried, the directory, and how columns are filled up with spaces.
 */
export function comparable(output: string, directory: string): string {
  return output
    .replaceAll(directory, CHECKOUT)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b(?:\d+(?:\.\d+)?(?:ms|h|m|s))+\b|\b\d+ ms\b/g, '<duration>')
    .replaceAll(/\bfailures \d+/g, 'failures <count>')
    .replaceAll(/(\S) {2,}/g, '$1 ')
    .replaceAll(/ +$/gm, '')
    .trim();
}

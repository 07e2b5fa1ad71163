import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';

export interface PageCalls {
  /** Gives the memory of a mapping back; what is needed of it again is read from its file again. */
  returnPages(address: bigint, bytes: bigint): void;
}

/** The first line of a mapping in `/proc/self/smaps`: its addresses, permissions, offset, device, inode and file. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (....) [0-9a-f]+ \S+ [1-9]\d* +(\/.*)$/;
const FACT = /^(\w+): +(\d+) kB$/;
/** See proc(5). */
const RESET_PEAK = '5';
/** Any of them is memory that no file holds. */
const OWN = ['Private_Dirty', 'Shared_Dirty', 'Anonymous', 'Swap'];

/**
 * Gives back what of the program and its libraries was read into memory for the start, 35 MB of Node: what is used later
 * is a small part of it, and comes back from the page cache by itself. Mappings that were written to are left alone. The
 * peak of the process, which the kernel includes in that of each process it starts, is forgotten too.
 * Does nothing where the system does not provide the facts.
 */
export function returnCodePages(calls: PageCalls): void {
  for (const { start, end } of cleanMappings(readSmaps())) calls.returnPages(start, end - start);
  try {
    writeFileSync('/proc/self/clear_refs', RESET_PEAK);
  } catch {
    // The figures of hooks are larger then.
  }
}

/**
 * Gives back what of the program itself is in memory; what is used again comes back from the page cache by itself. Other
 * threads may be running: the program stays mapped as long as they do, unlike a library, whose addresses may be taken for
 * other memory before its pages are returned. Does nothing where the system does not provide the facts.
 */
export function returnProgramPages(calls: PageCalls): void {
  const program = programFile();
  for (const { start, end } of cleanMappings(readSmaps(), (file) => file === program))
    calls.returnPages(start, end - start);
}

function programFile(): string | undefined {
  try {
    return readlinkSync('/proc/self/exe');
  } catch {
    return undefined;
  }
}

interface Mapping {
  readonly start: bigint;
  readonly end: bigint;
}

/**
 * Mappings of files that are not writable and hold nothing but what is in the file.
 *
 * @param smaps see proc(5)
 * @param isWanted selects files by path; default: all
 */
export function cleanMappings(
  smaps: string,
  isWanted: (file: string) => boolean = () => true,
): readonly Mapping[] {
  const clean: Mapping[] = [];
  let mapping: Mapping | undefined;
  let clearFacts = 0;
  for (const line of smaps.split('\n')) {
    const fact = FACT.exec(line);
    if (fact === null) {
      mapping = fileMapping(line, isWanted) ?? (line.startsWith('VmFlags:') ? mapping : undefined);
      clearFacts = line.startsWith('VmFlags:') ? clearFacts : 0;
    } else if (mapping !== undefined && OWN.includes(fact[1] ?? '') && fact[2] === '0') {
      clearFacts += 1;
      if (clearFacts === OWN.length) clean.push(mapping);
    }
  }
  return clean;
}

function fileMapping(line: string, isWanted: (file: string) => boolean): Mapping | undefined {
  const [, start, end, permissions, file] = MAPPING.exec(line) ?? [];
  if (start === undefined || end === undefined || permissions?.[1] !== '-') return undefined;
  if (file === undefined || !isWanted(file)) return undefined;
  return { start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) };
}

function readSmaps(): string {
  try {
    return readFileSync('/proc/self/smaps', 'latin1');
  } catch {
    return '';
  }
}

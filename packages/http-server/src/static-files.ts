import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface StaticFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Its compression; undefined: as it is. */
  readonly encoding: 'br' | 'gzip' | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Compressed variants that may exist next to a file, the smallest first. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** Names that the build gives: no directory above, nothing hidden. */
const FILE_NAME = /^(?:assets\/)?[\w-][\w.-]*$/;

/** The built page. Files are read for each request: there are few, and a build may replace them. */
export class StaticFiles {
  readonly #directory: string;

  /** @param directory where `index.html` lies, absolute; it may be missing */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The page itself; undefined if it was not built. */
  async index(): Promise<string | undefined> {
    return (await this.#read('index.html'))?.toString('utf8');
  }

  /**
   * A file that the page loads; undefined if there is none.
   *
   * @param name relative to the directory
   * @param accepted header `Accept-Encoding`
   */
  async file(name: string, accepted: string): Promise<StaticFile | undefined> {
    const contentType = TYPES[extname(name)];
    if (contentType === undefined || !FILE_NAME.test(name)) return undefined;
    for (const { encoding, suffix } of ENCODINGS) {
      const bytes = accepts(accepted, encoding) ? await this.#read(`${name}${suffix}`) : undefined;
      if (bytes !== undefined) return { contentType, bytes, encoding };
    }
    const bytes = await this.#read(name);
    return bytes && { contentType, bytes, encoding: undefined };
  }

  async #read(name: string): Promise<Buffer | undefined> {
    return await readFile(join(this.#directory, name)).catch(() => undefined);
  }
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

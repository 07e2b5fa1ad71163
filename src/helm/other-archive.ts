import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { TAR_END, tarEntries, withContent } from '../lib/tar.ts';
import { asOtherRendering } from './other-rendering.ts';
import { unpackChart } from './packed-chart.ts';

/** A packed chart (`.tgz`) with the texts of {@link asOtherRendering}; the same one when nothing in it differs or it cannot be read. */
export function archiveAsOtherRendering(packed: Buffer): Buffer {
  try {
    const parts: Buffer[] = [];
    let isOther = false;
    for (const entry of tarEntries(unpackChart(packed))) {
      const text = entry.content.toString('latin1');
      const other = entry.isRegularFile ? asOtherRendering(text) : text;
      isOther ||= other !== text;
      parts.push(other === text ? entry.whole : withContent(entry, Buffer.from(other, 'latin1')));
    }
    return isOther ? gzipSync(Buffer.concat([...parts, TAR_END])) : packed;
  } catch {
    return packed;
  }
}

import { crc32, deflateRawSync } from 'node:zlib';

/** An uncompressed tar archive of regular files. */
export function tarArchive(files: Readonly<Record<string, Buffer | string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const body = Buffer.from(content);
    return [tarHeader(name, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function tarHeader(name: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(512);
  const cut = name.length > 100 ? name.lastIndexOf('/', 154) : -1;
  header.write(name.slice(cut + 1), 0, 100);
  header.write('0000644\0', 100);
  header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        0', 148);
  header.write('ustar\x0000', 257);
  if (cut > 0) header.write(name.slice(0, cut), 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** A zip archive; every second file is stored, the others are deflated. */
export function zipArchive(files: Readonly<Record<string, Buffer | string>>, comment = ''): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [index, [name, content]] of Object.entries(files).entries()) {
    const method = index % 2 === 0 ? 8 : 0;
    const raw = Buffer.from(content);
    const packed = method === 8 ? deflateRawSync(raw) : raw;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(Buffer.byteLength(name), 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(crc32(raw), 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(raw.length, 24);
    central.writeUInt16LE(Buffer.byteLength(name), 28);
    central.writeUInt32LE(at, 42);
    directory.push(central, Buffer.from(name));
    bodies.push(local, Buffer.from(name), packed);
    at += local.length + Buffer.byteLength(name) + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...bodies, ...directory, end, Buffer.from(comment)]);
}
